"""Programs that use everything the emitter knows of the language; their fields hold what came out.

`PROBES` are these and those of `number_probes`, with a type of weights or None.
"""

from __future__ import annotations

import math

import numpy as np

import gpop
from gpop import VertexField
from tests.gpu.number_probes import NUMBERS, Probe, out

SCALE = 3  # module constants
HALF = np.float32(0.5)
PRIMES = (2, 3, 5)
LIMIT = math.inf


class Flow(Probe):
    """Loops, early returns, chained comparisons, ternaries, tuples."""

    a, b = VertexField(np.int64), VertexField(np.int64)
    small = VertexField(np.int8)
    steps = VertexField(np.uint32)
    left, right = VertexField(np.int64), VertexField(np.int64)
    o0, o1, o2, o3, o4, o5, o6, o7, o8, o9 = out(np.int64, 10)

    def initFunc(self, node):
        a, b = self.a[node], self.b[node]
        if a < 0:
            return False
        if a < b:
            self.o0[node] = 1
            return True
        elif a == b or b == 3:
            self.o0[node] = 2
        else:
            self.o0[node] = 3
        return (a & 1) == 0 and not b > 5

    def gatherFunc(self, value, node):
        total = 0
        for i in range(self.small[node]):
            if i == 100:
                break
            if i % 3 == 1:
                continue
            total += i * value
        self.o1[node] = total
        for i in range(5, self.small[node], -2):
            for j in range(i):
                total += j - i
        self.o2[node] = total
        for i in range(np.uint64(3), np.uint64(10)):
            total += i
        self.o3[node] = total
        return total != 0

    def filterFunc(self, node):
        a, b = self.a[node], self.b[node]
        steps = 0
        n = a & 0xFFFF
        while n > 1 and steps < 40:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        self.o4[node] = steps
        self.o5[node] = -3 <= a < b <= 7
        a, b = b, a
        self.o6[node] = a if a > b else b if b > 0 else 17
        first, (second, third) = a, (b, a + b)
        self.o7[node] = first - second + third * PRIMES[1]
        x, y = 0, 1
        for _ in range(30):
            x, y = y, x + y
            if x > (a & 0xFFFF):
                break
        self.o8[node] = x
        self.left[node], self.right[node] = self.right[node], self.left[node]
        found = None
        if found is None:
            self.o9[node] = self.steps[node] if self.steps[node] is not None else 5
        while True:
            self.o9[node] += 1
            if self.o9[node] % 5 == 0:
                return True


def scaled(x, by=2, offset=SCALE):
    """A helper with defaults."""
    return x * by + offset


def collatz(n):
    """A helper with a loop and several returns."""
    count = 0
    while n > 1:
        if n & 1:
            n = 3 * n + 1
        else:
            n >>= 1
        count += 1
        if count > 20:
            return -1
    return count


def clamp(value, low, high):
    """A helper that works for any type."""
    return low if value < low else high if value > high else value


def closed_over(factor):
    """A program whose function closes over a number and a helper."""

    def times(x):
        return x * factor

    class Closure(Probe):
        a = VertexField(np.float32)
        o0 = VertexField(np.float64)

        def filterFunc(self, node):
            self.o0[node] = times(self.a[node]) + factor
            return True

    return Closure


Closure = closed_over(2.5)


class Helpers(Probe):
    """Helpers: defaults, named arguments, several types, helpers in helpers, nested functions, constants."""

    a, x = VertexField(np.int64), VertexField(np.float32)
    o0, o1, o2, o3, o4, o5 = out(np.int64, 6)
    p0, p1, p2 = out(np.float64, 3)

    def filterFunc(self, node):
        a, x = self.a[node], self.x[node]
        self.o0[node] = scaled(a)
        self.o1[node] = scaled(a, 5)
        self.o2[node] = scaled(a, offset=1)
        self.o3[node] = scaled(offset=a, x=4, by=a)
        self.o4[node] = collatz(a & 255)
        self.o5[node] = clamp(a, -5, SCALE)
        self.p0[node] = scaled(x, by=0.5)
        self.p1[node] = clamp(x, np.float32(-1), np.float32(1)) * math.pi
        self.p2[node] = LIMIT if x > 0 else math.e

        def twice(y):
            return y + y

        return twice(a) > scaled(scaled(a))


class Mathematics(Probe):
    """The functions of math and NumPy."""

    x, y = VertexField(np.float64), VertexField(np.float32)
    i = VertexField(np.int32)
    o0, o1, o2, o3, o4, o5, o6, o7, o8, o9 = out(np.float64, 10)
    p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 = out(np.float32, 10)
    q0, q1, q2, q3, q4, q5 = out(np.bool_, 6)

    def initFunc(self, node):
        x, i = self.x[node], self.i[node]
        positive = abs(x)
        self.o0[node] = math.sqrt(positive) + math.exp(-positive)
        self.o1[node] = math.log(positive) if positive > 0 else math.fabs(x)
        self.o2[node] = math.sin(x) + math.cos(x) * math.tan(x)
        self.o3[node] = math.atan2(x, 2.0) + math.hypot(x, 3.0)
        self.o4[node] = math.log1p(positive) + math.expm1(-positive)
        self.o5[node] = math.sqrt(i & 7) + math.copysign(2.0, x)
        self.o6[node] = math.tanh(x) + math.erf(x) + math.pow(positive, 0.25)
        self.o7[node] = math.radians(x) + math.degrees(x)
        self.o8[node] = math.log2(positive + 1) + math.log10(positive + 1)
        self.o9[node] = math.asin(1 / (1 + positive)) + math.sinh(1 / (1 + positive))
        self.q0[node] = math.isnan(x) or math.isinf(i)
        self.q1[node] = math.isinf(x)
        return math.isfinite(x)

    def filterFunc(self, node):
        y, i = self.y[node], self.i[node]
        self.p0[node] = np.sqrt(np.abs(y)) + np.exp(-np.abs(y))
        self.p1[node] = np.log(np.fabs(y) + np.float32(1))
        self.p2[node] = np.floor(y) + np.ceil(y) - np.trunc(y)
        self.p3[node] = np.rint(y) + np.sign(y)
        self.p4[node] = np.hypot(y, y) + np.arctan2(y, np.float32(2))
        self.p5[node] = np.sqrt(i & 15) + np.floor(i)
        self.p6[node] = np.deg2rad(y) + np.tanh(y)
        self.p7[node] = np.power(np.abs(y), HALF) + np.log1p(np.abs(y))
        self.p8[node] = np.copysign(y, i) + np.maximum(i, y)
        self.p9[node] = np.square(y) + np.exp2(np.minimum(y, np.float32(9)))
        self.q2[node] = np.isnan(y)
        self.q3[node] = np.isinf(y)
        self.q4[node] = np.isfinite(y) and np.isfinite(i)
        self.q5[node] = np.isnan(i)
        return True


class Answers(Probe):
    """all_active: functions need not answer, and may answer with a number or nothing."""

    a = VertexField(np.float64)
    out_count = VertexField(np.int64)
    all_active = True

    def initFunc(self, node):
        if self.a[node] > 0:
            return True

    def gatherFunc(self, value, node):
        self.out_count[node] += value

    def filterFunc(self, node):
        self.out_count[node] = self.out_degree[node] - self.iteration
        return self.a[node]


class ReservedNames(Probe):
    """Names that are words of C++, of the emitted text, or not ASCII."""

    int_, double, State = VertexField(np.int64), VertexField(np.int64), VertexField(np.int64)
    größe = VertexField(np.int64)
    register = gpop.Parameter(np.int64, 4)

    def filterFunc(self, node):
        float_, t0, switch = self.double[node], self.State[node], self.int_[node]
        default = float_ + t0  # a comment with a trailing backslash \
        self.größe[node] = default * switch + self.register
        cell = self.größe[node]
        return cell & 1


PROBES = NUMBERS | {
    cls.__name__: (cls, None) for cls in (Flow, Closure, Helpers, Mathematics, Answers, ReservedNames)
}

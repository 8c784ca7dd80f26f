"""Programs that use everything the emitter knows of arithmetic; their fields hold what came out.

`test_emit` runs each function on random and extreme input as emitted C++ and through Numba, and compares
all fields bit for bit. What the CPU itself leaves open is kept out: shifts by 64 bits or more, unsigned
integers of negative floats (x86 has two ways), comparing a signed sum or product that overflowed (Numba
tells LLVM that it does not, and only what is stored wraps around), powers for which Numba raises
(0.0 ** -2).
"""

from __future__ import annotations

import math

import numpy as np

import gpop
from gpop import VertexField

SCALE = 3  # module constants
HALF = np.float32(0.5)


class Probe(gpop.Program):
    """The functions that every program needs; not what is probed."""

    def scatterFunc(self, node):
        return node

    def gatherFunc(self, value, node):
        return True


def out(dtype, count):
    """Fields for results."""
    return [VertexField(dtype) for _ in range(count)]


class Integers(Probe):
    """Wrap-around, floor division and modulo of negative numbers and by zero, shifts, powers."""

    a, b = VertexField(np.int64), VertexField(np.int64)
    o0, o1, o2, o3, o4, o5, o6, o7, o8, o9 = out(np.int64, 10)
    p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 = out(np.int64, 10)

    def initFunc(self, node):
        a, b = self.a[node], self.b[node]
        self.o0[node] = a + b
        self.o1[node] = a - b
        self.o2[node] = a * b
        self.o3[node] = a // b
        self.o4[node] = a % b
        self.o5[node] = -a
        self.o6[node] = abs(a)
        self.o7[node] = min(a, b) ^ max(b, 7, a)
        self.o8[node] = (a & b) | ~a
        self.o9[node] = a << (b & 63)
        return a > b

    def filterFunc(self, node):
        a, b = self.a[node], self.b[node]
        self.p0[node] = a >> (b & 63)
        self.p1[node] = a ** (b & 15)
        self.p2[node] = a ** -(b & 3)
        self.p3[node] = 3**b if -50 < b < 50 else a**2
        quotient, rest = divmod(a, b)
        self.p4[node] = quotient
        self.p5[node] = rest
        self.p6[node] = np.sign(a) + np.absolute(b)
        self.p7[node] = np.minimum(a, b) - np.maximum(a, 3)
        total = a
        total += b
        total *= SCALE
        total -= 1
        total //= 7
        total %= 1000
        total <<= 3
        total >>= 1
        total |= 1
        total &= 0xFFFF
        total ^= 5
        total **= 2
        self.p8[node] = total
        self.p9[node] = np.square(a) + pow(b, 3)
        return a <= b


class UnsignedIntegers(Probe):
    """uint64 and uint32 wrap around, and never become negative."""

    a, b = VertexField(np.uint64), VertexField(np.uint64)
    c, d = VertexField(np.uint32), VertexField(np.uint32)
    o0, o1, o2, o3, o4, o5, o6, o7, o8, o9 = out(np.uint64, 10)
    p0, p1, p2, p3, p4, p5 = out(np.uint32, 6)
    q0, q1 = out(np.float64, 2)

    def initFunc(self, node):
        a, b = self.a[node], self.b[node]
        self.o0[node] = a - b
        self.o1[node] = a * b + a
        self.o2[node] = a // b
        self.o3[node] = a % b
        self.o4[node] = -a
        self.o5[node] = ~b
        self.o6[node] = a >> (b & np.uint64(63))
        self.o7[node] = a << 5
        self.o8[node] = abs(a) ** (b & np.uint64(7))
        self.o9[node] = np.sign(a) ^ max(a, b)
        return a > b

    def filterFunc(self, node):
        c, d = self.c[node], self.d[node]
        self.p0[node] = c - d
        self.p1[node] = c * d
        self.p2[node] = c // d + c % d
        self.p3[node] = -c
        self.p4[node] = ~c
        self.p5[node] = (c << 7) | (d >> 3)
        self.q0[node] = c - d
        self.q1[node] = (-c) / 4
        return c - d > 0


class MixedIntegers(Probe):
    """Signed with unsigned: uint64 and int64 meet in float64; smaller ones in int64."""

    a, b = VertexField(np.int64), VertexField(np.uint64)
    c, d = VertexField(np.int32), VertexField(np.uint32)
    o0, o1, o2, o3 = out(np.float64, 4)
    p0, p1, p2, p3 = out(np.int64, 4)
    q0, q1, q2, q3 = out(np.bool_, 4)

    def filterFunc(self, node):
        a, b, c, d = self.a[node], self.b[node], self.c[node], self.d[node]
        self.o0[node] = a + b
        self.o1[node] = a * b
        self.o2[node] = min(a, b)
        self.o3[node] = max(c, d) / 3
        self.p0[node] = c - d
        self.p1[node] = c * d
        self.p2[node] = d // c
        self.p3[node] = c % d + (d << 2)
        self.q0[node] = a < b
        self.q1[node] = a == b
        self.q2[node] = c >= d
        self.q3[node] = c != d
        return b > -1


class SmallFields(Probe):
    """Fields of 8 and 16 bits and of bool: computed wide, cut when they are stored."""

    a, b = VertexField(np.int8), VertexField(np.uint8)
    c, d = VertexField(np.int16), VertexField(np.uint16)
    e, f = VertexField(np.bool_), VertexField(np.bool_)
    o0, o1, o2 = out(np.int8, 3)
    p0, p1, p2 = out(np.uint8, 3)
    q0, q1 = out(np.int16, 2)
    r0, r1 = out(np.uint16, 2)
    s0, s1, s2, s3 = out(np.bool_, 4)
    t0, t1, t2 = out(np.int64, 3)

    def scatterFunc(self, node):
        return self.a[node]

    def gatherFunc(self, value, node):
        self.o0[node] += value
        self.o1[node] = min(value, self.a[node])
        return self.f[node] and value > 0

    def filterFunc(self, node):
        a, b, c, d, e, f = self.a[node], self.b[node], self.c[node], self.d[node], self.e[node], self.f[node]
        self.o2[node] = a * a
        self.p0[node] = b + b
        self.p1[node] = ~b
        self.p2[node] = -b
        self.q0[node] = c * c
        self.q1[node] = np.absolute(c)
        self.r0[node] = d * d
        self.r1[node] = ~d
        self.s0[node] = e and not f
        self.s1[node] = e ^ f
        self.s2[node] = (e | f) == (a > 3)
        self.s3[node] = a
        self.t0[node] = ~b + (-d)
        self.t1[node] = e + f + (-e) + abs(a)
        self.t2[node] = np.square(d) + min(b, d)
        return e is not f


class Floats(Probe):
    """float64 with NaN, infinities and both zeros; Python's floor division, modulo and order."""

    a, b = VertexField(np.float64), VertexField(np.float64)
    o0, o1, o2, o3, o4, o5, o6, o7, o8, o9 = out(np.float64, 10)
    p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 = out(np.float64, 10)
    q0, q1, q2, q3 = out(np.bool_, 4)

    def initFunc(self, node):
        a, b = self.a[node], self.b[node]
        self.o0[node] = a + b
        self.o1[node] = a * b - a
        self.o2[node] = a / b
        self.o3[node] = a // b
        self.o4[node] = a % b
        self.o5[node] = -a
        self.o6[node] = abs(a)
        self.o7[node] = min(a, b)
        self.o8[node] = max(a, 0.0, b)
        self.o9[node] = np.minimum(a, b)
        return a < b

    def filterFunc(self, node):
        a, b = self.a[node], self.b[node]
        self.p0[node] = np.maximum(a, b)
        self.p1[node] = np.fmin(a, b)
        self.p2[node] = np.fmax(a, b)
        self.p3[node] = np.sign(a)
        self.p4[node] = a**b
        self.p5[node] = a**3
        self.p6[node] = a**-2 if abs(a) > 0.1 else 0.0
        quotient, rest = divmod(a, b)
        self.p7[node] = quotient
        self.p8[node] = rest
        self.p9[node] = round(a, 2) + round(b, -1) + round(a, 25)
        self.q0[node] = a == a
        self.q1[node] = a != b
        self.q2[node] = a >= b
        self.q3[node] = bool(a)
        return a or b


class SingleFloats(Probe):
    """float32 stays float32 with float32, and becomes float64 with a literal of Python."""

    a, b = VertexField(np.float32), VertexField(np.float32)
    i = VertexField(np.int32)
    factor = gpop.Parameter(np.float32, 0.3)
    o0, o1, o2, o3, o4, o5, o6, o7, o8, o9 = out(np.float64, 10)
    p0, p1, p2, p3 = out(np.float32, 4)

    def scatterFunc(self, node):
        return self.a[node] * self.factor

    def applyWeight(self, value, weight):
        return value / weight

    def gatherFunc(self, value, node):
        self.p3[node] += value
        return value > self.b[node]

    def filterFunc(self, node):
        a, b, i = self.a[node], self.b[node], self.i[node]
        self.o0[node] = a * b
        self.o1[node] = a * 0.1
        self.o2[node] = a * HALF + self.factor
        self.o3[node] = a + i
        self.o4[node] = a // b + a % b
        self.o5[node] = a**2
        self.o6[node] = a**b
        self.o7[node] = np.float32(a) / np.float32(i)
        self.o8[node] = min(a, i)
        self.o9[node] = round(a, 1)
        self.p0[node] = a / 3
        self.p1[node] = np.maximum(a, b) + np.sign(b)
        self.p2[node] = i
        return round(a) > 3


class Casts(Probe):
    """Conversions; a signed integer of a float out of its range is the least one, as on x86."""

    x, y = VertexField(np.float64), VertexField(np.float32)
    i = VertexField(np.int64)
    o0, o1, o2, o3, o4, o5 = out(np.int64, 6)
    p0, p1 = out(np.int32, 2)
    q0 = VertexField(np.int16)
    r0 = VertexField(np.int8)
    s0, s1, s2, s3 = out(np.uint64, 4)
    t0, t1 = out(np.float32, 2)
    u0, u1 = out(np.bool_, 2)
    v0, v1 = out(np.float64, 2)

    def initFunc(self, node):
        x, y = self.x[node], self.y[node]
        self.o0[node] = int(x)
        self.o1[node] = np.int64(y)
        self.o2[node] = math.floor(x)
        self.o3[node] = math.ceil(y) + math.trunc(x)
        self.o4[node] = round(x)
        self.o5[node] = x
        self.p0[node] = np.int32(x)
        self.p1[node] = y
        self.q0[node] = np.int16(x)
        self.r0[node] = np.int8(y)
        return int(y) < 0

    def filterFunc(self, node):
        x, y, i = self.x[node], self.y[node], self.i[node]
        if 0 <= x < 1.8e19:
            self.s0[node] = np.uint64(x)
        if 0 <= y < 4e9:
            self.s1[node] = np.uint32(y) + np.uint16(7)
        self.s2[node] = np.uint8(i) + np.uint32(i)
        self.s3[node] = i
        self.t0[node] = x
        self.t1[node] = np.float32(i) + np.float32(np.uint64(i))
        self.u0[node] = bool(i) and x
        self.u1[node] = np.bool_(y)
        self.v0[node] = float(i) + float(np.float32(i))
        self.v1[node] = np.float64(y) * np.int8(i)
        return i


NUMBERS = {
    cls.__name__: (cls, weight)
    for cls, weight in [
        (Integers, None), (UnsignedIntegers, None), (MixedIntegers, None), (SmallFields, None),
        (Floats, None), (SingleFloats, np.int32), (Casts, None),
    ]
}  # fmt: skip

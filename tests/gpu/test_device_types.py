"""Messages of every type, folded in every way: small integers, bool, 64 bits, floats.

A type and a fold make an engine; small messages are folded in 4 bytes, small fields swapped in the word
around them, floats ordered as integers (gpop/gpu/kernels/fold.cuh).
"""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from tests.gpu.cases import Case, check, graph_of, in_plain_python

pytestmark = pytest.mark.gpu

TYPES = ("int8", "uint8", "bool", "int16", "int64", "uint64", "float32", "float64")


def least(dtype):
    """A minimum."""

    class Least(gpop.Program):
        value = gpop.VertexField(dtype)

        def scatterFunc(self, node):
            return self.value[node]

        def gatherFunc(self, value, node):
            if value < self.value[node]:
                self.value[node] = value
                return True
            return False

    return Least


def most(dtype):
    """A maximum, and how often it rose: two written fields, so ``combine`` is needed to push it."""

    class Most(gpop.Program):
        value = gpop.VertexField(dtype)
        rose = gpop.VertexField(np.bool_)

        def scatterFunc(self, node):
            return self.value[node]

        def gatherFunc(self, value, node):
            if value > self.value[node]:
                self.value[node] = value
                self.rose[node] = True
                return True
            return False

    return Most


def total(dtype):
    """A sum of what every vertex has to send, which is never 0."""

    class Total(gpop.Program):
        given = gpop.VertexField(dtype, 1)
        value = gpop.VertexField(dtype)

        def scatterFunc(self, node):
            return self.given[node]

        def gatherFunc(self, value, node):
            self.value[node] += value
            return True

    return Total


def union(dtype):
    """Sets of bits."""

    class Union(gpop.Program):
        value = gpop.VertexField(dtype)

        def scatterFunc(self, node):
            return self.value[node]

        def gatherFunc(self, value, node):
            before = self.value[node]
            self.value[node] = before | value
            return self.value[node] != before

    return Union


def _spread(program, rng):
    """Values over the whole range of the type, both signs."""
    dtype, n = program.value.dtype, program.graph.n
    if dtype.kind == "f":
        program.value = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n)
    elif dtype.kind == "b":
        program.value = rng.random(n) < 0.5
    else:
        info = np.iinfo(dtype)
        program.value = rng.integers(info.min, info.max, n, dtype, endpoint=True)


def _shares(program, rng):
    """Small whole numbers: their sums are exact, and the small types wrap around."""
    program.given = rng.integers(1, 100 if program.value.dtype.itemsize > 1 else 30, program.graph.n)


def _bits(program, rng):
    dtype, n = program.value.dtype, program.graph.n
    bits = (
        rng.integers(0, 8 * dtype.itemsize - (dtype.kind == "i"), n)
        if dtype.kind != "b"
        else np.zeros(n, int)
    )
    program.value = np.where(rng.random(n) < 0.2, np.left_shift(np.uint64(1), bits.astype(np.uint64)), 0)


FOLDS = {
    "min": (least, Case(None, _spread)),
    "max": (most, Case(None, _spread)),
    "add": (total, Case(None, _shares, (0, 2, 4, 6, 8), 4)),
    "or": (union, Case(None, _bits)),
}
PAIRS = [
    (kind, dtype)
    for kind in FOLDS
    for dtype in TYPES
    if (kind, dtype) != ("add", "bool") and not (kind == "or" and dtype.startswith("float"))
]


@pytest.mark.parametrize("declared", [True, False], ids=["combined", "swapped"])
@pytest.mark.parametrize("kind, dtype", PAIRS)
def test_type(kind, dtype, declared):
    make, case = FOLDS[kind]
    cls = make(np.dtype(dtype))
    case = case._replace(cls=type(cls.__name__, (cls,), {"combine": kind if declared else None}))
    for graph in (graph_of("small"), graph_of("big")):
        wanted = in_plain_python(case, graph)
        for mode in ("sc", "pc", "auto"):
            run = check(case, graph, wanted, mode, 32, "declared")
            assert run.iterations == wanted[1]["iterations"] > 1  # something was heard, and passed on


@pytest.mark.parametrize("dtype", ["uint8", "float64", "bool"])
def test_harmless_messages(dtype):
    """What inactive vertices send is folded too."""
    for combine in ("min", None):
        members = {"combine": combine, "inactive_message": gpop.HARMLESS}
        case = Case(type("Harmless", (least(np.dtype(dtype)),), members), _spread)
        wanted = in_plain_python(case, graph_of("big"))
        for mode in ("sc", "pc"):
            run = check(case, graph_of("big"), wanted, mode, 32, "declared")
            assert run.iterations == wanted[1]["iterations"] > 1


@pytest.mark.parametrize("dtype, marker", [("int8", -128), ("uint64", 2**64 - 1), ("float32", np.inf)])
def test_inactive_messages(dtype, marker):
    """A value that no active vertex sends, at the end of the type's range."""
    for combine in ("min", None):
        members = {"combine": combine, "inactive_message": marker}
        case = Case(type("Marked", (least(np.dtype(dtype)),), members), _below_the_marker)
        wanted = in_plain_python(case, graph_of("big"))
        for mode in ("sc", "pc"):
            run = check(case, graph_of("big"), wanted, mode, 32, "declared")
            assert run.iterations == wanted[1]["iterations"] > 1


def _below_the_marker(program, rng):
    program.value = rng.integers(1, 100, program.graph.n)

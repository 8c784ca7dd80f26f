"""Functions and helpers as they are compiled: each under a name of its own."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from tests.gpu.emulator import emulated

GRAPH = gpop.Graph.from_edges([0, 1], [1, 2])


def adding(number):
    def add(x):
        return x + number

    return add


add_two, add_five = adding(2), adding(5)
more = lambda x: x + 1  # noqa: E731
squared = lambda x: x * x  # noqa: E731


class OfOneName(gpop.Program):
    """Each function calls a helper of the name of another one's."""

    value = gpop.VertexField(np.int64)

    def scatterFunc(self, node):
        return add_two(more(np.int64(node)))

    def gatherFunc(self, value, node):
        self.value[node] += add_five(squared(value))
        return True


def at_least(x, least):
    return max(x, least)


def positive(x):
    return at_least(x, 1)


class Shared(OfOneName):
    """A helper of two functions that another helper calls, too."""

    def scatterFunc(self, node):
        return at_least(np.int64(node), 3)

    def gatherFunc(self, value, node):
        self.value[node] = positive(at_least(value, 2))
        return True


def found(cls, **options):
    program = cls(GRAPH)
    gpop.run(program, iterations=1, **options)
    return program.value.tolist()


@pytest.mark.parametrize(
    "cls, expected", [pytest.param(OfOneName, [0, 14, 21], marks=pytest.mark.slow), (Shared, [0, 3, 3])]
)
def test_helpers(cls, expected):
    assert found(cls, target="python") == found(cls) == expected
    with emulated():
        assert found(cls, target="gpu") == expected

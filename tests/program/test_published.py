"""Functions and helpers as they are compiled: each under a name of its own."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from numba import njit
from numba.extending import register_jitable

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


helpers, package = ModuleType("package.helpers"), ModuleType("package")
helpers.STEP = 1
package.helpers, helpers.package = helpers, package  # as where helpers.py imports its own package


@njit
def moved(x):
    return x + helpers.STEP


@register_jitable
def moved_twice(x):
    return x + 2 * helpers.STEP


@njit("uint32(uint32)")
def scrambled(x):
    return x * np.uint32(2654435761)


@njit(["int64(int64)", "float64(float64)"])
def of_two_types(x):
    return x


helpers.moved, helpers.moved_twice = moved, moved_twice


class OfAModule(OfOneName):
    """Its helpers are attributes of a module."""

    def scatterFunc(self, node):
        return package.helpers.moved(helpers.moved_twice(np.int64(node)))

    def gatherFunc(self, value, node):
        self.value[node] = value
        return True


class Typed(OfAModule):
    """Its helper was compiled for a type of its own, to which its answer is cut."""

    def scatterFunc(self, node):
        return np.int64(scrambled(node + 1))


class Undecided(OfAModule):
    def scatterFunc(self, node):
        return of_two_types(node)


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


@pytest.mark.slow  # test_content_key.py: a constant of a module is another key
def test_helpers_of_a_module_have_what_it_holds_now(monkeypatch):
    """Numba has compiled them with what it held before."""
    assert found(OfAModule) == [0, 3, 4]
    monkeypatch.setattr(helpers, "STEP", 10)
    assert found(OfAModule) == [0, 30, 31]


@pytest.mark.slow
def test_on_a_gpu_helpers_of_modules_and_with_signatures_are_the_same():
    for cls in (OfAModule, Typed):
        with emulated():
            assert found(cls, target="gpu") == found(cls, target="python")


def test_a_helper_keeps_its_signature():
    expected = [0, 2654435761, 2 * 2654435761 % 2**32]
    assert found(Typed) == found(Typed, target="python") == expected
    with pytest.raises(
        gpop.ProgramError, match="test_published.py:.*expected one signature of numbers, or none"
    ):
        found(Undecided)

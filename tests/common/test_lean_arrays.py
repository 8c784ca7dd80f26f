"""Elements of arrays in kernels: what NumPy says, of all layouts and kinds of index, in few instructions."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from gpop.common.deferred import compiler
from gpop.common.inlined import KERNEL
from tests.quick import quick

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "reversed": lambda array: array[::-1].copy()[::-1],
}


def compiled(function):
    """As kernels are, and not kept."""
    compiler()
    return numba.njit(**KERNEL)(function)


@compiled
def _one(array, i, value):
    before = array[i]
    array[i] = value
    return before


@compiled
def _two(array, i, j, value):
    before = array[i, j]
    array[i, j] = value
    return before


@compiled
def _three(array, i, j, k, value):
    before = array[i, j, k]
    array[i, j, k] = value
    return before


@numba.njit
def _rest(array, rows):
    """What is left to Numba."""
    array[1:] = 7
    array[0] = rows[1]
    array[1][0] = array[0, 1:][0] + rows[1:].sum()
    return array[-1, :].sum() + rows[rows > 1].sum()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", quick(["bool", "uint8", "int64", "float32"], "uint8", "float32"))
def test_elements(dtype, layout):
    whole = np.arange(60).reshape(3, 4, 5)
    for get, array in ((_one, whole[0, 0]), (_two, whole[0]), (_three, whole)):
        array = LAYOUTS[layout](array.astype(dtype))
        kinds = [np.int64, np.uint32, np.int8]
        for at in ((1,) * array.ndim, (-1,) * array.ndim, (2, 0, 1)[: array.ndim]):
            for kind in kinds if min(at) >= 0 else kinds[::2]:
                expected = array.copy()
                found = get(array, *map(kind, at), 1)
                assert found == expected[at]
                expected[at] = 1
                assert (array == expected).all()


def test_the_rest_is_numbas():
    array, rows = np.zeros((3, 2)), np.array([1.0, 2.0, 3.0])
    assert _rest(array, rows) == 14 + 5
    assert (array == [[2, 2], [7, 7], [7, 7]]).all()


def test_few_instructions(monkeypatch):
    """Of what LLVM is given: no array is put into memory to look at an element."""
    given, library = [], compiler().JITCodeLibrary
    take = library.add_ir_module
    monkeypatch.setattr(library, "add_ir_module", lambda *args: (given.append(str(args[1])), take(*args)))

    def summed(array, n):
        total = array[n] + array[n + 1] + array[n + 2] + array[-1]
        array[n] = total
        return total

    assert compiled(summed)(np.ones(4), np.uint64(0)) == 4
    body = next(text.partition("define")[2].partition("\n}")[0] for text in given if "summed" in text)
    assert body.count("getelementptr") == 5

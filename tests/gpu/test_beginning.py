"""How fields begin on a device is how they begin on the host; on the emulator."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.gpu.beginning import begin
from gpop.gpu.device import cupy
from gpop.program.recipes import Declared
from tests.gpu.emulator import emulated


@pytest.mark.parametrize(
    "dtype, value, other",
    [
        ("u4", 2**32 - 1, 3), ("i4", -1, 0), ("f8", 0.0, 1.5), ("f4", 0.25, np.nan), ("u2", 257, 7),
        ("?", True, False),
    ],
)  # fmt: skip
def test_values_are_those_of_the_recipe(dtype, value, other):
    with emulated():
        recipe = Declared(9, np.dtype(dtype), np.dtype(dtype).type(value))
        array = cupy().empty(11, recipe.dtype)[:9]
        beyond = array.base[9:].copy()
        for vertex in (np.uint32(2), 8):
            recipe.assign(vertex, other)
        begin(array, recipe)
        np.testing.assert_array_equal(np.asarray(array), recipe.on_host())
        assert np.array_equal(array.base[9:], beyond, equal_nan=dtype != "?" and dtype[0] == "f")


def test_the_driver_is_told_behind_what_the_stream_has_to_do(monkeypatch):
    with emulated():
        runtime, streams = cupy().cuda.runtime, []
        monkeypatch.setattr("gpop.gpu.beginning.current_stream", lambda: 7)
        for name in ("memsetAsync", "memcpyAsync"):
            done = getattr(runtime, name)
            monkeypatch.setattr(
                runtime, name, lambda *given, done=done: (streams.append(given[-1]), done(*given))
            )
        recipe = Declared(9, np.dtype(np.int32), np.int32(-1))
        recipe.assign(2, 5)
        begin(cupy().empty(9, recipe.dtype), recipe)
        assert streams == [7, 7]

"""How a field that nobody has looked at begins on a device: one value everywhere, but for a few vertices.

The driver is told so directly. CuPy takes a kernel for either: two fields took 270 of the 1,640 us of a call
of BFS on RMAT 24 (H200) when something else had used the host's caches since the last one. What a run begins
with is made ready for the next one while the host waits for the device (`Begun`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpop.gpu.device import cupy, current_device, current_stream
from gpop.gpu.left import giving_way
from gpop.program.values import Declared

MOST_SHARE = 64
"""Fields wait up to this part of the device's memory."""


def begin(array: Any, recipe: Declared) -> None:
    """Have the values of the recipe in a device array, behind what its stream has to do."""
    byte = byte_of(recipe)
    if byte is None:
        array.fill(recipe.value)
    else:
        cupy().cuda.runtime.memsetAsync(array.data.ptr, byte, array.nbytes, current_stream())
    set_others(array, recipe)


def byte_of(recipe: Declared) -> int | None:
    """The byte that all values consist of, if they do."""
    text = np.array(recipe.value, recipe.dtype).tobytes()
    return text[0] if text == len(text) * text[:1] else None


def set_others(array: Any, recipe: Declared) -> None:
    """Have the values of the few vertices, behind what the stream has to do."""
    runtime, stream, first = cupy().cuda.runtime, current_stream(), array.data.ptr
    size = recipe.dtype.itemsize
    for vertex, value in recipe.others.items():
        one = np.array(value, recipe.dtype)  # pageable: copied aside before the driver returns
        runtime.memcpyAsync(
            first + int(vertex) * size, one.ctypes.data, size, runtime.memcpyHostToDevice, stream
        )


class Begun:
    """Arrays of a device that the next run with such fields finds full of their first value.

    They are made on a stream of their own, behind the loop that is under way, and whoever takes one waits for
    that stream. They give way when room is wanted.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, int], list[Any]] = {}
        self._stream: Any = None
        giving_way.add(self)

    def take(self, size: int, byte: int) -> Any | None:
        """One of so many bytes, all of which are ``byte``."""
        waiting = self._waiting.get((size, byte))
        if not waiting:
            return None
        cupy().cuda.runtime.streamWaitEvent(current_stream(), self._filled.ptr)
        return waiting.pop()

    def make(self, kinds: list[tuple[int, int]], room: Callable[[int], Any]) -> None:
        """Have arrays of these kinds wait, as many as are named, behind what the current stream has to do."""
        missing = [kind for kind in set(kinds) for _ in range(kinds.count(kind) - self._number_of(kind))]
        if not missing or sum(size for size, _ in kinds) > current_device().memory // MOST_SHARE:
            return
        module = cupy()
        runtime = module.cuda.runtime
        if self._stream is None:
            self._stream = module.cuda.Stream(non_blocking=True)
            self._asked, self._filled = module.cuda.Event(), module.cuda.Event()
        try:
            arrays = [(kind, room(kind[0])) for kind in missing]
        except module.cuda.memory.OutOfMemoryError:  # the next run will say so, if it has to
            return
        self._asked.record()
        runtime.streamWaitEvent(self._stream.ptr, self._asked.ptr)
        for (size, byte), array in arrays:
            runtime.memsetAsync(array.data.ptr, byte, size, self._stream.ptr)
            self._waiting.setdefault((size, byte), []).append(array)
        self._filled.record(self._stream)

    def _number_of(self, kind: tuple[int, int]) -> int:
        return len(self._waiting.get(kind, ()))

    @property
    def nbytes(self) -> int:
        """Bytes that wait."""
        return sum(size * len(arrays) for (size, _), arrays in self._waiting.items())

    def give_way(self) -> None:
        """Let go of what waits; it may still be filled."""
        if self._waiting:
            self._stream.synchronize()
            self._waiting.clear()

"""What host and device tell each other in a run: ``struct Control``, and with it what is small.

One block of memory on each side, the host's pinned, so that one copy takes all of it there and another one
brings it back: the fields of a small graph, a small frontier, then Control, of which the first rows of the
trace are brought with the rest and later ones only where there are any.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpop.gpu.device import cupy, is_device_array, pinned
from gpop.gpu.structs import CONTROL
from gpop.program.program import Program

SMALL = 1 << 18
"""Most bytes of the fields that are copied with Control: above it copies of their own take no longer."""

FEW = 64
"""Most vertices of a frontier that is."""

FIRST_ROWS = 24
"""Rows of the trace that are always brought."""

ROOM = 8
"""Bytes behind a field: compare-and-swap of small fields takes the word around them."""

ALIGNED = 256
_TRACE_AT = CONTROL.fields["trace"][1]
_ROW_BYTES = CONTROL["trace"].base.itemsize * CONTROL["trace"].shape[1]


class Exchange:
    """The block of one kind of run: which fields it has follows from the types and places of a program's.

    Attributes
    ----------
    fields : dict of str to device array
    control : void
        ``struct Control`` on the host.
    device_control : device array
    """

    def __init__(self, program: Program, names: Iterable[str]) -> None:
        self.made_for = _small_fields(program, names)
        at, places = 0, {}
        for name, length, dtype in self.made_for:
            places[name] = at, length, dtype
            at = _aligned(at + length * dtype.itemsize + ROOM)
        self._control_at = _aligned(at + 4 * FEW)
        size = self._control_at + CONTROL.itemsize
        self._host, self._device = pinned(size, np.dtype(np.uint8)), cupy().zeros(size, np.uint8)
        self._host[:] = 0
        self._host_fields = {name: _part(self._host, *place) for name, place in places.items()}
        self.fields = {name: _part(self._device, *place) for name, place in places.items()}
        self._frontier = _part(self._host, at, FEW, np.dtype(np.uint32))
        self.control = _part(self._host, self._control_at, 1, CONTROL)[0]
        self.device_control = self._device[self._control_at :]
        self._device_frontier = _part(self._device, at, FEW, np.dtype(np.uint32))
        self._at = int(self._host.ctypes.data), int(self._device.data.ptr)

    def fits(self, program: Program, names: Iterable[str]) -> bool:
        """Whether it is for this program's fields, too."""
        return self.made_for == _small_fields(program, names)

    def take(self, name: str, field: np.ndarray) -> None:
        """A field of the program goes with the next `send`."""
        np.copyto(self._host_fields[name], field)

    def brought(self, name: str) -> np.ndarray:
        """What the last `receive` has brought of a field, until the next run."""
        return self._host_fields[name]

    def take_frontier(self, vertices: np.ndarray) -> Any:
        """These vertices go with the next `send`; where they will lie."""
        self._frontier[: len(vertices)] = vertices
        return self._device_frontier

    def clear(self) -> np.void:
        """Control of a run that begins: zeros, and of the trace what was there."""
        self._host[self._control_at : self._control_at + _TRACE_AT] = 0
        return self.control

    def send(self) -> None:
        """Fields, frontier and Control to the device, behind what its stream has to do; `receive` waits."""
        host, device = self._at
        runtime, end = cupy().cuda.runtime, self._control_at + _TRACE_AT
        runtime.memcpyAsync(device, host, end, runtime.memcpyHostToDevice, _stream())

    def receive(self) -> None:
        """Fields, Control and the trace to the host, when the device has done what it was told to."""
        end = self._control_at + _TRACE_AT + FIRST_ROWS * _ROW_BYTES
        self._bring(0, end)
        last = self._control_at + _TRACE_AT + int(self.control["rows"]) * _ROW_BYTES
        if last > end:
            self._bring(end, last)

    def _bring(self, first: int, last: int) -> None:
        host, device = self._at
        runtime, stream = cupy().cuda.runtime, _stream()
        kind = runtime.memcpyDeviceToHost
        runtime.memcpyAsync(host + first, device + first, last - first, kind, stream)
        runtime.streamSynchronize(stream)


def _stream() -> int:
    """The stream that kernels are launched on. An array's own copies take longer, and ``set`` waits."""
    return cupy().cuda.get_current_stream().ptr


def _small_fields(program: Program, names: Iterable[str]) -> list[tuple[str, int, np.dtype]]:
    """Name, length and type of the fields that lie on the host, if they are small."""
    fields = program._fields
    found = [(name, *fields.kind(name)) for name in names if not is_device_array(fields.made.get(name))]
    return found if sum(length * dtype.itemsize for _, length, dtype in found) <= SMALL else []


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _part(block: Any, at: int, length: int, dtype: np.dtype) -> Any:
    return block[at : at + length * dtype.itemsize].view(dtype)

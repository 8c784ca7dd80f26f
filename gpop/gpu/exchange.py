"""What host and device tell each other in a run: ``struct Control``, and with it what is small.

One block of memory on each side, the host's pinned, so that one copy takes all of it there and another one
brings it back: the fields of a small graph, a small frontier, then Control, of which the first rows of the
trace are brought with the rest and later ones only where there are any. Where one block of threads does a
run, it makes these copies itself (`gpop.gpu.mail`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpop.gpu.device import cupy, pinned
from gpop.gpu.mail import Mail
from gpop.gpu.structs import CONTROL, FETCHED_AT, Numbers, word_of
from gpop.program.program import Program
from gpop.program.values import Fields

SMALL = 1 << 18
"""Most bytes of the fields that are copied with Control: above it copies of their own take no longer."""

FEW = 64
"""Most vertices of a frontier that is."""

FIRST_ROWS = 24
"""Rows of the trace that are always brought."""

ROOM = 8
"""Bytes behind a field: compare-and-swap of small fields takes the word around them."""

ALIGNED = 256
HEAD_BYTES = CONTROL.fields["trace"][1]
"""Of Control before the trace."""

_ROWS, _FRONTIER, _LOADS, _SOURCES, _VERTEX = map(word_of, ("rows", "frontier", "loads", "sources", "vertex"))
_ROW_BYTES = CONTROL["trace"].base.itemsize * CONTROL["trace"].shape[1]


class Exchange:
    """The block of one kind of run: which fields it has follows from the types and places of a program's.

    Attributes
    ----------
    fields, host_fields : dict of str to array
        On the device and on the host: what goes with the next `send`, and what the last `receive` has
        brought, until the next run.
    addresses : dict of str to int
        Of those on the device.
    control : Numbers
        ``struct Control`` on the host, but for arrays in it.
    words : memoryview
        The same before the trace, as integers of 8 bytes.
    trace : ndarray
        The one of those that the host looks at.
    letter : memoryview
        The bytes that `send` copies.
    places, trace_at
        Where the fields and the trace are in `answer`: first byte, length and type; first byte, columns, and
        those of them that the host looks at.
    device_control : device array
    control_at : int
        Its address.
    mail : Mail or None
        What launches are given that copy, ``in_one`` block of threads, so that nobody else has to.
    """

    def __init__(self, program: Program, names: Iterable[str], in_one: bool) -> None:
        at, places = 0, {}
        for name, length, dtype in _small_fields(program, names):
            places[name] = at, length, dtype
            at = _aligned(at + length * dtype.itemsize + ROOM)
        self._control_at = _aligned(at + 4 * FEW)
        size = self._control_at + CONTROL.itemsize
        self._host, self._device = pinned(size, np.dtype(np.uint8)), cupy().zeros(size, np.uint8)
        self._host[:] = 0
        self.host_fields = {name: _part(self._host, *place) for name, place in places.items()}
        self.fields = {name: _part(self._device, *place) for name, place in places.items()}
        self.frontier = _part(self._host, at, FEW, np.dtype(np.uint32))
        self.addresses = {name: field.data.ptr for name, field in self.fields.items()}
        control = self._host[self._control_at :]
        self.control, self.trace = Numbers(control, CONTROL), control.view(CONTROL)[0]["trace"]
        self._head = memoryview(control)[:HEAD_BYTES]
        self.words = self._head.cast("q")
        self.device_control = self._device[self._control_at :]
        self._first_end = self._control_at + HEAD_BYTES + FIRST_ROWS * _ROW_BYTES
        self._at = int(self._host.ctypes.data), int(self._device.data.ptr)
        self.control_at, self._frontier_at = self._at[1] + self._control_at, self._at[1] + at
        self.letter = memoryview(self._host)[: self._control_at + HEAD_BYTES]
        self.places = places
        self.trace_at = self._control_at + HEAD_BYTES, CONTROL["trace"].shape[1], FETCHED_AT
        self._first, self._vertex = memoryview(self._host)[: self._first_end], memoryview(self.frontier)
        self.mail = Mail(*self._at, len(self.letter), self._first_end) if in_one else None

    def begin(self, head: bytes) -> None:
        """Control of a run that begins; of the trace what was there."""
        self._head[:] = head

    def load(self, sources: int | np.ndarray | None, n: int) -> Any:
        """Say that these vertices are active, or all ``n``, and where they lie on the device when the next
        copy has been made; returns what the device must have until they are loaded."""
        words = self.words
        if type(sources) is int:
            words[_FRONTIER] = words[_LOADS] = 1
            words[_SOURCES], words[_VERTEX], self._vertex[0] = self._frontier_at, sources, sources
            return None
        if sources is None:
            words[_FRONTIER], words[_LOADS] = n, -1
            return None
        words[_FRONTIER] = words[_LOADS] = size = len(sources)
        if size <= FEW:
            words[_SOURCES], self.frontier[:size] = self._frontier_at, sources
            if size == 1:
                words[_VERTEX] = sources[0]
            return None
        given = cupy().asarray(sources)
        words[_SOURCES] = given.data.ptr
        return given

    @property
    def loaded(self) -> tuple[int, int]:
        """Where they lie, and how many they are."""
        return self.words[_SOURCES], self.words[_LOADS]

    def go_on(self) -> None:
        """Control of a launch in the middle of a run: nobody has arrived at its barriers."""
        self.control["arrived_blocks"] = self.control["released"] = self.control["levels_arrived"] = 0

    def take(self, fields: Fields) -> None:
        """Small fields as a program has them now, to go with the next `send`."""
        recipes, unmade = fields.recipes, []
        for name, array in self.host_fields.items():  # what is made first: others may be made of it
            if name in recipes:
                unmade.append((name, array))
            else:
                np.copyto(array, fields[name])
        for name, array in unmade:
            recipe = recipes.get(name)
            if recipe is None:  # somebody has looked at it meanwhile
                np.copyto(array, fields[name])
            else:
                recipe.fill(array, self.host_fields)

    def give(self, fields: Fields, written: tuple[str, ...]) -> None:
        """Small fields that were ``written`` to where the program has them, as the last `receive` brought."""
        small, made = self.host_fields, fields.made
        for name in written:
            if name in small:
                if name in made:
                    np.copyto(made[name], small[name])
                else:
                    fields[name] = small[name].copy()

    def send(self, stream: int) -> None:
        """Fields, frontier and Control to the device, behind what a stream has to do; `receive` waits."""
        if self.mail is not None:
            return
        host, device = self._at
        runtime = cupy().cuda.runtime
        runtime.memcpyAsync(device, host, len(self.letter), runtime.memcpyHostToDevice, stream)

    def receive(self, stream: int) -> None:
        """Fields, Control and the trace to the host, when a stream has done what it was told to."""
        self.ask(stream)
        self.wait(stream)

    def ask(self, stream: int) -> None:
        """The same behind what a stream has to do; they are there after `wait`."""
        if self.mail is None:
            self._bring(0, self._first_end, stream)

    def wait(self, stream: int) -> None:
        """Wait for what was asked for, and bring the rows of the trace that it left behind."""
        cupy().cuda.runtime.streamSynchronize(stream)
        if self.words[_ROWS] > FIRST_ROWS:
            self.bring_rows(stream)

    def bring_rows(self, stream: int) -> None:
        """The rows of the trace that are not brought with the rest."""
        end = self._control_at + HEAD_BYTES + self.words[_ROWS] * _ROW_BYTES
        self._bring(self._first_end, end, stream)
        cupy().cuda.runtime.streamSynchronize(stream)

    def answer(self) -> bytearray:
        """A copy of all that the last `receive` has brought: fields at `places`, the trace at `trace_at`."""
        rows = self.words[_ROWS]
        if rows <= FIRST_ROWS:
            return bytearray(self._first)
        return bytearray(memoryview(self._host)[: self.trace_at[0] + rows * _ROW_BYTES])

    def _bring(self, first: int, last: int, stream: int) -> None:
        host, device = self._at
        runtime = cupy().cuda.runtime
        runtime.memcpyAsync(host + first, device + first, last - first, runtime.memcpyDeviceToHost, stream)


def on_device(program: Program, names: Iterable[str]) -> tuple[str, ...]:
    """Names of the fields that are arrays of a device already.

    They say which block a program needs, of those for programs of its class on its graph.
    """
    away = program._fields.away
    return tuple([name for name in names if name in away]) if away else ()


def _small_fields(program: Program, names: Iterable[str]) -> list[tuple[str, int, np.dtype]]:
    """Name, length and type of the fields that lie on the host, if they are small."""
    fields, away = program._fields, on_device(program, names)
    found = [(name, *fields.kind(name)) for name in names if name not in away]
    return found if sum(length * dtype.itemsize for _, length, dtype in found) <= SMALL else []


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _part(block: Any, at: int, length: int, dtype: np.dtype) -> Any:
    return block[at : at + length * dtype.itemsize].view(dtype)

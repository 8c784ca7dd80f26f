"""Large arrays of vertices in pages that an earlier one has left.

A call makes arrays of millions of vertices and the caller drops them. The C library hands memory of that size
back to the system, which clears every page when the next call touches it: a sixth of the time of a search on
a graph of 1 M vertices. So an array from `LEAST` bytes on is a view of a mapping, which waits for the next
array of its size as soon as nobody has the array or a view of it any more.

What waits is at most `MOST` bytes, the oldest go first, and all of it where memory is short.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref

import numpy as np

LEAST = 1 << 21
"""Bytes of an array; less stays with the process anyway."""

MOST = 1 << 28
"""Bytes that wait."""

HUGE = 1 << 22
"""From so many bytes on NumPy asks for large pages, too."""

_waiting: list[mmap.mmap] = []
"""Mappings that no array has, the oldest first."""

_held: dict[int, tuple[weakref.ref, mmap.mmap]] = {}
"""Mappings that arrays have, by the identity of a reference to each array's buffer."""

_gone: list[weakref.ref] = []
"""Buffers that are no more, noted by a function of C: an interrupt in one of Python's would be lost."""


def in_used_pages(length: int, dtype: np.dtype) -> tuple[np.ndarray, bool]:
    """An array of anything, and whether its pages were used before: else they are zero.

    Examples
    --------
    >>> first, used = in_used_pages(LEAST, np.dtype(np.uint8))
    >>> first[:], first = 7, None
    >>> again, used = in_used_pages(LEAST, np.dtype(np.uint8))
    >>> again[0], used
    (np.uint8(7), True)
    """
    size = length * dtype.itemsize
    _collect()
    room = _take(size)
    used = room is not None
    if not used:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
            room.madvise(mmap.MADV_HUGEPAGE)
    buffer = (ctypes.c_char * size).from_buffer(room)
    held = weakref.ref(buffer, _gone.append)
    _held[id(held)] = held, room
    return np.frombuffer(buffer, dtype), used


def _take(size: int) -> mmap.mmap | None:
    """The last mapping of this size that waits, which waits no longer."""
    for room in _waiting[::-1]:
        if len(room) == size:
            try:
                _waiting.remove(room)
            except ValueError:  # another thread has taken it meanwhile
                continue
            return room
    return None


def let_go() -> None:
    """Give the system all that waits."""
    _collect()
    _waiting.clear()


def _collect() -> None:
    """Have the mappings wait whose arrays are gone."""
    while _gone:
        try:
            _, room = _held.pop(id(_gone.pop()))
        except (IndexError, KeyError):  # another thread has it
            continue
        _waiting.append(room)
    while sum(map(len, _waiting)) > MOST:
        del _waiting[:1]

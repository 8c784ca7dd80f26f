"""Arrays of one value, of which it can be told later where somebody has written another.

A program's field begins with one value everywhere, and who makes the program sets a vertex or two. A run
wants to know no more than these: to send 64 MB to a device takes ten times as long as a search there, and to
look through them on the host does, too. So such an array is a private mapping of a file in memory that has
the value everywhere. A page becomes the process's own when it is first written, whoever does so and however,
and the system tells which pages these are (``PAGEMAP_SCAN``: Linux 6.7 or newer; elsewhere there are no such
arrays). Pages that nobody has written are the file's, which arrays of the same bytes share.

Pages that wait for the next array are written as they were: to map them and to unmap them interrupts every
core that the process has run on, and takes 100 us each.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

LEAST, MOST = 1 << 21, 1 << 30
"""Bytes of such an array: below it is copied as fast, and the file is as long as the longest."""

FEW = 64
"""Most pieces of written pages that are looked through, and most vertices that may have another value."""

LOOKED = 1 << 18
"""Most bytes of a piece."""

PATTERNS, WAITING = 3, 4
"""Files that are kept, those last used, and arrays that wait, the last of each kind."""

_CHUNK = 1 << 20

_SCAN, _FILE, _PRESENT, _SWAPPED = 0xC0606610, 4, 8, 16
"""Request of ioctl, and what it calls a page of the file, one in memory and one that is swapped out."""

_NUMBERS = 3
"""Of a piece: first, last, and what it is."""

_ARGUMENT = struct.Struct("12Q")
"""size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted, category_mask,
category_anyof_mask, return_mask."""

_files: dict[int, tuple[Descriptor, int]] = {}
"""By pattern: a file, and how many bytes it has; the last used is the last."""

_waiting: dict[tuple[int, int, str], list[np.ndarray]] = {}
"""Arrays that nobody has, as they have begun, by pattern, length and type; of no more kinds than there are
files, those last used."""


class Descriptor:
    """A number that the system knows a file by, which is closed when nobody has this."""

    def __init__(self, number: int) -> None:
        self.number = number

    def fileno(self) -> int:
        return self.number

    def __del__(self) -> None:
        os.close(self.number)


class PrivatePages(mmap.mmap):
    """Pages of an array that has begun with one value everywhere."""

    pattern: int
    """The bytes of the value, as often as they are 8, as an integer of 8 bytes."""
    page: bytes
    """A page that nobody has written."""
    begin: int
    """Address."""
    found: memoryview
    """Begin and end of written pieces, and what they are."""
    request: bytearray
    pieces: int
    """How many were written when somebody asked last."""

    def prepare(self, pattern: int) -> None:
        """Be ready to tell what was written of pages of this pattern."""
        found = np.empty(_NUMBERS * (FEW + 1), np.uint64)
        self.pattern, self.found = pattern, memoryview(found)
        self.page = pattern.to_bytes(8, "little", signed=True) * (mmap.PAGESIZE // 8)
        self.begin = np.frombuffer(self, np.uint8).__array_interface__["data"][0]
        self.request = bytearray(
            _ARGUMENT.pack(
                _ARGUMENT.size, 0, self.begin, self.begin + len(self), 0,
                found.__array_interface__["data"][0], FEW + 1, 0,
                _FILE, _FILE, _PRESENT | _SWAPPED, _PRESENT,
            )
        )  # fmt: skip

    def written(self) -> list[tuple[int, int]]:
        """First and last byte of pieces that are no longer the file's; of more than `FEW`, some."""
        count, found, begin = fcntl.ioctl(_pagemap(), _SCAN, self.request), self.found, self.begin
        return [(found[at] - begin, found[at + 1] - begin) for at in range(0, _NUMBERS * count, _NUMBERS)]


def in_private_pages(length: int, dtype: np.dtype, pattern: int) -> np.ndarray | None:
    """An array of one value; None where none can be had whose written pages are told.

    ``pattern``: the bytes of the value (`gpop.program.recipes.pattern_of`).

    Examples
    --------
    >>> in_private_pages(3, np.dtype(np.int32), -1) is None  # not worth it
    True
    """
    size = length * dtype.itemsize
    if not LEAST <= size <= MOST:
        return None
    waiting = _waiting.get((pattern, length, dtype.char))
    if waiting:
        with suppress(IndexError):  # another thread has taken it meanwhile
            return waiting.pop()
    if not _told():
        return None
    try:
        file = _file(pattern, size)
        room = PrivatePages(file.number, size, flags=mmap.MAP_PRIVATE)
    except OSError:  # no more files, or no memory for one
        return None
    room.prepare(pattern)
    return np.frombuffer(room, dtype)


def let_go() -> None:
    """Have no pages beyond those of arrays."""
    _files.clear()
    _waiting.clear()


def others(array: np.ndarray) -> dict[int, Any] | None:
    """By index, the values that differ from the one that an array has begun with; None where nobody knows, or
    where they may be many.

    Written pages are compared as bytes, by what Python has anyway: all that NumPy does for that is not in the
    caches when it is wanted once a call, and takes twice the time of the system's answer.
    """
    room = getattr(array.base, "obj", None)
    if type(room) is not PrivatePages:
        return None
    pieces, found = room.written(), dict[int, Any]()
    if len(pieces) > FEW:
        return None
    for first, last in pieces:
        if last - first > LOOKED:
            return None
        for at in range(first, last, mmap.PAGESIZE):
            page = room[at : at + mmap.PAGESIZE]  # the last may be shorter
            if page != room.page[: len(page)]:
                _add_others(found, array, at, page, room.page)
                if len(found) > FEW:
                    return None
    room.pieces = len(pieces)
    return found


def _add_others(found: dict[int, Any], array: np.ndarray, at: int, page: bytes, begun: bytes) -> None:
    """Those of a page that begins at this byte; of more than `FEW`, some."""
    size, kind, end = array.itemsize, array.dtype.kind, len(page)
    first = 0
    while page[first:] != begun[first:end] and len(found) <= FEW:
        last = end
        while last - first > size:  # one of them is in between
            middle = first + (last - first) // (2 * size) * size
            if page[first:middle] == begun[first:middle]:
                first = middle
            else:
                last = middle
        index = (at + first) // size
        # Python's numbers are what is looked at next; of floats NumPy keeps all bits.
        found[index] = array.item(index) if kind in "iu" else array[index]
        first = last


def wait(array: np.ndarray, differ: Iterable[int]) -> None:
    """Have pages wait for the next array, when `others` has told of this one, which nobody else may have."""
    room, size = array.base.obj, array.itemsize
    for index in differ:
        room[index * size : (index + 1) * size] = room.page[:size]
    if room.pieces > FEW // 2:  # most are those of earlier arrays
        room.madvise(mmap.MADV_DONTNEED)
    key = room.pattern, len(array), array.dtype.char
    waiting = _waiting.pop(key, [])
    waiting.append(array)
    del waiting[:-WAITING]
    _waiting[key] = waiting
    while len(_waiting) > PATTERNS:
        with suppress(RuntimeError, StopIteration):  # another thread has changed it meanwhile
            _waiting.pop(next(iter(_waiting)), None)


_pagemaps: tuple[int, Descriptor] | None = None


def _pagemap() -> Descriptor:
    """What is told of the pages of this process. A fork has pages of its own."""
    global _pagemaps
    process, known = os.getpid(), _pagemaps
    if known is None or known[0] != process:
        number = os.open(f"/proc/{process}/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        _pagemaps = known = process, Descriptor(number)
    return known[1]


@cache
def _told() -> bool:
    """Whether the system makes such files, and tells a written page from others."""
    page = mmap.PAGESIZE
    try:
        room = PrivatePages(_file(-1, 4 * page).number, 4 * page, flags=mmap.MAP_PRIVATE)
        room.prepare(-1)
        room[2 * page] = room[page]
        return room.written() == [(2 * page, 3 * page)]
    except (AttributeError, OSError):
        return False


def _file(pattern: int, size: int) -> Descriptor:
    """A file of at least so many bytes that repeats these 8."""
    file, length = _files.pop(pattern, None) or (Descriptor(os.memfd_create("gpop")), 0)
    if length < size:
        chunk = pattern.to_bytes(8, "little", signed=True) * (_CHUNK // 8)
        for at in range(length, size, _CHUNK):  # another thread may write the same there
            os.pwrite(file.number, chunk, at)
        length = -(-size // _CHUNK) * _CHUNK
    _files[pattern] = file, length
    while len(_files) > PATTERNS:
        with suppress(RuntimeError, StopIteration):
            _files.pop(next(iter(_files)), None)
    return file

"""Room on disk: while a `Spill` is open, arrays that grow with the edges lie in files, not in memory.

Between `begin` and the end of its ``with`` block, `gpop.common.memory.own_pages` and `own_copy` give arrays
that are mappings of files in one folder, `require_memory` refuses nothing, and `gpop.graph.build.build_csr`
sorts outside memory where the edges do not fit. Whoever is through with a part of such an array says so
(`settled`): its pages leave the process, the bytes stay in the file. So a reader of any format, or a
generator, makes a graph larger than memory without knowing. It is open in the thread that has opened it, and
in those that do parts of its work (`gpop.common.parallel.together`): others go on in memory.

``memory`` bounds what grows with the edges; data per vertex comes on top. Files have names that nobody else
reads, in the folder of the one who opened the spill, who also removes them.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import re
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

_PRIVATE = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0x4000)
"""Copy-on-write, and not counted as memory that may be needed: files are larger than that."""

SLAB = 1 << 28
"""Bytes of a file for arrays; what is never written takes no room on disk."""

_here = threading.local()
"""``room``: the spill that is open in a thread."""

_of_files: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
"""Mappings whose pages can leave the process: the file has the bytes."""


class Spill:
    """A folder for arrays, and how many bytes may be in memory at once."""

    def __init__(self, folder: Path, memory: int) -> None:
        self.folder, self.memory = folder, memory
        self._numbers = itertools.count()
        self._paths: dict[int, Path] = {}
        """Files by the address at which they are mapped."""
        self._lock = threading.Lock()
        self._slab, self._left, self._used = None, 0, 0

    def new_path(self) -> Path:
        """A name for a file that nobody has used."""
        return self.folder / f"spill-{next(self._numbers)}"

    def array(self, count: int, dtype: np.typing.DTypeLike) -> np.ndarray:
        """Array of zeros, on pages of its own in a file that several share: a mapping keeps its file open."""
        size = count * np.dtype(dtype).itemsize
        pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        with self._lock:
            if pages > self._left:
                # It has no name, and the mapping holds it open: a process that is killed leaves nothing.
                with tempfile.TemporaryFile(dir=self.folder) as file:
                    self._used, self._left = 0, max(pages, SLAB)
                    os.truncate(file.fileno(), self._left)
                    self._slab = of_file(mmap.mmap(file.fileno(), 0))
            array = np.frombuffer(self._slab, dtype, count, self._used)
            self._used += pages
            self._left -= pages
        return array

    def written(self, path: Path, dtype: np.typing.DTypeLike) -> np.ndarray:
        """What was written to one of its files, as an array."""
        array = mapped(path, dtype)
        if array.size:
            self._paths[array.ctypes.data] = path
        return array

    def path_of(self, array: np.ndarray) -> Path | None:
        """The file that holds this array and nothing else; None if there is none."""
        path = self._paths.get(array.ctypes.data) if array.size else None
        return path if path is not None and path.stat().st_size == array.nbytes else None

    def edges_at_once(self, edge_bytes: int) -> int:
        """How many edges fit in memory where one takes so many bytes."""
        return max(1 << 14, self.memory // edge_bytes)

    @contextmanager
    def begin(self) -> Iterator[Spill]:
        """Arrays lie in files from now on, until the block ends."""
        with _switched(self):
            yield self

    def lent(self, task: Callable[[int], object]) -> Callable[[int], object]:
        """The same task for any thread: arrays lie in files while it is done."""

        def do(number: int) -> object:
            with self.begin():
                return task(number)

        return do

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For a part that fits: arrays lie in memory again."""
        with _switched(None):
            yield


@contextmanager
def _switched(to: Spill | None) -> Iterator[None]:
    before, _here.room = active(), to
    try:
        yield
    finally:
        _here.room = before


def active() -> Spill | None:
    """The spill that is open here; None where there is none, as nearly always."""
    return getattr(_here, "room", None)


def mapped(path: str | os.PathLike, dtype: np.typing.DTypeLike) -> np.ndarray:
    """The values in a file, mapped: read when they are looked at, the process's own when written to."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            return np.empty(0, dtype)
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        data = mmap.mmap(file.fileno(), size, flags=_PRIVATE, prot=protection)
        return np.frombuffer(of_file(data), dtype)


def of_file(data: mmap.mmap) -> mmap.mmap:
    """The same, known as one of a file: nobody writes to it but through to the file."""
    _of_files.add(data)
    return data


def lies_in_file(array: np.ndarray) -> bool:
    """Whether an array is, or is a part of, one that was mapped from a file here."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    found = base.obj if isinstance(base, memoryview) else base
    return isinstance(found, mmap.mmap) and found in _of_files


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


POPULATE = 22
"""MADV_POPULATE_READ: have the pages read and mapped; returns when they are."""


def advise(array: np.ndarray, advice: int) -> bool:
    """``madvise`` for the pages that an array fills, or touches (`POPULATE`).

    False: refused, which is no harm.
    """
    page = mmap.PAGESIZE
    begin, end = array.ctypes.data, array.ctypes.data + array.nbytes
    if advice == POPULATE:
        begin, end = begin // page * page, -(-end // page) * page
    else:
        begin, end = -(-begin // page) * page, end // page * page
    return begin >= end or _libc.madvise(begin, end - begin, advice) == 0


def in_large_pieces(array: np.ndarray) -> bool:
    """Have a file read two megabytes at once where it is touched, whatever else is advised; False: it is not.

    Linux does so since 5.18 and keeps them together where its file system can (ext4 since 6.16): a tenth of
    the processor's time of pages one by one.
    """
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    since = release is not None and (int(release[1]), int(release[2])) >= (5, 18)
    return since and hasattr(mmap, "MADV_HUGEPAGE") and advise(array, mmap.MADV_HUGEPAGE)


def resident_bytes(array: np.ndarray) -> int:
    """Bytes of the pages of an array that are in memory, whoever has read them."""
    first = array.ctypes.data // mmap.PAGESIZE * mmap.PAGESIZE
    size = array.ctypes.data + array.nbytes - first
    if not array.nbytes:
        return 0
    found = np.empty(-(-size // mmap.PAGESIZE), np.uint8)
    if _libc.mincore(first, size, found.ctypes.data):
        return 0
    return int((found & 1).sum()) * mmap.PAGESIZE


def settled(array: np.ndarray) -> None:
    """Whoever has written or read this part of an array is through with it for now.

    While a spill is open, pages of files leave the process. Arrays of no file stay as they are.
    """
    if active() is not None and array.nbytes and lies_in_file(array):
        advise(array, mmap.MADV_DONTNEED)


def copied(array: np.ndarray, first: int, last: int) -> np.ndarray:
    """A part of an array in memory; where it came from a file, its pages leave the process again.

    >>> copied(np.arange(5), 1, 3).tolist()
    [1, 2]
    """
    part = array[first:last]
    copy = np.array(part)
    settled(part)
    return copy

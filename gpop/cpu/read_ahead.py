"""Reading ahead of a pull through blocks: all units, in the order in which the threads will take them.

The threads of a run divide the units into equal parts and walk each from its end (work.py). Others, of
Python, have the units that are next in each part read and mapped (``madvise``; where that would read page by
page ``posix_fadvise`` comes first), so many bytes ahead that the disk is never idle, and see by ``mode``,
which a unit's thread writes when it is through, what is behind.

Where not all fits, the units that come last in each part stay in memory for good and the others are dropped
as soon as they are through: a cache that keeps the latest would have dropped every unit by the time it is
wanted again. While values are prepared for the next iteration, its first units are on their way.

The pages are those of the system's cache, mapped by the run: a unit that is not there in time is read when it
is touched, so what the readers do decides how fast a run is, never what it computes.
"""

from __future__ import annotations

import itertools
import mmap
import os
import threading
import time
from typing import Any, NamedTuple

import numpy as np

from gpop.common.spill import POPULATE, advise, in_large_pieces
from gpop.layout.edge_block_kernels import FIRST
from gpop.layout.edge_blocks import Blocks
from gpop.layout.mapped_file import MappedArrays
from gpop.model.strategies import PULL

NOT_DONE = 255
"""In ``mode``, of a unit whose thread has not come to it in this iteration."""

AHEAD = 1 << 28
"""Most bytes on their way."""

READERS = 8
"""Threads that read. A request waits for its pages; with eight a run took 0.6 of its time with two."""

FOLIO = 1 << 21
"""Bytes that the system may keep together: it lets go of all or none of them."""

SHARES = 2
"""On their way, or at work on, is at most one of so many parts of the memory there is."""

POLL = 0.004
"""Seconds between two looks."""


class _Column(NamedTuple):
    """An array, its file, and whether that is read in large pieces by itself."""

    array: np.ndarray
    file: int
    in_pieces: bool


class ReadAhead:
    """Reads the units of a layout again and again; ``budget``: bytes of them that may be in memory."""

    def __init__(
        self, arrays: MappedArrays, layout: Blocks, mode: np.ndarray, threads: int, budget: int
    ) -> None:
        self._mode, self._k = mode, int(layout.k)
        given = {"refs": layout.refs, "targets": layout.targets, "block_weights": layout.weights}
        self._columns = [
            _Column(array, os.open(arrays.folder / name, os.O_RDONLY), in_large_pieces(array))
            for name, array in given.items()
            if array.size
        ]
        edges = np.append(layout.blocks[:, FIRST], layout.refs.size)
        self._edges = edges[layout.first_block].tolist()
        edge_bytes = sum(column.array.itemsize for column in self._columns)
        self._bytes = (np.diff(self._edges) * edge_bytes).tolist()
        self.total = sum(self._bytes)
        self._order = order_of(self._k, threads)
        self._ahead = max(max(self._bytes, default=0), min(AHEAD, budget // SHARES))
        borders = 2 * threads * len(self._columns) * FOLIO  # of units on their way, and at work on
        self._stays = self._kept(budget - self._ahead - 2 * max(self._bytes, default=0) - borders)
        self._known = [False] * self._k
        self.asked = self.iterations = 0
        self._turn, self._stopped = 0, False
        self._lock = threading.Lock()
        self._seen, self._at = 0, 0
        self._left = [True] * self._k  # may have to be dropped, by the place in the order
        self._mode[: self._k] = NOT_DONE
        self._threads = [
            threading.Thread(target=self._run, name="gpop-read-ahead", daemon=True) for _ in range(READERS)
        ]
        for thread in self._threads:
            thread.start()

    def _kept(self, room: int) -> list[bool]:
        """Which units stay in memory: the last ones in the order, as many as there is room for."""
        stays = [self.total <= room] * self._k
        for u in reversed(self._order):
            room -= self._bytes[u]
            if room < 0:
                break
            stays[u] = True
        return stays

    def restart(self) -> None:
        """An iteration is over: the same units again. Nobody is at work on them now."""
        self._mode[: self._k] = NOT_DONE
        self._turn += 1
        self.iterations += 1

    def stop(self) -> None:
        """Read no more; returns when the threads have ended."""
        self._stopped = True
        for thread in self._threads:
            thread.join()
        for column in self._columns:
            os.close(column.file)
        self._mode[: self._k] = PULL

    def told(self) -> dict[str, Any]:
        """What was read, for the trace."""
        kept = sum(size for size, stays in zip(self._bytes, self._stays, strict=True) if stays)
        return {"asked_bytes": self.asked, "layout_bytes": self.total, "kept_bytes": kept}

    def _run(self) -> None:
        while not self._stopped:
            with self._lock:
                next_unit, through = self._look()
            for u in through:
                for column, first, last in self._pieces(u):
                    if u + 1 < self._k and not self._stays[u + 1]:  # it went before, but for what both lie in
                        last = min(self._edges[u + 2], last + FOLIO // column.array.itemsize)
                    part = column.array[first:last]
                    advise(part, mmap.MADV_DONTNEED)
                    at, size = first * part.itemsize, part.nbytes
                    os.posix_fadvise(column.file, at, size, os.POSIX_FADV_DONTNEED)
            if next_unit is not None:
                pieces = self._pieces(next_unit)
                for column, first, last in pieces:
                    if column.in_pieces:
                        continue
                    at, size = first * column.array.itemsize, (last - first) * column.array.itemsize
                    os.posix_fadvise(column.file, at, size, os.POSIX_FADV_WILLNEED)
                for column, first, last in pieces:
                    advise(column.array[first:last], POPULATE)
            elif not through:
                time.sleep(POLL)

    def _look(self) -> tuple[int | None, list[int]]:
        """The unit to read next, if there is room for one, and those to let go of."""
        done = self._mode[: self._k] != NOT_DONE
        over = self._seen != self._turn
        passed = [over or done[u] for u in self._order[: self._at]]
        through = [place for place, is_over in enumerate(passed) if is_over and self._left[place]]
        for place in through:
            self._left[place] = False
        units = [self._order[place] for place in through]
        if over:
            self._seen, self._at, self._left = self._turn, 0, [True] * self._k
        waiting = sum(self._bytes[u] for u in self._order[: self._at] if not done[u])
        found = None
        while self._at < self._k and found is None:
            u = self._order[self._at]
            if waiting + self._bytes[u] > self._ahead:
                break
            self._at += 1
            if not (done[u] or (self._stays[u] and self._known[u])):
                found = u
            waiting += 0 if done[u] else self._bytes[u]
        if found is not None:
            self.asked += self._bytes[found]
            self._known[found] = True
        return found, [u for u in units if not self._stays[u]]

    def _pieces(self, u: int) -> list[tuple[_Column, int, int]]:
        """Of each column what a unit reads."""
        first, last = self._edges[u], self._edges[u + 1]
        return [(column, first, last) for column in self._columns]


def order_of(units: int, threads: int) -> list[int]:
    """Units in the order in which they are expected to be taken.

    >>> order_of(7, 2)
    [2, 6, 1, 5, 0, 4, 3]
    """
    borders = [units * share // threads for share in range(threads + 1)]
    parts = [range(last - 1, first - 1, -1) for first, last in itertools.pairwise(borders)]
    longest = max(map(len, parts), default=0)
    return [part[i] for i in range(longest) for part in parts if i < len(part)]

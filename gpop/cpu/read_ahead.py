"""Reading ahead of a pull through blocks: all units, in the order in which the threads will take them.

The threads of a run divide the units into equal parts and walk each from its end (work.py). One thread of
Python asks the system for the units that are next in each part (``posix_fadvise``), so many bytes ahead that
the disk is never idle, and sees by ``mode``, which a unit's thread writes when it is through, what is behind.

Where not all fits, the units that come last in each part stay in memory for good and the others are dropped
as soon as they are through: a cache that keeps the latest would have dropped every unit by the time it is
wanted again. While values are prepared for the next iteration, its first units are on their way.

The pages are those of the system's cache, mapped by the run: a unit that is not there in time is read when it
is touched, so what the thread does decides how fast a run is, never what it computes.
"""

from __future__ import annotations

import itertools
import mmap
import os
import threading
import time
from typing import Any, NamedTuple

import numpy as np

from gpop.common.spill import advise
from gpop.layout.edge_block_kernels import FIRST
from gpop.layout.edge_blocks import Blocks
from gpop.layout.mapped_file import MappedArrays
from gpop.model.strategies import PULL

NOT_DONE = 255
"""In ``mode``, of a unit whose thread has not come to it in this iteration."""

AHEAD = 1 << 28
"""Most bytes on their way."""

SHARES = 4
"""On their way and behind is at most one of so many parts of the memory there is."""

POLL = 0.001
"""Seconds between two looks."""


class _Column(NamedTuple):
    array: np.ndarray
    file: int


class ReadAhead:
    """Reads the units of a layout again and again; ``budget``: bytes of them that may be in memory."""

    def __init__(
        self, arrays: MappedArrays, layout: Blocks, mode: np.ndarray, threads: int, budget: int
    ) -> None:
        self._mode, self._k = mode, int(layout.k)
        given = {"refs": layout.refs, "targets": layout.targets, "block_weights": layout.weights}
        self._columns = [
            _Column(array, os.open(arrays.folder / name, os.O_RDONLY))
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
        self._stays = self._kept(budget - 2 * self._ahead)
        self._known = [False] * self._k
        self.asked = self.iterations = 0
        self._turn, self._stopped = 0, False
        self._mode[: self._k] = NOT_DONE
        self._thread = threading.Thread(target=self._run, name="gpop-read-ahead", daemon=True)
        self._thread.start()

    def _kept(self, room: int) -> list[bool]:
        """Which units stay in memory: the last ones in the order, as many as there is room for."""
        stays = [self.total <= room + 2 * self._ahead] * self._k
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
        """Read no more; returns when the thread has ended."""
        self._stopped = True
        self._thread.join()
        for column in self._columns:
            os.close(column.file)
        self._mode[: self._k] = PULL

    def told(self) -> dict[str, Any]:
        """What was read, for the trace."""
        kept = sum(size for size, stays in zip(self._bytes, self._stays, strict=True) if stays)
        return {"asked_bytes": self.asked, "layout_bytes": self.total, "kept_bytes": kept}

    def _run(self) -> None:
        turn, at, behind = 0, 0, 0
        left = [True] * self._k  # may have to be dropped, by the place in the order
        while not self._stopped:
            if turn != self._turn:
                self._drop(at, left)
                turn, at, behind = self._turn, 0, 0
                left = [True] * self._k
            done = self._mode[: self._k] != NOT_DONE
            while behind < at and done[self._order[behind]]:
                behind += 1
            waiting = sum(self._bytes[u] for u in self._order[behind:at] if not done[u])
            while at < self._k and waiting + self._bytes[self._order[at]] <= self._ahead:
                u = self._order[at]
                waiting += 0 if done[u] else self._bytes[u]
                at += 1
                if not (done[u] or (self._stays[u] and self._known[u])):
                    self._ask(u)
            self._drop(at, left, done)
            time.sleep(POLL)

    def _ask(self, u: int) -> None:
        for column, begin, size in self._pieces(u):
            os.posix_fadvise(column.file, begin, size, os.POSIX_FADV_WILLNEED)
        self.asked += self._bytes[u]
        self._known[u] = True

    def _drop(self, at: int, left: list[bool], done: np.ndarray | None = None) -> None:
        """Let go of the units before ``at`` in the order that are through, if they do not stay."""
        for place in range(at):
            u = self._order[place]
            if left[place] and (done is None or done[u]):
                left[place] = False
                if not self._stays[u]:
                    for column, begin, size in self._pieces(u):
                        item = column.array.itemsize
                        advise(column.array[begin // item : (begin + size) // item], mmap.MADV_DONTNEED)
                        os.posix_fadvise(column.file, begin, size, os.POSIX_FADV_DONTNEED)

    def _pieces(self, u: int) -> list[tuple[_Column, int, int]]:
        """Column, first byte and number of bytes of what a unit reads."""
        first, last = self._edges[u], self._edges[u + 1]
        return [
            (column, first * column.array.itemsize, (last - first) * column.array.itemsize)
            for column in self._columns
        ]


def order_of(units: int, threads: int) -> list[int]:
    """Units in the order in which they are expected to be taken.

    >>> order_of(7, 2)
    [2, 6, 1, 5, 0, 4, 3]
    """
    borders = [units * share // threads for share in range(threads + 1)]
    parts = [range(last - 1, first - 1, -1) for first, last in itertools.pairwise(borders)]
    longest = max(map(len, parts), default=0)
    return [part[i] for i in range(longest) for part in parts if i < len(part)]

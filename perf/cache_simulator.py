"""Two levels of set-associative cache with LRU replacement: the model of cachegrind, for data only.

An access goes to L1, and to L2 if L1 misses; both then hold the line. A write is an access like any
other (write-allocate), nothing is prefetched, lines are never shared. With L2 given as cachegrind's last
level (``--LL``) both count the same misses for the same stream.

Encoding: one uint64 array, so that kernels can carry it along: a header (the names below), then the tags
of L1 and those of L2, set after set, the most recently used first. A tag is the line's number plus one;
0 is an empty way.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numba import njit

from gpop.common.errors import UsageError
from gpop.common.inlined import KERNEL
from gpop.layout.partition import l2_cache_bytes
from perf.hardware import caches

LINE_BITS, L1_MASK, L1_WAYS, L2_MASK, L2_WAYS, L2_FIRST, ACCESSES, L1_MISSES, L2_MISSES = range(9)
HEADER = 16
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


class Geometry(NamedTuple):
    """Size in bytes, ways and line size of a cache."""

    size: int
    ways: int
    line: int = 64

    def __str__(self) -> str:
        return f"{self.size},{self.ways},{self.line}"

    @property
    def sets(self) -> int:
        return self.size // (self.ways * self.line)


def parse_geometry(text: str, ways: int = 16, line: int = 64) -> Geometry:
    """``SIZE[,WAYS[,LINE]]``; the number of sets must be a power of two, as in cachegrind.

    >>> parse_geometry("256K"), parse_geometry("48K,12").sets
    (Geometry(size=262144, ways=16, line=64), 64)
    """
    found = re.fullmatch(r"(\d+)([KM]?)(?:,(\d+))?(?:,(\d+))?", text)
    if found:
        size = int(found[1]) * _UNITS[found[2]]
        geometry = Geometry(size, int(found[3] or ways), int(found[4] or line))
        if min(geometry) > 0 and _is_power(geometry.line) and _is_power(geometry.sets):
            if geometry.sets * geometry.ways * geometry.line == geometry.size:
                return geometry
    raise UsageError(
        f"cache {text}: expected SIZE[,WAYS[,LINE]] such as 1M,16,64 with 2^i sets and 2^j bytes a line"
    )


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def machine_caches() -> tuple[Geometry, Geometry]:
    """L1 data cache and L2 of this machine; 32 KiB and 8 ways, 16 ways where the system does not tell."""
    found = {c["level"]: c for c in caches() if c["kind"] in ("data", "unified") and c["level"] in (1, 2)}
    geometries = []
    for level, default in ((1, Geometry(32 << 10, 8)), (2, Geometry(l2_cache_bytes(), 16))):
        cache = found.get(level)
        known = cache and cache["ways"] and cache["line"]
        geometry = Geometry(cache["bytes"], cache["ways"], cache["line"]) if known else default
        geometries.append(geometry if _is_power(geometry.sets) else default)
    return geometries[0], geometries[1]


def make_cache(l1: Geometry, l2: Geometry) -> np.ndarray:
    """An empty cache.

    Examples
    --------
    >>> cache = make_cache(Geometry(128, 1), Geometry(256, 2))
    >>> for address in (0, 8, 128, 0):      # two lines that share a set of L1 and fit L2 together
    ...     access(cache, np.uint64(address))
    >>> cache[[ACCESSES, L1_MISSES, L2_MISSES]].tolist()
    [4, 3, 2]
    """
    if l1.line != l2.line:
        raise UsageError(f"L1 has lines of {l1.line} bytes and L2 of {l2.line}: expected the same")
    cache = np.zeros(HEADER + l1.sets * l1.ways + l2.sets * l2.ways, np.uint64)
    cache[LINE_BITS] = l1.line.bit_length() - 1
    cache[L1_MASK], cache[L1_WAYS] = l1.sets - 1, l1.ways
    cache[L2_MASK], cache[L2_WAYS] = l2.sets - 1, l2.ways
    cache[L2_FIRST] = HEADER + l1.sets * l1.ways
    return cache


@njit(**KERNEL)
def _look_up(cache, first, ways, tag):
    """Make ``tag`` the most recent of its set; whether it was there."""
    if cache[first] == tag:
        return True
    carried = cache[first]
    cache[first] = tag
    for way in range(first + np.uint64(1), first + ways):
        here = cache[way]
        cache[way] = carried
        if here == tag:
            return True
        carried = here
    return False


@njit(**KERNEL)
def access(cache, address):
    """One access to the line of ``address`` (elements are aligned, so they lie in one line)."""
    line = address >> cache[LINE_BITS]
    tag = line + np.uint64(1)
    cache[ACCESSES] += np.uint64(1)
    ways = cache[L1_WAYS]
    if _look_up(cache, np.uint64(HEADER) + (line & cache[L1_MASK]) * ways, ways, tag):
        return
    cache[L1_MISSES] += np.uint64(1)
    ways = cache[L2_WAYS]
    if not _look_up(cache, cache[L2_FIRST] + (line & cache[L2_MASK]) * ways, ways, tag):
        cache[L2_MISSES] += np.uint64(1)

"""The cache simulator against known streams and a Python reference; traced arrays against their kernels."""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest

from gpop.common.errors import UsageError
from perf.cache_simulator import (
    ACCESSES,
    L1_MISSES,
    L2_MISSES,
    Geometry,
    access,
    machine_caches,
    make_cache,
    parse_geometry,
)
from perf.traced import Addresses, with_tracing

TINY = Geometry(128, 1)  # two lines, direct-mapped


def play(addresses, l1, l2):
    cache = make_cache(l1, l2)
    for address in addresses:
        access(cache, np.uint64(address))
    return cache[[ACCESSES, L1_MISSES, L2_MISSES]].tolist()


class Reference:
    """One level: an ordered dictionary per set."""

    def __init__(self, geometry):
        self.geometry, self.misses = geometry, 0
        self.sets = [OrderedDict() for _ in range(geometry.sets)]

    def look_up(self, address):
        line = address // self.geometry.line
        lines = self.sets[line % self.geometry.sets]
        hit = line in lines
        lines[line] = None
        lines.move_to_end(line)
        if len(lines) > self.geometry.ways:
            lines.popitem(last=False)
        self.misses += not hit
        return hit


@pytest.mark.parametrize(
    "l1, l2",
    [
        (Geometry(512, 2), Geometry(2048, 4)),
        (Geometry(256, 4), Geometry(1024, 16)),
        (Geometry(384, 3, 32), Geometry(1536, 3, 32)),
        (TINY, TINY),
    ],
)
def test_same_misses_as_the_reference(l1, l2):
    random = np.random.default_rng(5)
    far, near = random.integers(0, 1 << 14, 4000), random.integers(0, 1 << 9, 4000)
    stream = np.where(random.random(4000) < 0.5, far, near).tolist()
    first, second = Reference(l1), Reference(l2)
    for address in stream:
        if not first.look_up(address):
            second.look_up(address)
    assert play(stream, l1, l2) == [4000, first.misses, second.misses]
    assert 0 < second.misses <= first.misses < 4000


def test_a_contiguous_stream_misses_once_a_line():
    assert play(range(0, 64 * 100, 4), TINY, Geometry(4096, 4)) == [1600, 100, 100]


def test_what_fits_is_read_once_and_what_does_not_is_always_read_again():
    l2 = Geometry(1024, 16)  # 16 lines, fully associative
    assert play([64 * i for i in range(16)] * 3, TINY, l2) == [48, 48, 16]
    assert play([64 * i for i in range(17)] * 3, TINY, l2) == [51, 51, 51]


def test_the_least_recently_used_line_goes():
    l2 = Geometry(128, 2)
    a, b, c = 0, 64, 128
    one_line = Geometry(64, 1)
    assert play([a, b, a, c, a], one_line, l2)[2] == 3  # c replaced b
    assert play([a, b, c, a], one_line, l2)[2] == 4  # c replaced a


def test_lines_of_one_set_compete():
    l2 = Geometry(1024, 1)
    assert play([0, 1024] * 5, TINY, l2)[2] == 10
    assert play([0, 1024] * 5, TINY, Geometry(2048, 2))[2] == 2


@pytest.mark.parametrize("text", ["", "x", "0", "1000", "48K,7", "1M,16,60", "1M,0", "64K,16,64,3", "1G"])
def test_bad_geometry(text):
    with pytest.raises(UsageError, match="expected SIZE"):
        parse_geometry(text)


def test_machine_caches_are_possible():
    for cache in machine_caches():
        assert parse_geometry(str(cache)) == cache


def test_levels_have_one_line_size():
    with pytest.raises(UsageError, match="lines of 64 bytes"):
        make_cache(TINY, Geometry(1024, 1, 32))


class Pair(NamedTuple):
    source: np.ndarray
    target: np.ndarray
    factor: np.float64


def scale(first, pair):
    for i in range(np.uint64(first), np.uint64(pair.source.size)):
        pair.target[i] += pair.factor * pair.source[i]
    return pair.source.itemsize + len(pair.source)


def test_traced_kernel_computes_the_same_and_reports_every_access():
    pair = Pair(np.arange(1024, dtype=np.float32), np.ones(1024, np.float32), np.float64(2))
    cache = make_cache(Geometry(1024, 2), Geometry(1 << 16, 4))
    call = with_tracing(scale, 1)
    assert call(cache, Addresses(), 0, pair) == 4 + 1024
    assert np.array_equal(pair.target, 1 + 2 * np.arange(1024))
    lines = 2 * 1024 * 4 // 64
    assert cache[[ACCESSES, L1_MISSES, L2_MISSES]].tolist() == [3 * 1024, lines, lines]


def test_an_array_has_one_place_whatever_its_name():
    places, array = Addresses(), np.zeros(10)
    assert places.of(array) == places.of(array[:5]) != places.of(np.zeros(10))

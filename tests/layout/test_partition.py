"""Partitions: the three rules of the banner, and that they tile the vertices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpop.common.errors import UsageError
from gpop.graph.graph import Graph
from gpop.layout.partition import SAMPLES, l2_cache_bytes, partition_bits, partition_count, share_inside

OFFSET_BYTES = 16
SMALL_OFFSETS = 1 << 20


def offset_bytes(n, bits):
    return OFFSET_BYTES * partition_count(n, bits) ** 2


@given(
    n=st.integers(1, 2**32 - 2) | st.integers(1, 5000),
    threads=st.integers(1, 512),
    cache=st.sampled_from([1 << 15, 1 << 18, 1 << 20, 3 << 19, 1 << 24]),
    vertex_bytes=st.sampled_from([1, 4, 5, 9, 16, 33]),
    edges=st.integers(0, 2**40) | st.integers(0, 2**22),
)
@example(n=2**32 - 2, threads=1, cache=1 << 21, vertex_bytes=4, edges=2**36)
@example(n=1 << 22, threads=2, cache=1 << 16, vertex_bytes=4, edges=0)
@example(n=3, threads=4, cache=1 << 20, vertex_bytes=4, edges=3)  # n < 4t
@example(n=1000, threads=4, cache=1 << 20, vertex_bytes=4, edges=3)  # not divisible
@example(n=1 << 27, threads=2, cache=1 << 20, vertex_bytes=4, edges=1 << 31)
@example(n=1 << 27, threads=2, cache=1 << 20, vertex_bytes=4, edges=1 << 27)
def test_rules(n, threads, cache, vertex_bytes, edges):
    bits = partition_bits(n, threads, edges=edges, vertex_bytes=vertex_bytes, cache_bytes=cache)
    q, k = 1 << bits, partition_count(n, bits)

    assert q * vertex_bytes <= cache  # rule 1
    assert k >= min(n, 4 * threads)  # rule 2; one vertex each is the most that can be done
    if bits > 15:  # rule 3 gives way only to offsets that would outweigh the ids
        assert offset_bytes(n, bits - 1) > max(2 * edges, SMALL_OFFSETS)

    # The largest such q: twice as much breaks a rule.
    assert (
        2 * q * vertex_bytes > cache
        or partition_count(n, bits + 1) < 4 * threads
        or (bits + 1 > 15 and offset_bytes(n, bits) <= max(2 * edges, SMALL_OFFSETS))
    )

    # Partitions tile 0 .. n-1 and none is empty.
    assert (k - 1) * q < n <= k * q


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 100, 1023, 1024, 1025])
@pytest.mark.parametrize("threads", [1, 2, 3, 16])
def test_every_vertex_has_one_partition(n, threads):
    bits = partition_bits(n, threads)
    owner = np.arange(n) >> bits
    sizes = np.bincount(owner, minlength=partition_count(n, bits))
    assert sizes.size == partition_count(n, bits)
    assert np.all(sizes[:-1] == 1 << bits)
    assert 1 <= sizes[-1] <= 1 << bits


def test_worked_examples():
    # 2**22 vertices of 4 bytes, 64 KiB: 2**14 fit; 256 partitions are enough for 64 threads, not for 65.
    assert partition_bits(1 << 22, 64, cache_bytes=1 << 16) == 14
    assert partition_bits(1 << 22, 65, cache_bytes=1 << 16) == 13
    # 1 MiB holds 2**18 of them, but ids of 15 bits are half as long.
    assert partition_bits(1 << 22, 1, edges=1 << 26, cache_bytes=1 << 20) == 15
    # 2**30 vertices in 2**15 partitions: the offsets need 16 GiB. 2**17 a partition: 1 GiB, 2 GiB of ids.
    assert partition_bits(1 << 30, 1, edges=1 << 30, cache_bytes=1 << 20) == 17
    assert partition_bits(0, 8) >= 0
    assert partition_count(0, 5) == 0


def test_more_vertex_data_makes_smaller_partitions():
    bits = [partition_bits(1 << 24, 1, vertex_bytes=b, cache_bytes=1 << 17) for b in (4, 8, 9, 16, 64)]
    assert bits == [15, 14, 13, 13, 11]


def test_the_cache_is_read_from_the_machine():
    assert 1 << 15 <= l2_cache_bytes() <= 1 << 30
    assert partition_bits(1 << 24, 1, vertex_bytes=1 << 8) == (l2_cache_bytes() >> 8).bit_length() - 1


@pytest.mark.parametrize("size", [1, 2, 64, 1 << 31])
def test_user_size_replaces_the_rules(size):
    assert 1 << partition_bits(100, 64, partition_size=size) == size


@pytest.mark.parametrize("size", [0, -1, -4, 3, 100, 1 << 32])
def test_user_size_must_be_a_power_of_two(size):
    with pytest.raises(UsageError, match=rf"^partition size {size}: expected a power of two from 1 to \d+$"):
        partition_bits(100, 1, partition_size=size)


@pytest.mark.parametrize("edges", [0, 1, 50, SAMPLES, SAMPLES + 1, 10 * SAMPLES])
def test_share_of_edges_inside_partitions(edges):
    rng = np.random.default_rng(6)
    tails = rng.integers(0, 1000, edges)
    heads = np.where(rng.random(edges) < 0.7, tails, rng.integers(0, 1000, edges))
    graph = Graph.from_edges(tails, heads, n=1000)
    for bits in (0, 4, 10):
        exact = np.mean(tails >> bits == heads >> bits) if edges else 1.0
        assert share_inside(graph, bits) == pytest.approx(exact, abs=1e-12 if edges <= SAMPLES else 0.02)
        assert share_inside(graph, bits) is share_inside(graph, bits)

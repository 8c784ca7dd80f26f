"""The layout, decoded independently: bins, message flags, PNG, id types."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpop.graph.graph import Graph
from gpop.layout.bins import Bins, build_bins
from gpop.layout.narrow_weights import narrow_weights
from tests.graphs import small_graphs

ARRAYS = (
    "slots", "sources", "id_offsets", "ids", "id_weights",
    "row_offsets", "row_bins", "column_offsets", "column_bins",
)  # fmt: skip


def tails_of(graph: Graph) -> np.ndarray:
    return np.repeat(np.arange(graph.n), np.diff(graph.indptr))


def decode(bins: Bins) -> tuple[list[tuple], int]:
    """Edges (source, destination, weight) in the bins, and the number of flags, read as gather does."""
    k, bits = int(bins.k), int(bins.bits)
    top = 8 * bins.ids.itemsize - 1
    edges, flags = [], 0
    for p in range(k):
        for d in range(k):
            slot = int(bins.slots[p * k + d]) - 1
            for j in range(bins.id_offsets[d * k + p], bins.id_offsets[d * k + p + 1]):
                id = int(bins.ids[j])
                slot += id >> top
                flags += id >> top
                source = (p << bits) + int(bins.sources[slot])
                weight = bins.id_weights[j].item() if bins.id_weights.size else None
                edges.append((source, (d << bits) + (id & ((1 << top) - 1)), weight))
            assert slot == bins.slots[p * k + d + 1] - 1  # each bin uses its slots, all of them
    return edges, flags


def edges_of(graph: Graph) -> list[tuple]:
    weights = [None] * graph.m if graph.weights is None else graph.weights.tolist()
    return list(zip(tails_of(graph).tolist(), graph.indices.tolist(), weights, strict=True))


def count_messages(graph: Graph, bits: int) -> int:
    """Sum of d_p(v) over maximal runs of out-edges that end in one partition."""
    total = 0
    for v in range(graph.n):
        owners = graph.indices[graph.indptr[v] : graph.indptr[v + 1]] >> bits
        total += np.count_nonzero(owners[1:] != owners[:-1]) + (owners.size > 0)
    return total


def check(graph: Graph, bits: int, threads: int = 1) -> Bins:
    bins = build_bins(graph, bits, threads)
    k = -(-graph.n >> bits)
    assert int(bins.k) == k
    assert bins.slots[0] == bins.id_offsets[0] == 0
    assert np.all(np.diff(bins.slots) >= 0)
    assert bins.id_offsets[-1] == graph.m

    edges, flags = decode(bins)
    key = str if graph.weights is not None else None
    assert sorted(edges, key=key) == sorted(edges_of(graph), key=key)
    assert flags == bins.messages == bins.sources.size == count_messages(graph, bits)

    # PNG: in bin (p, d) exactly the vertices of p with an edge into d, ascending; the lists of full bins.
    reaches = {(v >> bits, u >> bits, v) for v, u, _ in edges}
    png = []
    for p in range(k):
        for d in range(k):
            local = bins.sources[bins.slots[p * k + d] : bins.slots[p * k + d + 1]].astype(np.int64)
            assert np.all(np.diff(local) >= 0)
            png += [(p, d, (p << bits) + v) for v in local.tolist()]
    assert set(png) == reaches
    full = sorted({(p, d) for p, d, _ in reaches})
    rows = [(p, d) for p in range(k) for d in bins.row_bins[bins.row_offsets[p] : bins.row_offsets[p + 1]]]
    columns = [
        (p, d)
        for d in range(k)
        for p in bins.column_bins[bins.column_offsets[d] : bins.column_offsets[d + 1]]
    ]
    assert rows == full
    assert columns == sorted(full, key=lambda bin: (bin[1], bin[0]))
    return bins


@pytest.mark.parametrize(
    "name, bits",
    [
        (name, bits)
        for name, graph in small_graphs().items()
        for bits in (0, 1, 3, 5, 9)
        if graph.n >> bits < 150
    ],
)
def test_small_graphs(name, bits):
    graph = small_graphs()[name]
    bins = check(graph, bits)
    assert bool(bins.sorted)
    # Sorted adjacency: one message per source and destination partition.
    assert bins.messages == len({(v, u >> bits) for v, u, _ in edges_of(graph)})


@given(data=st.data(), n=st.integers(1, 40), bits=st.integers(0, 6), weighted=st.booleans())
def test_any_edges_in_any_order(data, n, bits, weighted):
    vertex = st.integers(0, n - 1)
    lists = data.draw(st.lists(st.lists(vertex, max_size=8), min_size=n, max_size=n))
    indptr = np.cumsum([0] + [len(each) for each in lists])
    indices = np.array([u for each in lists for u in each], np.uint32)
    weights = np.arange(1000, 1000 + indices.size, dtype=np.uint32) if weighted else None
    bins = check(Graph.from_csr(indptr, indices, weights), bits)
    owners = [[u >> bits for u in each] for each in lists]
    assert bool(bins.sorted) == all(each == sorted(each) for each in owners)


def test_unsorted_adjacency_sends_more_messages():
    graph = Graph.from_csr([0, 4, 4, 4, 4], [0, 2, 1, 3])
    bins = check(graph, 1)
    assert bins.messages == 4
    assert not bins.sorted
    assert check(Graph.from_csr([0, 4, 4, 4, 4], [0, 1, 2, 3]), 1).messages == 2


@pytest.mark.parametrize(
    "bits, ids, sources",
    [
        (14, np.uint16, np.uint16), (15, np.uint16, np.uint16), (16, np.uint32, np.uint16),
        (17, np.uint32, np.uint32), (20, np.uint32, np.uint32),
    ],
)  # fmt: skip
def test_types_of_ids(bits, ids, sources):
    """Ids take 16 bits as long as 15 are enough; the largest local ids are there."""
    q = 1 << bits
    rng = np.random.default_rng(bits)
    ends = np.array([0, 1, q - 1, q, q + 1, 2 * q - 1, 2 * q, 3 * q - 2])
    tails, heads = (np.concatenate([ends, rng.integers(0, 3 * q - 1, 200)]) for _ in range(2))
    graph = Graph.from_edges(
        tails, rng.permutation(heads), np.arange(tails.size, dtype=np.uint32), n=3 * q - 1
    )
    bins = build_bins(graph, bits, 2)
    assert (bins.ids.dtype, bins.sources.dtype) == (ids, sources)
    edges, flags = decode(bins)
    assert sorted(edges) == sorted(edges_of(graph))
    assert flags == bins.messages == len({(v, u >> bits) for v, u, _ in edges})


@pytest.mark.parametrize(
    "low, high, dtype, stored",
    [
        (0, 255, np.uint32, np.uint8), (1, 256, np.uint32, np.uint16), (0, 65535, np.int64, np.uint16),
        (5, 65536, np.uint32, np.uint32), (0, 2**32, np.int64, np.uint64), (-1, 100, np.int32, np.int32),
        (0, 9, np.float64, np.float64),
    ],
)  # fmt: skip
def test_weights_follow_their_edges_in_a_small_type(low, high, dtype, stored):
    weights = np.random.default_rng(3).integers(low, high, 100, endpoint=True).astype(dtype)
    weights[[0, 50]] = low, high
    bins = check(Graph.from_edges(*np.random.default_rng(4).integers(0, 30, (2, 100)), weights, n=30), 2)
    assert bins.id_weights.dtype == stored


@pytest.mark.parametrize("name", ["rmat weighted", "odd n", "star"])
def test_the_number_of_threads_does_not_matter(name):
    graph = small_graphs()[name]
    one, two, four = (build_bins(graph, 3, threads) for threads in (1, 2, 4))
    for array in ARRAYS:
        assert np.array_equal(getattr(one, array), getattr(two, array)), array
        assert np.array_equal(getattr(one, array), getattr(four, array)), array


def test_bytes_are_those_of_the_banner():
    graph = small_graphs()["rmat weighted"]
    bins = build_bins(graph, 4, 1)
    k, full = int(bins.k), bins.row_bins.size
    streams = graph.m * 2 + bins.messages * 2 + graph.m  # weights up to 255
    assert bins.nbytes == streams + 2 * 8 * (k * k + 1) + 2 * (8 * (k + 1) + 4 * full)


def test_narrow_weights_are_kept_with_the_graph():
    indptr, indices = np.array([0, 2, 3]), np.array([0, 1, 1], np.uint32)
    graph = Graph.from_csr(indptr, indices, np.array([7, 255, 1], np.uint32))
    narrow, seconds = narrow_weights(graph, np.dtype(np.uint8))
    assert (narrow.dtype, narrow.tolist()) == (np.uint8, [7, 255, 1])
    again, none = narrow_weights(graph, np.dtype(np.uint8))
    assert again is narrow and none == 0 < seconds
    assert narrow_weights(graph, np.dtype(np.uint32))[0] is graph.weights  # floats stay as they are, too

"""Building CSR: against lexsort and SciPy, for every policy, dtype and number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop
import gpop.graph.build
from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.graphs import same, small_graphs


def reference(n, src, dst, weights, duplicates):
    """Adjacency lists by plain Python."""
    lists = [[] for _ in range(n)]
    for i in sorted(range(len(src)), key=lambda i: (src[i], dst[i])):
        row = lists[src[i]]
        if duplicates != "keep" and row and row[-1][0] == dst[i]:
            if duplicates != "first":
                row[-1][1] = {"min": min, "max": max, "sum": lambda a, b: a + b}[duplicates](
                    row[-1][1], weights[i]
                )
        else:
            row.append([dst[i], weights[i]])
    return lists


@st.composite
def edge_lists(draw):
    n = draw(st.integers(1, 40))
    ids = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ids, ids, st.integers(0, 100)), max_size=120))
    return n, edges


@settings(deadline=None, max_examples=150)
@given(edge_lists(), st.sampled_from(list(gpop.graph.build.DUPLICATES)), st.booleans())
def test_every_policy_equals_plain_python(case, duplicates, weighted):
    n, edges = case
    src, dst, weights = (list(column) for column in zip(*edges, strict=True)) if edges else ([], [], [])
    graph = Graph.from_edges(
        src, dst, np.array(weights, np.uint32) if weighted else None, n=n, duplicates=duplicates
    )
    expected = reference(n, src, dst, weights, duplicates)
    for v, row in enumerate(expected):
        at = slice(graph.indptr[v], graph.indptr[v + 1])
        assert graph.indices[at].tolist() == [u for u, _ in row]
        if weighted:
            assert graph.weights[at].tolist() == [w for _, w in row]


def test_whole_numbers_of_a_list_are_not_rounded():
    """NumPy makes floats of 2**63 beside 1."""
    for whole in ([2**63 + 1, 1], [2**53 + 1, -1], [2**63, 1]):
        edges = {"source": [0, 1], "target": [1, 0], "weight": whole}
        assert gpop.read_edges(edges).weights.tolist() == whole
        found = Graph.from_edges([0, 1], [1, 0], whole).weights
        assert (found.dtype.kind in "iu", found.tolist()) == (True, whole)
    for mixed in ([2**53 + 1, 0.5], [2**63 + 1, -1]):
        with pytest.raises(UsageError, match=f"weights hold {mixed[0]}, expected whole numbers below"):
            Graph.from_edges([0, 1], [1, 0], mixed)
    assert Graph.from_edges([0, 1], [1, 0], [2**60, 0.5]).weights.tolist() == [2.0**60, 0.5]


@pytest.mark.parametrize("kind", ["i2", "u2", "i4", "u4", "i8", "u8"])
def test_ids_of_the_other_byte_order(kind):
    src, dst = np.array([0, 1, 2]), np.array([1, 2, 0])
    swapped = np.dtype(kind).newbyteorder("S")
    assert same(Graph.from_edges(src.astype(swapped), dst.astype(swapped)), Graph.from_edges(src, dst))
    offsets = np.arange(4).astype(swapped)
    assert same(Graph.from_csr(offsets, dst.astype(swapped)), Graph.from_edges(src, dst))


@pytest.fixture(scope="module")
def many():
    """Edges enough for several chunks, buckets and digits."""
    rng = np.random.default_rng(3)
    n, m = 300_007, 2_500_000
    src = np.minimum(rng.integers(0, n, m), rng.integers(0, n, m)).astype(np.uint32)
    return n, src, rng.integers(0, n, m).astype(np.uint32), rng.random(m)


def test_large_equals_lexsort(many):
    n, src, dst, weights = many
    graph = Graph.from_edges(src, dst, weights, n)
    order = np.lexsort((dst, src))
    assert np.array_equal(graph.indices, dst[order])
    assert np.array_equal(graph.weights, weights[order])
    assert np.array_equal(graph.out_degree, np.bincount(src, minlength=n))


def test_large_sum_equals_scipy(many):
    n, src, dst, _ = many
    graph = Graph.from_edges(src % 1000, dst % 1000, np.ones(len(src), np.uint8), n, "sum")
    matrix = sp.coo_array((np.ones(len(src), np.int64), (src % 1000, dst % 1000)), shape=(n, n)).tocsr()
    matrix.sort_indices()
    assert graph.weights.dtype == np.uint64  # 8 bits would overflow
    assert np.array_equal(graph.indices, matrix.indices)
    assert np.array_equal(graph.weights, matrix.data)
    assert np.array_equal(graph.indptr, matrix.indptr)


@pytest.mark.parametrize("threads", ["1", "2", "3", "8"])
def test_the_same_for_any_number_of_threads(monkeypatch, many, threads):
    n, src, dst, weights = many
    expected = Graph.from_edges(src, dst, weights, n, "first")
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    assert same(Graph.from_edges(src, dst, weights, n, "first"), expected)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_same_for_any_size_of_chunks_and_buckets(monkeypatch, size):
    expected = generate("rmat", scale=7, degree=8, weights=(1, 9))
    monkeypatch.setattr(gpop.graph.build, "_CHUNK", size)
    monkeypatch.setattr(gpop.graph.build, "_BUCKET_EDGES", size)
    monkeypatch.setattr(gpop.graph.build, "_DIGIT_BITS", 3)
    assert same(generate("rmat", scale=7, degree=8, weights=(1, 9)), expected)
    assert same(expected.reverse().reverse(), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_every_integer_type_of_ids(dtype):
    graph = Graph.from_edges(np.array([2, 0, 1], dtype), np.array([0, 1, 2], dtype))
    assert graph.indptr.tolist() == [0, 1, 2, 3]
    assert graph.indices.tolist() == [1, 2, 0]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.float32, np.float64])
def test_weights_keep_their_type(dtype):
    graph = Graph.from_edges([1, 0], [0, 1], np.array([3, 5], dtype))
    assert graph.weights.dtype == dtype
    assert graph.weights.tolist() == [5, 3]


def test_ids_near_the_largest():
    """Sources spread over a wide range still make few buckets."""
    graph = Graph.from_edges([30_000_000, 0], [0, 30_000_000])
    assert graph.n == 30_000_001
    assert graph.indices.tolist() == [30_000_000, 0]


@pytest.mark.parametrize("name", small_graphs())
def test_reverse_equals_scipy(name):
    graph = small_graphs()[name]
    backward = graph.reverse()
    assert graph.reverse() is backward
    expected = np.repeat(np.arange(graph.n), graph.out_degree)
    order = np.lexsort((expected, graph.indices))
    assert np.array_equal(backward.indices, expected[order])
    assert np.array_equal(backward.out_degree, np.bincount(graph.indices, minlength=graph.n))
    if graph.weights is not None:
        assert np.array_equal(backward.weights, graph.weights[order])


@pytest.mark.parametrize("name", small_graphs())
def test_symmetrize_is_the_union(name):
    graph = small_graphs()[name]
    both = graph.symmetrize()
    least = {}
    src = np.repeat(np.arange(graph.n), graph.out_degree).tolist()
    weights = [0] * graph.m if graph.weights is None else graph.weights.tolist()
    for u, v, w in zip(src, graph.indices.tolist(), weights, strict=True):
        for pair in ((u, v), (v, u)):
            least[pair] = min(w, least.get(pair, w))
    pairs = zip(np.repeat(np.arange(both.n), both.out_degree).tolist(), both.indices.tolist(), strict=True)
    assert list(pairs) == sorted(least)
    if graph.weights is not None:
        assert both.weights.tolist() == [least[pair] for pair in sorted(least)]


def test_unknown_policy():
    with pytest.raises(UsageError, match="'last' is unknown, expected one of keep, first, min, max, sum"):
        Graph.from_edges([0], [1], duplicates="last")


def test_memory_is_predicted(monkeypatch):
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 10_000_000)
    with pytest.raises(NotEnoughMemory, match=r"2097152 edges needs 17.3 MB, but only 10.0 MB is available"):
        generate("rmat", scale=16, degree=32)

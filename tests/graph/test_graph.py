"""Graph: constructors, conversions, names of vertices, and the messages of what is refused."""

from __future__ import annotations

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import gpop
import gpop.graph.graph
from gpop.common.errors import GpopError, NotEnoughMemory, UsageError
from gpop.graph.graph import Graph
from tests.graphs import same, small_graphs

INDPTR = np.array([0, 2, 2, 3])
INDICES = np.array([1, 2, 1], np.uint32)


def test_from_csr_shares_the_arrays():
    weights = np.array([1.5, 2, 3])
    graph = Graph.from_csr(INDPTR, INDICES, weights, name="g")
    assert (graph.n, graph.m) == (3, 3)
    assert np.shares_memory(graph.indptr, INDPTR)
    assert np.shares_memory(graph.indices, INDICES)
    assert np.shares_memory(graph.weights, weights)
    assert graph.out_degree.tolist() == [2, 0, 1]
    assert graph.out_degree.dtype == np.uint32
    assert graph.nbytes == 4 * 8 + 3 * 4 + 3 * 8
    assert repr(graph) == "Graph(g: 3 vertices, 3 edges, float64 weights)"
    assert [each.kind for each in graph.kept()] == ["out-degrees"]


@pytest.mark.parametrize(
    ("indptr", "indices", "weights", "message"),
    [
        ([1, 2, 3, 3], [1, 2, 1], None, "offset of vertex 0 is 1, expected 0"),
        ([0, 2, 1, 3], [1, 2, 1], None, r"offset of vertex 2 is 1, expected at least 2 \(that of vertex 1\)"),
        ([0, 2, 2, 2], [1, 2, 1], None, "last offset is 2, expected m = 3"),
        ([0, 2, 9, 3], [1, 2, 1], None, "offset of vertex 2 is 9, expected at most m = 3"),
        ([0, 2, 3, 1], [1, 2, 1], None, "last offset is 1, expected m = 3"),
        ([0, 2, 2, 3], [1, 2, 3], None, "edge 2 leads to vertex 3, expected an id from 0 and below n = 3"),
        ([0, 2, 2, 3], [1, -2, 1], None, "edge 1 leads to vertex -2"),
        ([0], [5], None, "last offset is 0, expected m = 1"),
        ([0, 2, 2, 3], [1, 2, 1], [1, 2], r"weights have shape \[2\], expected one for each of the 3 edges"),
        ([0, 2, 2, 3], [1, 2, 1], ["a", "b", "c"], "weights are <U1, expected integers or floating-point"),
        ([0, 2, 2, 3], [1, 2, 1], [True] * 3, "weights are bool"),
        ([0, 2, 2, 3], [1.0, 2, 1], None, "CSR arrays are int64 and float64, expected integers"),
        ([], [], None, "wrong shape"),
        ([[0, 1]], [0], None, "wrong shape"),
    ],
)
def test_inconsistent_csr(indptr, indices, weights, message):
    with pytest.raises(UsageError, match=message) as error:
        Graph.from_csr(indptr, indices, weights)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [1]), "src has 2 ids and dst has 1"),
        (([0, -1], [1, 1]), r"src\[1\] is -1, expected ids that are not negative"),
        (([0, 1], [1, 1.5]), "dst is float64"),
        (([0, 7], [1, 1], None, 4), r"vertex id 7 is outside the graph, expected ids in 0\.\.3"),
        (([0], [2**40]), "a graph of 1099511627777 vertices is not possible"),
        (([0], np.array([2**64 - 1], np.uint64)), r"dst\[0\] is 18446744073709551615"),
        (([0], [1], None, 2**32 - 1), r"expected 0\.\.4294967294"),
        (([], [], None, -1), "a graph of -1 vertices is not possible"),
        (([], [], None, "3"), "n='3': expected a number of vertices"),
        (([0], [1], [1j]), "weights are complex128"),
    ],
)
def test_impossible_edges(arguments, message):
    with pytest.raises(UsageError, match=message):
        Graph.from_edges(*arguments)


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.int64])
def test_a_number_of_vertices_may_be_of_any_integer_type(kind):
    graph = Graph.from_edges([0, 1], [1, 3], n=kind(7))
    assert (graph.n, type(graph.n)) == (7, int)


def test_a_graph_that_does_not_fit_is_refused_first(monkeypatch):
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 1 << 30)
    with pytest.raises(NotEnoughMemory, match="a graph of 4000000000 vertices needs 32.0 GB"):
        Graph.from_edges([0], [1], n=4_000_000_000)


def test_empty():
    graph = Graph.from_edges([], [])
    assert (graph.n, graph.m) == (0, 0)
    assert graph.reverse().n == graph.symmetrize().n == 0
    assert graph.is_symmetric()
    assert graph.to_scipy().shape == (0, 0)
    with pytest.raises(UsageError, match="it has no vertices"):
        graph.vertex_of(0)


@pytest.mark.parametrize("name", small_graphs())
def test_scipy_round_trip(name):
    graph = small_graphs()[name]
    matrix = graph.to_scipy()
    assert np.shares_memory(matrix.indices, graph.indices) or graph.m == 0
    assert same(Graph.from_scipy(matrix, weighted=graph.weights is not None), graph)


def test_scipy_dtypes_and_shapes():
    matrix = sp.coo_array(([1.5, 2.5], ([0, 1], [1, 0])), shape=(3, 3))
    assert Graph.from_scipy(matrix).weights.tolist() == [1.5, 2.5]
    assert Graph.from_scipy(matrix.astype(bool)).weights is None
    with pytest.raises(UsageError, match=r"shape \(2, 3\), expected a square one"):
        Graph.from_scipy(sp.csr_array((2, 3)))
    with pytest.raises(UsageError, match=r"got numpy\.ndarray"):
        Graph.from_scipy(np.eye(2))


@pytest.mark.parametrize("name", small_graphs())
def test_networkx_round_trip(name):
    graph = small_graphs()[name]
    assert same(Graph.from_networkx(graph.to_networkx()), graph)


def test_networkx_names_and_weights():
    ours = Graph.from_networkx(nx.Graph([("a", "b", {"weight": 2}), ("b", "c"), ("c", "c")]))
    assert ours.original_ids.tolist() == ["a", "b", "c"]
    assert ours.indices.tolist() == [1, 0, 2, 1, 2]
    assert ours.weights.tolist() == [2, 2, 1, 1, 1]
    assert ours.weights.dtype == np.uint32
    assert ours.vertex_of("c") == 2
    assert set(ours.to_networkx().edges) == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("c", "c")}
    assert Graph.from_networkx(nx.path_graph(3)).weights is None
    assert Graph.from_networkx(nx.grid_2d_graph(2, 2)).vertex_of((1, 0)) == 2
    numbers = Graph.from_networkx(nx.Graph([(np.int64(7), np.int32(5))])).original_ids
    assert (numbers.dtype, numbers.tolist()) == (np.int64, [7, 5])
    with pytest.raises(UsageError, match="expected a NetworkX graph, got type"):
        Graph.from_networkx(nx.Graph)
    lesmis = nx.les_miserables_graph()
    assert np.array_equal(
        Graph.from_networkx(lesmis).to_scipy().toarray(), nx.to_numpy_array(lesmis, weight="weight")
    )


@pytest.mark.parametrize("name", ["n", "m", "indptr", "indices", "weights"])
def test_edges_cannot_be_set(name):
    """What was made of the old ones would go on: distances were those of the weights before."""
    graph = Graph.from_edges([0, 1], [1, 2], [3, 4])
    before = gpop.sssp(graph, 0).distance.tolist()
    with pytest.raises(
        UsageError, match=rf"Graph\.{name} cannot be set: a graph does not change; make another"
    ):
        setattr(graph, name, getattr(graph, name))
    other = Graph.from_csr(graph.indptr, graph.indices, graph.weights * 2, original_ids=graph.original_ids)
    assert gpop.sssp(other, 0).distance.tolist() == [2 * distance for distance in before]
    for again in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert same(again, graph)


def test_vertices_may_be_renamed_at_any_time():
    graph = Graph.from_csr(INDPTR, INDICES, original_ids=["a", "b", "c"])
    assert graph.vertex_of("c") == 2 and gpop.bfs(graph, "a").path("c") == ["a", "c"]
    gpop.label_propagation(graph, reorder="degree")
    graph.original_ids = ["c", "b", "a"]
    assert graph.vertex_of("c") == 0 and gpop.bfs(graph, "c").path("a") == ["c", "a"]
    assert "reordered" not in [each.kind for each in graph.kept()]
    with pytest.raises(UsageError, match="original_ids has 2 entries, expected n = 3"):
        graph.original_ids = ["a", "b"]
    graph.original_ids = None
    assert gpop.bfs(graph, 0).path(2) == [0, 2]


def test_vertex_of():
    graph = Graph.from_csr(INDPTR, INDICES, original_ids=np.array([10, 20, 2**62]), name="g")
    assert graph.vertex_of(20) == graph.vertex_of(np.int64(20)) == 1
    assert graph.reverse().vertex_of(2**62) == graph.symmetrize().vertex_of(2**62) == 2
    with pytest.raises(UsageError, match=r"vertex 1 is not in graph g; its ids: 3 ids in 10\.\.46116"):
        graph.vertex_of(1)
    with pytest.raises(UsageError, match="vertex True is not in graph"):
        Graph.from_csr(INDPTR, INDICES, original_ids=[0, 1, 2]).vertex_of(True)
    plain = Graph.from_csr(INDPTR, INDICES)
    for outside in (3, -1, "a", None, 1.0, True):
        with pytest.raises(UsageError, match=r"not in graph \(unnamed\); its ids: 0\.\.2"):
            plain.vertex_of(outside)
    with pytest.raises(UsageError, match="original_ids has 2 entries, expected n = 3"):
        Graph.from_csr(INDPTR, INDICES, original_ids=np.array([1, 2]))
    with pytest.raises(UsageError, match="original_ids has 3 x 1 entries, expected n = 3"):
        Graph.from_csr(INDPTR, INDICES, original_ids=np.zeros((3, 1), int))
    for number in (5, np.int64(5), np.array(5)):
        with pytest.raises(UsageError, match=r"original_ids (array\()?5\)?: expected n = 3 ids or names"):
            plain.original_ids = number


@pytest.mark.parametrize(
    ("ids", "kind"), [(["a", "b", "c"], "U"), ((7, 8, 9), "i"), (["a", 8, (1, 2)], "O"), (range(3), "i")]
)
def test_names_may_come_as_a_list(ids, kind, tmp_path):
    """As in read_edges: they are never changed into text."""
    graph = Graph.from_csr(INDPTR, INDICES, original_ids=ids)
    assert graph.original_ids.dtype.kind == kind and graph.original_ids.tolist() == list(ids)
    assert graph.vertex_of(ids[1]) == 1
    assert {name for name, _ in gpop.pagerank(graph).top(3)} == {*ids}
    if kind != "O":
        graph.save(tmp_path / "g.bin")
        assert gpop.load(tmp_path / "g.bin").original_ids.tolist() == list(ids)


def test_errors_are_what_callers_expect():
    assert issubclass(UsageError, ValueError)
    assert issubclass(NotEnoughMemory, MemoryError)
    assert all(issubclass(e, GpopError) for e in (UsageError, NotEnoughMemory))
    assert gpop.graph.arguments.MOST_VERTICES == 2**32 - 2

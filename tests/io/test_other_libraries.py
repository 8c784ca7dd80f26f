"""Files by and for others: libraries read ours and we theirs, and those of publishers."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import gpop.io
from gpop.common.errors import GraphFileError, UsageError
from gpop.graph.graph import Graph
from tests.graphs import real_graph, same, small_graphs
from tests.io.test_formats import edges_by_id, needs


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_scipy_forms(tmp_path, form):
    graph = small_graphs()["rmat weighted"]
    simple = Graph.from_scipy(graph.to_scipy().tocsc().tocsr())
    scipy.sparse.save_npz(tmp_path / "g.npz", simple.to_scipy().asformat(form))
    read = gpop.io.load(tmp_path / "g.npz")
    assert (read.to_scipy() != simple.to_scipy()).nnz == 0


@pytest.mark.parametrize("form", ["csr", "coo", "csc", "bsr"])
def test_entries_that_are_false_are_no_edges(tmp_path, form):
    """A matrix may hold them: a block of a BSR matrix holds all of its entries."""
    entries = ([True, False, True], [0, 1, 1], [0, 2, 3])
    matrix = scipy.sparse.csr_array(entries, shape=(2, 2)).asformat(form)
    scipy.sparse.save_npz(tmp_path / "g.npz", matrix)
    for graph in (gpop.io.load(tmp_path / "g.npz"), Graph.from_scipy(matrix)):
        assert (graph.indptr.tolist(), graph.indices.tolist(), graph.weights) == ([0, 1, 2], [0, 1], None)
    assert matrix.nnz == (4 if form == "bsr" else 3)


def test_scipy_reads_ours(tmp_path):
    graph = small_graphs()["rmat weighted"]
    for name in ("g.mtx", "g.mtx.gz"):
        graph.save(tmp_path / name)
        assert (scipy.io.mmread(tmp_path / name).tocsr() != graph.to_scipy()).nnz == 0
    graph.save(tmp_path / "g.npz")
    assert (scipy.sparse.load_npz(tmp_path / "g.npz") != graph.to_scipy()).nnz == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # from the compiled modules of NetworKit
def test_networkit_reads_ours(tmp_path):
    networkit = pytest.importorskip("networkit")
    graph = small_graphs()["road"]
    graph.save(tmp_path / "g.graph")
    found = networkit.readGraph(str(tmp_path / "g.graph"), networkit.Format.METIS)
    edges = sorted((u, v, w) for a, b, w in found.iterEdgesWeights() for u, v in ((a, b), (b, a)))
    assert edges == sorted(edges_by_id(graph))
    networkit.writeGraph(found, str(tmp_path / "theirs.graph"), networkit.Format.METIS)
    assert same(gpop.io.load(tmp_path / "theirs.graph"), graph)


def test_igraph_reads_ours(tmp_path):
    igraph = pytest.importorskip("igraph")
    graph = small_graphs()["rmat weighted"]
    for name in ("g.graphml", "g.gml"):
        graph.save(tmp_path / name)
        found = igraph.Graph.Read(str(tmp_path / name))
        edges = sorted((*edge.tuple, edge["weight"]) for edge in found.es)
        assert edges == sorted(edges_by_id(graph))
        found.write(str(tmp_path / f"theirs_{name}"))
        theirs = gpop.io.load(tmp_path / f"theirs_{name}")
        assert (theirs.n, theirs.m) == (graph.n, graph.m)
        assert sorted(theirs.weights.tolist()) == sorted(graph.weights.tolist())


def test_networkx_reads_ours(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = small_graphs()["grid"]
    graph.save(tmp_path / "g.el")
    found = networkx.read_edgelist(tmp_path / "g.el", create_using=networkx.DiGraph, nodetype=int)
    assert sorted((u, v, None) for u, v in found.edges) == sorted(edges_by_id(graph))


@pytest.mark.parametrize(
    ("file", "text", "n", "m"),
    [
        ("karate.graph", "karate", 34, 156),
        ("jazz.graph", "jazz", 198, 5484),
        ("lesmis.graph", "lesmis", 77, 508),
        ("celegans_metabolic.graph", "celegans_metabolic", 453, 4050),
        ("wing.graph.xz", "wing", 62032, 243088),
        ("NY.gr.xz", "dimacs9-NY", 264346, 730100),
    ],
)
def test_files_of_publishers(file, text, n, m):
    graph = gpop.io.load(real_graph(f"formats/{file}"))
    assert (graph.n, graph.m) == (n, m)
    assert same(graph, gpop.io.load(real_graph(f"{text}.txt.xz")).symmetrize())


def test_konect_of_its_publisher():
    path = real_graph("formats/foodweb-baydry.konect")
    graph = gpop.io.load(path)
    table = np.loadtxt(path, comments="%")
    expected = Graph.from_edges(table[:, 0].astype(int) - 1, table[:, 1].astype(int) - 1, table[:, 2], 128)
    assert same(graph, expected)


@pytest.mark.parametrize("ending", [".gml", ".graphml"])
@pytest.mark.parametrize("name", small_graphs())
def test_igraph_reads_what_networkx_does(tmp_path, monkeypatch, name, ending):
    pytest.importorskip("igraph")
    needs(ending)
    graph = small_graphs()[name]
    path = tmp_path / f"g{ending}"
    graph.save(path)
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert same(gpop.io.load(path, weighted=graph.weights is not None), graph)
    named = Graph.from_edges([0, 1], [1, 0], [0.5, 2])
    named.original_ids = np.array(["bo", "cäsar"], object)
    with pytest.raises(UsageError, match="need the package networkx"):
        named.save(path)


def test_igraph_and_names(tmp_path, monkeypatch):
    igraph = pytest.importorskip("igraph")
    ring = igraph.Graph([(0, 1), (1, 2), (2, 2)])
    ring.es["weight"] = [0.5, 2, 3]
    ring.vs["label"] = ["a", "b", "c"]
    ring.write_gml(str(tmp_path / "g.gml"))
    monkeypatch.setitem(sys.modules, "networkx", None)
    read = gpop.io.load(tmp_path / "g.gml")
    assert edges_by_id(read) == [
        ("a", "b", 0.5), ("b", "a", 0.5), ("b", "c", 2.0), ("c", "b", 2.0), ("c", "c", 3.0)
    ]  # fmt: skip
    two = 'graph [ node [ id 0 label "\N{LATIN SMALL LETTER A WITH RING ABOVE}" ] node [ id 1 label "b" ] ]'
    for text in (
        two.encode("latin-1"),
        two.replace("b", "\0").encode(),
        two.encode().replace(b"b", "å".encode()),
    ):
        (tmp_path / "g.gml").write_bytes(text)
        with pytest.raises(GraphFileError, match=r"g\.gml: .* (not a GML file|expected text)"):
            gpop.io.load(tmp_path / "g.gml")

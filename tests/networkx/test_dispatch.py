"""What NetworkX gives to the backend and what it keeps: signatures, refusals, conversions, its own tests."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections import UserDict

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.networkx import backend
from gpop.networkx.functions import HOMES
from tests.networkx.test_backend import DIRECTED, GRAPHS, KINDS, OTHER, SOURCE, UNDIRECTED, algorithm, check
from tests.networkx_suite import environment, run


def test_signatures_are_those_of_networkx():
    """Names, order and defaults: NetworkX passes some arguments by place and some by name."""
    from inspect import signature

    for name in HOMES:
        theirs = signature(nx.utils.backends._registered_algorithms[name].orig_func).parameters
        mine = signature(getattr(backend, name)).parameters
        assert [(p.name, p.default) for p in mine.values()] == [(p.name, p.default) for p in theirs.values()]


@pytest.mark.parametrize("kind", KINDS)
def test_no_nodes_and_no_edges(kind):
    for graph in (KINDS[kind](), nx.empty_graph(3, KINDS[kind])):
        names = ["greedy_color", "all_pairs_dijkstra_path_length", "shortest_path"]
        names += [name for name, _ in (DIRECTED if graph.is_directed() else UNDIRECTED[:3])]
        for name in names:
            check(name, graph, {})


def test_views_of_graphs():
    for kind in KINDS:
        whole = GRAPHS[kind]
        view = whole.subgraph([f"v{i}" for i in range(25)])
        check("greedy_color", view, {})
        check("single_source_dijkstra", view, {"source": SOURCE, "weight": "length"})
        if whole.is_directed():
            check("bfs_tree", whole.reverse(copy=False), {"source": SOURCE, "reverse": True})


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("bfs_edges", {"source": SOURCE, "sort_neighbors": sorted}, "sort_neighbors is a function"),
        (
            "dijkstra_path",
            {"source": SOURCE, "target": OTHER, "weight": min},
            "weight of an edge is a function",
        ),
        ("shortest_path", {"weight": "length", "method": "bellman-ford"}, "the method is bellman-ford"),
        ("greedy_color", {"strategy": "DSATUR"}, "the strategy is none of largest_first"),
        ("greedy_color", {"interchange": True}, "colours are interchanged"),
        ("betweenness_centrality", {"weight": "length"}, "paths are weighted"),
        ("clustering", {"weight": "length"}, "edges are weighted"),
        ("katz_centrality", {"nstart": {SOURCE: 1}}, "nstart has not the nodes"),
    ],
)
def test_refusals(name, options, reason):
    graph = GRAPHS["Graph"]
    assert reason in backend.can_run(name, (graph,), options)
    with pytest.raises(NotImplementedError, match="'gpop' backend"):
        algorithm(name)(graph, backend="gpop", **options)


@pytest.mark.parametrize("weight", [-1, float("inf"), float("nan"), "far", None, 2**52, 2**70])
def test_weights_that_are_left_to_networkx(weight):
    graph = nx.path_graph(3)
    graph.add_edge(0, 1, weight=weight)
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra(graph, 0, backend="gpop")


def test_weights_that_cancel_out_are_those_of_a_node_without_edges():
    graph = nx.DiGraph([(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 1)])
    for (_, target), weight in zip(list(graph.edges)[:3], (0.1, -0.3, 0.2), strict=True):
        graph.add_edge(0, target, weight=weight)  # which sum to 0 in one order, not in the other
    check("pagerank", graph, {})
    for weight in (-1, -0.5, 1e308, float("inf")):
        path = nx.path_graph(5)
        path.add_edge(0, 1, weight=min(weight, 1e308))
        path.add_edge(1, 2, weight=weight)
        if weight < float("inf"):
            with np.errstate(over="ignore"):  # in NetworkX
                check("pagerank", path, {})
        else:
            with pytest.raises(NotImplementedError):
                nx.pagerank(path, backend="gpop")


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_undirected_views_of_graphs_with_two_weights(kind):
    graph = kind()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "a", 5), ("b", "c", 2), ("c", "c", 3)])
    view = graph.to_undirected(as_view=True)
    for name in ("pagerank", "hits"):
        with pytest.raises(NotImplementedError):
            algorithm(name)(view, backend="gpop")
    check("pagerank", view, {"weight": None})
    for source in "ab":
        check("single_source_dijkstra", view, {"source": source})
    matrix = nx.to_scipy_sparse_array(view).toarray()
    assert (gpop.Graph.from_networkx(view).to_scipy().toarray() == matrix).all()
    graph.add_edge("b", "a", **{"key": 0} if graph.is_multigraph() else {}, weight=1)
    check("pagerank", graph.to_undirected(as_view=True), {})


def test_nodes_as_they_were_given():
    graph = nx.path_graph(4)
    for name, options in (
        ("single_source_shortest_path", {"source": [1]}),
        ("single_target_shortest_path", {"target": [1]}),
        ("shortest_path", {"target": [1]}),
        ("dijkstra_path_length", {"source": 0, "target": None}),
        ("has_path", {"source": 0, "target": None}),
        ("has_path", {"source": None, "target": 0}),
        ("has_path", {"source": None, "target": "nowhere"}),
    ):
        check(name, graph, options)
    for name in ("shortest_path", "shortest_path_length", "dijkstra_path", "dijkstra_path_length"):
        found = algorithm(f"single_source_{name}")(graph, 1.0, backend="gpop")
        assert [*map(type, found)] == [float, int, int, int]


def test_a_class_with_neighbours_of_its_own_is_left_to_networkx():
    class Complement(nx.Graph):
        def __getitem__(self, node):
            return {other: {} for other in self if other != node and other not in self._adj[node]}

    class Named(nx.Graph):
        edge_attr_dict_factory = UserDict

    with pytest.raises(NotImplementedError):
        nx.core_number(Complement([(0, 1), (1, 2)]), backend="gpop")
    check("single_source_dijkstra", Named([(0, 1, {"weight": 3}), (1, 2)]), {"source": 0})


def test_a_conversion_is_kept_until_the_graph_changes():
    graph = GRAPHS["DiGraph"].copy()
    nx.single_source_dijkstra(graph, SOURCE, weight="length", backend="gpop")
    (kept,) = graph.__networkx_cache__["backends"]["gpop"].values()
    nx.bfs_tree(graph, SOURCE, backend="gpop")
    assert [*graph.__networkx_cache__["backends"]["gpop"].values()] == [kept]
    assert backend.convert_to_nx(kept) is graph
    graph.add_edge(SOURCE, "new")
    check("bfs_tree", graph, {"source": SOURCE})
    del graph
    gc.collect()
    with pytest.raises(NotImplementedError, match="is gone"):
        backend.convert_to_nx(kept)


def test_priority_takes_large_graphs_only():
    graph = GRAPHS["Graph"].copy()
    with nx.config.backend_priority(algos=["gpop"]):
        nx.is_connected(graph)
        assert "backends" not in graph.__networkx_cache__ or not graph.__networkx_cache__["backends"]
        large = nx.path_graph(backend.WORTH)
        assert "whole graph" in backend.should_run("has_path", (large, 0, 1), {})
        assert nx.has_path(large, 0, 1)
        assert not large.__networkx_cache__.get("backends", {}).get("gpop")
        nx.is_connected(large)
        (kept,) = large.__networkx_cache__["backends"]["gpop"].values()
        assert backend.should_run("has_path", (large, 0, 1), {}) is True
        assert backend.should_run("has_path", (kept, 0, 1), {}) is True
    assert "quicker" in backend.should_run("pagerank", (graph,), {})


def test_networkx_finds_the_backend_and_gpop_alone_loads_no_networkx(tmp_path):
    code = """
import sys, gpop
assert "networkx" not in sys.modules and "gpop.networkx" not in sys.modules
import networkx as nx
assert "numba" not in sys.modules and "gpop.networkx.backend" not in sys.modules
print(list(nx.bfs_edges(nx.path_graph(3), 0, backend="gpop")), "gpop" in nx.pagerank.__doc__)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.stdout == "[(0, 1), (1, 2)] True\n", done.stderr


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_networkx_own_tests():
    """All of those of its algorithms; the same as ``python tests/networkx_suite.py``."""
    assert run([]) == 0

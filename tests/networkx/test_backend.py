"""Every function that is dispatched, on all four kinds of graphs, against NetworkX: values and their order.

Nodes are texts in no order, some edges lack the attribute, there are loops, parallel edges and lone nodes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, ValuesView
from functools import partial

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.networkx.functions import FAMILIES, HOMES, NOTES
from tests.conftest import SEED
from tests.networkx.registered import register

KINDS = {kind.__name__: kind for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)}
SOURCE, OTHER = "v3", "v7"

register()


def random_graph(kind: str, nodes: int = 40, edges: int = 70, whole: bool = True) -> nx.Graph:
    """A graph whose nodes and edges were added in random order."""
    draw = random.Random(SEED)
    names = [f"v{i}" for i in range(nodes)]
    draw.shuffle(names)
    graph = KINDS[kind]()
    graph.add_nodes_from(names)
    for _ in range(edges):
        ends = draw.choice(names), draw.choice(names)
        weight = draw.randint(0, 4) if whole else draw.random()
        graph.add_edge(*ends, **{"length": weight} if draw.random() < 0.9 else {})
    return graph


GRAPHS = {kind: random_graph(kind) for kind in KINDS}


def algorithm(name: str):
    """The function that NetworkX dispatches under a name, as users have it."""
    found = nx.community.label_propagation_communities if name.startswith("label_") else getattr(nx, name)
    assert name in nx.utils.backends._registered_algorithms
    return found


def outcome(function, *arguments, **options):
    """What comes out, with its order, or the error."""
    try:
        return listed(function(*arguments, **options))
    except (nx.NetworkXException, ZeroDivisionError) as error:
        return type(error), str(error)


def listed(result):
    """With the order of dicts and what iterators give."""
    if isinstance(result, dict):
        return "dict", [(key, listed(value)) for key, value in result.items()]
    if isinstance(result, nx.Graph):
        return type(result), [*result.nodes(data=True)], [*result.edges(data=True)]
    if isinstance(result, Iterator | ValuesView):
        return "iterator", [listed(value) for value in result]
    if isinstance(result, tuple):
        return tuple(map(listed, result))
    return result


def same(mine, theirs) -> None:
    """Equal, order and types included; floats up to rounding, and a whole number may be one."""
    assert type(mine) is type(theirs) or (type(mine), type(theirs)) == (float, int), (mine, theirs)
    if isinstance(mine, float):
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12, nan_ok=True)
    elif isinstance(mine, tuple | list):
        assert len(mine) == len(theirs), (mine, theirs)
        for a, b in zip(mine, theirs, strict=True):
            same(a, b)
    else:
        assert mine == theirs


STRUCTURE = [
    ("bfs_edges", {"source": SOURCE}),
    ("bfs_edges", {"source": SOURCE, "reverse": True, "depth_limit": 2}),
    ("bfs_edges", {"source": "nowhere"}),
    ("bfs_layers", {"sources": SOURCE}),
    ("bfs_layers", {"sources": [SOURCE, OTHER]}),
    ("bfs_layers", {"sources": ["nowhere"]}),
    ("bfs_predecessors", {"source": SOURCE, "depth_limit": 1.5}),
    ("bfs_successors", {"source": SOURCE}),
    ("bfs_tree", {"source": SOURCE, "reverse": True}),
    ("descendants_at_distance", {"source": SOURCE, "distance": 2}),
    ("descendants_at_distance", {"source": "nowhere", "distance": 2}),
    ("single_source_shortest_path", {"source": SOURCE}),
    ("single_source_shortest_path", {"source": "nowhere"}),
    ("single_source_shortest_path_length", {"source": SOURCE, "cutoff": 2}),
    ("single_target_shortest_path", {"target": SOURCE}),
    ("single_target_shortest_path_length", {"target": SOURCE}),
    ("all_pairs_shortest_path", {"cutoff": 3}),
    ("all_pairs_shortest_path_length", {}),
    ("bidirectional_shortest_path", {"source": SOURCE, "target": "nowhere"}),
    ("greedy_color", {}),
    ("greedy_color", {"strategy": "nothing"}),
]
"""Functions, and arguments, of graphs of every kind."""

SIMPLE = [
    ("average_clustering", {}),
    ("average_clustering", {"count_zeros": False}),
    ("clustering", {}),
    ("clustering", {"nodes": SOURCE}),
    ("clustering", {"nodes": [OTHER, SOURCE, "nowhere"]}),
    ("clustering", {"nodes": 3}),
    ("transitivity", {}),
    ("triangles", {"nodes": SOURCE}),
    ("triangles", {"nodes": [SOURCE, OTHER]}),
]
"""Of undirected graphs without parallel edges."""

UNDIRECTED = [
    ("triangles", {}),
    ("connected_components", {}),
    ("number_connected_components", {}),
    ("is_connected", {}),
    ("node_connected_component", {"n": SOURCE}),
    ("label_propagation_communities", {}),
]

DIRECTED = [
    (f"{how}{kind}{what}", {})
    for kind in ("weakly", "strongly")
    for how, what in (
        ("", "_connected_components"),
        ("number_", "_connected_components"),
        ("is_", "_connected"),
    )
]

LENGTHS = [
    (f"{many}_source_dijkstra{what}", {ends: {SOURCE, OTHER} if many == "multi" else SOURCE, **options})
    for many, ends in (("single", "source"), ("multi", "sources"))
    for what, options in (
        ("", {}), ("", {"target": "v1"}), ("", {"target": SOURCE}), ("_path", {"cutoff": 3}), ("_path_length",
        {})
    )
] + [
    ("all_pairs_dijkstra", {}),
    ("all_pairs_dijkstra_path", {"cutoff": 2}),
    ("all_pairs_dijkstra_path_length", {}),
    ("single_source_dijkstra", {"source": "nowhere"}),
    ("multi_source_dijkstra", {"sources": {SOURCE}, "target": "nowhere"}),
    ("shortest_path", {}),
    ("shortest_path", {"source": SOURCE}),
    ("shortest_path", {"target": SOURCE}),
    ("shortest_path_length", {}),
    ("shortest_path_length", {"source": SOURCE}),
    ("shortest_path_length", {"target": SOURCE}),
]  # fmt: skip
"""Called with weight="length", those of any method also without."""

BETWEEN = [
    ("bidirectional_shortest_path", None),
    ("has_path", None),
    ("bidirectional_dijkstra", "length"),
    ("dijkstra_path", "length"),
    ("dijkstra_path_length", "length"),
    ("shortest_path", "length"),
    ("shortest_path_length", "length"),
    ("shortest_path", None),
    ("shortest_path_length", None),
]
"""Functions of two nodes."""


def check(name: str, graph: nx.Graph, options: dict) -> None:
    function = algorithm(name)
    same(outcome(function, graph, backend="gpop", **options), outcome(function, graph, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_structure(kind):
    others = DIRECTED if GRAPHS[kind].is_directed() else UNDIRECTED
    for name, options in STRUCTURE + others:
        check(name, GRAPHS[kind], options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [True, False])
def test_lengths(kind, whole):
    graph = random_graph(kind, whole=whole)
    for name, options in LENGTHS:
        check(name, graph, options | {"weight": "length"})
        if name.startswith("shortest"):
            check(name, graph, options)
    for name, weight in BETWEEN:
        for target in graph:
            check(name, graph, {"source": SOURCE, "target": target} | ({"weight": weight} if weight else {}))


CENTRALITIES = [
    ("betweenness_centrality", {"k": k, "normalized": normalized, "endpoints": endpoints, "seed": 3})
    for k in (None, 1, 12, 40)
    for normalized in (True, False)
    for endpoints in (True, False)
] + [
    ("closeness_centrality", {**of, **by, "wf_improved": improved})
    for of in ({}, {"u": SOURCE}, {"u": "nowhere"})
    for by in ({}, {"distance": "length"})
    for improved in (True, False)
]

LINKS = [
    ("pagerank", {}),
    ("pagerank", {"alpha": 0.5, "tol": 1e-9}),
    ("pagerank", {"personalization": {SOURCE: 1, OTHER: 3}}),
    ("pagerank", {"dangling": {SOURCE: 1}, "nstart": {SOURCE: 2, OTHER: 1}}),
    ("pagerank", {"personalization": {"nowhere": 1}}),
    ("pagerank", {"max_iter": 2}),
    ("katz_centrality", {"alpha": 0.01}),
    ("katz_centrality", {"alpha": 0.01, "normalized": False, "nstart": {f"v{i}": i for i in range(40)}}),
    ("katz_centrality", {"alpha": 0.05, "beta": {"v1": 2}}),
    ("katz_centrality", {"alpha": 0.01, "beta": {f"v{i}": i for i in range(40)}, "max_iter": 1}),
]
"""Called with weight="length" and without weights."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", ["length", None])
def test_links(kind, weight, monkeypatch):
    if (kind, weight) != ("DiGraph", None):  # compiled once: the Python target does the same, without that
        monkeypatch.setattr(gpop, "run", partial(gpop.run, target="python"))
    for name, options in LINKS:
        if name != "katz_centrality" or not GRAPHS[kind].is_multigraph():
            check(name, GRAPHS[kind], options | {"weight": weight})


@pytest.mark.parametrize("kind", KINDS)
def test_hits(kind):
    graph = nx.relabel_nodes(GRAPHS[kind], {SOURCE: "hub"})
    for node in [*graph][:15]:  # the largest singular value is then far above the others
        graph.add_edge("hub", node, weight=5)
    for mine, theirs in zip(nx.hits(graph, backend="gpop"), nx.hits(graph), strict=True):
        assert list(mine) == list(theirs)
        np.testing.assert_allclose([*mine.values()], [*theirs.values()], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_centralities(kind):
    for name, options in CENTRALITIES:
        check(name, GRAPHS[kind], options)


def test_neighbourhoods():
    for name, options in SIMPLE:
        check(name, GRAPHS["MultiGraph"], options)
    for edges in (20, 70, 300):
        graph = random_graph("Graph", edges=edges)
        for name, options in SIMPLE:
            check(name, graph, options)
        graph.add_edge(SOURCE, SOURCE)
        check("core_number", graph, {})
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        check("core_number", graph, {})


@pytest.mark.parametrize("kind", ["Graph", "MultiGraph"])
def test_independent_sets(kind, monkeypatch):
    monkeypatch.setattr(gpop, "run", partial(gpop.run, target="python"))  # which compiles nothing
    graph = GRAPHS[kind].copy()
    graph.remove_edges_from(list(nx.selfloop_edges(graph, keys=kind == "MultiGraph")))
    first, near = next((u, v) for u, v in graph.edges())
    other = next(node for node in graph if node not in graph[first])
    for nodes in (None, [first], {first, other}):
        found = nx.maximal_independent_set(graph, nodes, seed=SEED, backend="gpop")
        assert found == nx.maximal_independent_set(graph, nodes, seed=SEED, backend="gpop")
        assert set(nodes or ()) <= set(found)
        assert not any(v in graph[u] for u in found for v in found)
        assert all(node in found or any(v in found for v in graph[node]) for node in graph)
    check("maximal_independent_set", graph, {"nodes": [first, near]})
    check("maximal_independent_set", graph, {"nodes": ["nowhere"]})


def test_every_function_is_tested():
    tables = (STRUCTURE, SIMPLE, UNDIRECTED, DIRECTED, LENGTHS, BETWEEN, CENTRALITIES, LINKS)
    assert {name for table in tables for name, _ in table} | {
        "core_number",
        "hits",
        "maximal_independent_set",
    } == set(HOMES)
    assert set(NOTES) <= set(HOMES)
    assert len(HOMES) == sum(map(len, FAMILIES.values()))

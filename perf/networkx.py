"""``python -m perf networkx``: NetworkX's functions through gpop beside NetworkX itself, and the conversion.

    python -m perf networkx --edges 1000000
    python -m perf networkx --functions pagerank,is_connected --nodes text --weights

Graph: random edges between ``--vertices`` nodes, of every kind in ``--kinds``. Conversion is timed alone, in
seconds and in seconds of the processor, which another program beside it does not lengthen as much; then every
function in turn by gpop, on the converted graph, and by NetworkX. Medians of ``--rounds``; what gpop compiles
is compiled before. A call's seconds include the result in Python's objects.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.networkx import backend
from gpop.networkx.functions import HOMES
from perf.parser import with_out
from perf.provenance import perf_command, written

KINDS = {"directed": nx.DiGraph, "undirected": nx.Graph}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "betweenness_centrality": {"k": 4, "seed": 1},
    "katz_centrality": {"alpha": 0.01},
    "single_source_shortest_path_length": {"source": 0},
    "single_source_dijkstra_path_length": {"source": 0},
    "bfs_edges": {"source": 0},
}
"""What functions are given besides the graph; a node by its number."""

DEFAULT = (
    "pagerank", "katz_centrality", "single_source_shortest_path_length", "single_source_dijkstra_path_length",
    "bfs_edges", "number_connected_components", "number_weakly_connected_components",
    "strongly_connected_components", "triangles", "clustering", "core_number", "betweenness_centrality",
    "greedy_color",
)  # fmt: skip


def make_graph(kind: str, vertices: int, edges: int, text: bool, weights: bool, seed: int = 1) -> nx.Graph:
    """A graph with this many random edges, less those that are drawn again."""
    draw = np.random.default_rng(seed)
    names = [f"node {v}" for v in range(vertices)] if text else range(vertices)
    ends = draw.integers(0, vertices, (edges, 2))
    ends = ends[ends[:, 0] != ends[:, 1]].tolist()
    graph = KINDS[kind]()
    graph.add_nodes_from(names)
    if weights:
        lengths = draw.random(len(ends)).tolist()
        graph.add_weighted_edges_from(
            (names[u], names[v], w) for (u, v), w in zip(ends, lengths, strict=True)
        )
    else:
        graph.add_edges_from((names[u], names[v]) for u, v in ends)
    return graph


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of a call, its result let go afterwards; what it yields is taken."""
    gc.collect()
    start = clock()
    result = call()
    if hasattr(result, "__next__"):
        for _ in result:
            pass
    return clock() - start


def conversion(graph: nx.Graph, rounds: int) -> str:
    """A line about the conversion with weights, asked for whether edges have them or not."""
    wall, processor = [], []
    for _ in range(rounds):
        began = time.thread_time()
        wall.append(timed(lambda: backend.convert_from_nx(graph, edge_attrs={"weight": 1})))
        processor.append(time.thread_time() - began)
    millions = graph.number_of_edges() / 1e6
    seconds, busy = (statistics.median(times) / millions for times in (wall, processor))
    return f"{'conversion':36}{seconds:12.3f} s per million edges, {busy:.3f} s of the processor"


def row(name: str, graph: nx.Graph, converted: Any, rounds: int) -> str:
    """A line about a function."""
    nodes = list(graph)
    given = {
        key: nodes[value] if key == "source" else value for key, value in ARGUMENTS.get(name, {}).items()
    }
    function = getattr(nx, name)
    mine, theirs = [], []
    timed(lambda: function(converted, **given))
    for _ in range(rounds):
        mine.append(timed(lambda: function(converted, **given)))
        theirs.append(timed(lambda: function(graph, **given)))
    ours, other = statistics.median(mine), statistics.median(theirs)
    return f"{name:36}{other:12.4f}{ours:12.4f}{ours / other:10.4f}"


def _run(argv: list[str]) -> None:
    parser = with_out("networkx", __doc__)
    parser.add_argument("--vertices", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--kinds", default=",".join(KINDS), help="separated by commas")
    parser.add_argument("--nodes", choices=("numbers", "text"), default="numbers", help="what nodes are")
    parser.add_argument("--weights", action="store_true", help="edges have a weight")
    parser.add_argument("--functions", default=",".join(DEFAULT), help="separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(argv)
    for what, known in (("kinds", KINDS), ("functions", HOMES)):
        unknown = set(getattr(given, what).split(",")) - {*known, ""}
        if unknown:
            raise UsageError(f"{what} {min(unknown)}: expected some of {', '.join(known)}")
    if "gpop" not in nx.utils.backends.backends:
        raise UsageError("NetworkX does not know gpop: expected it to be installed (pip install -e .)")
    with written(given.out, perf_command("networkx", argv)):
        for kind in given.kinds.split(","):
            graph = make_graph(kind, given.vertices, given.edges, given.nodes == "text", given.weights)
            print(f"{graph} ({kind}, nodes: {given.nodes}, {'with' if given.weights else 'no'} weights)")
            print(conversion(graph, given.rounds))
            converted = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
            print(f"{'seconds':36}{'NetworkX':>12}{'gpop':>12}{'ratio':>10}")
            for name in filter(None, given.functions.split(",")):
                try:
                    print(row(name, graph, converted, given.rounds), flush=True)
                except nx.NetworkXNotImplemented:
                    print(f"{name:36}{'not for graphs of this kind':>34}")
                except NotImplementedError:
                    print(f"{name:36}{'left to NetworkX':>34}")
            print()


def main(argv: list[str]) -> int:
    """Measure and print the tables."""
    return exit_code(lambda: _run(argv))

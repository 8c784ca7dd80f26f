"""``python -m perf analytics``: clustering, communities, colours, cores ... beside other libraries.

    python -m perf analytics fb100-Cornell5.txt.xz cnr-2000.txt.xz rmat:scale=18 --threads 2 --out FILE

Graphs are files or generators' specs, made symmetric and simple, with random weights for the forest; strong
components are those of the graph as it is given. Each
library has its own graph before the clock starts, and all are called in turn within a round, so that a slow
minute hits all of them; the first round is discarded. Times are medians; the ratio is that of gpop over the
fastest other library, and is met at `BAR` or less.

Clustering, core numbers and strong components are the same everywhere, and are compared. The others do not
compute the same: the table's last lines say where, and in what (`DIFFERENT`).
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.graph.transform import random_weights, remove_self_loops
from perf.graphs import name_of, open_graph
from perf.parser import with_out
from perf.provenance import perf_command, written

BAR = 0.5
ITERATIONS = 10

ALGORITHMS = ("clustering", "communities", "colors", "forest", "cores", "strong")
DIFFERENT = {
    "communities": f"gpop's is Graphalytics' definition, all labels at once, {ITERATIONS} times. The others' "
    "change one after the other, ties at random: NetworKit's only where a neighbour has changed, at most as "
    "often, and no more when few change; igraph's stops by itself. Its ratio compares no equal work",
    "colors": "igraph colours by the number of coloured neighbours, gpop by degree",
    "forest": "edges of equal weight may differ; the weight may not",
}
"""What is not the same computation in every library, and in what."""

Call = Callable[[], Any]
Found = Callable[[Any], float]


def gpop_calls(graph: gpop.Graph, given: gpop.Graph, threads: int) -> dict[str, tuple[Call, Found]]:
    """Algorithm -> (call, the number that tells what it has found)."""
    return {
        "clustering": (lambda: gpop.clustering(graph, threads=threads), lambda found: found.average),
        "communities": (
            lambda: gpop.label_propagation(graph, ITERATIONS, threads=threads), lambda found: found.count
        ),
        "colors": (lambda: gpop.coloring(graph, threads=threads), lambda found: found.count),
        "forest": (lambda: gpop.spanning_forest(graph, threads=threads), lambda found: found.total),
        "cores": (lambda: gpop.core_number(graph, threads=threads), lambda found: int(found.core.sum())),
        "strong": (
            lambda: gpop.strong_components(given, threads=threads), lambda found: found.count
        ),
    }  # fmt: skip


def networkit_calls(graph: gpop.Graph, given: gpop.Graph, threads: int) -> dict[str, tuple[Call, Found]]:
    """NetworKit, with OpenMP; clustering by the faster of its two ways, which takes more memory."""
    import networkit

    networkit.setNumberOfThreads(threads)
    tails, upper = _once(graph)
    ends = (tails, graph.indices[upper].astype(np.uint64))
    values = graph.weights[upper].astype(np.float64)
    plain = networkit.GraphFromCoo((np.ones(len(tails)), ends), n=graph.n, weighted=False, directed=False)
    weighted = networkit.GraphFromCoo((-values, ends), n=graph.n, weighted=True, directed=False)
    directed = networkit.GraphFromCoo(
        (np.ones(given.m), (_tails(given), given.indices.astype(np.uint64))), n=given.n, directed=True
    )
    return {
        "clustering": (
            lambda: networkit.centrality.LocalClusteringCoefficient(plain, True).run(),
            lambda found: float(np.mean(found.scores())),
        ),
        "communities": (
            lambda: networkit.community.PLP(plain, 0, ITERATIONS).run(),
            lambda found: found.getPartition().numberOfSubsets(),
        ),
        "forest": (
            lambda: networkit.graph.RandomMaximumSpanningForest(weighted).run(),
            lambda found: -found.getMSF(True).totalEdgeWeight(),
        ),
        "cores": (
            lambda: networkit.centrality.CoreDecomposition(plain).run(),
            lambda found: int(sum(found.scores())),
        ),
        "strong": (
            lambda: networkit.components.StronglyConnectedComponents(directed).run(),
            lambda found: found.numberOfComponents(),
        ),
    }  # fmt: skip


def igraph_calls(graph: gpop.Graph, given: gpop.Graph, threads: int) -> dict[str, tuple[Call, Found]]:
    """igraph: its C core, one thread."""
    import igraph

    tails, upper = _once(graph)
    twin = igraph.Graph(graph.n, np.column_stack([tails, graph.indices[upper]]), directed=False)
    directed = igraph.Graph(given.n, np.column_stack([_tails(given), given.indices]), directed=True)
    weights = graph.weights[upper].astype(np.float64)
    return {
        "clustering": (
            lambda: twin.transitivity_local_undirected(mode="zero"), lambda found: float(np.mean(found))
        ),
        "communities": (twin.community_label_propagation, lambda found: len(found)),
        "colors": (twin.vertex_coloring_greedy, lambda found: max(found) + 1),
        "forest": (
            lambda: twin.spanning_tree(weights.tolist(), return_tree=False),
            lambda found: float(weights[found].sum()),
        ),
        "cores": (twin.coreness, sum),
        "strong": (lambda: directed.connected_components(mode="strong"), len),
    }  # fmt: skip


def graphblas_calls(graph: gpop.Graph, given: gpop.Graph, threads: int) -> dict[str, tuple[Call, Found]]:
    """python-graphblas: paths closed by an edge, counted where there is one."""
    import graphblas as gb

    gb.ss.config["nthreads"] = threads
    edges = gb.Matrix.from_coo(
        _tails(graph), graph.indices.astype(np.uint64), np.ones(graph.m, bool), nrows=graph.n, ncols=graph.n
    )
    degree = graph.out_degree.astype(np.float64)

    def clustering() -> np.ndarray:
        closed = gb.Matrix(np.int64, graph.n, graph.n)
        closed(edges.S) << edges.mxm(edges.T, gb.semiring.plus_pair)
        links = closed.reduce_rowwise(gb.monoid.plus).new().to_dense(fill_value=0)
        return links / np.maximum(degree * (degree - 1), 1)

    return {"clustering": (clustering, lambda found: float(found.mean()))}


LIBRARIES = {
    "gpop": gpop_calls, "networkit": networkit_calls, "igraph": igraph_calls, "graphblas": graphblas_calls
}  # fmt: skip


def _tails(graph: gpop.Graph) -> np.ndarray:
    """Where every edge begins."""
    return np.repeat(np.arange(graph.n, dtype=np.uint64), graph.out_degree)


def _once(graph: gpop.Graph) -> tuple[np.ndarray, np.ndarray]:
    """Tails and places of the edges to a larger vertex."""
    tails = _tails(graph)
    upper = np.flatnonzero(tails < graph.indices)
    return tails[upper], upper


def measure(
    given: gpop.Graph, threads: int, rounds: int, algorithms: list[str]
) -> dict[str, dict[str, tuple[float, float]]]:
    """Algorithm -> library -> (median seconds, what it has found)."""
    graph = random_weights(remove_self_loops(given).symmetrize(), 1, 255)
    calls = {name: make(graph, given, threads) for name, make in LIBRARIES.items()}
    table: dict[str, dict[str, tuple[float, float]]] = {}
    for algorithm in algorithms:
        seconds: dict[str, list[float]] = {name: [] for name in calls if algorithm in calls[name]}
        found: dict[str, float] = {}
        for _ in range(rounds + 1):
            for name, times in seconds.items():
                call, tell = calls[name][algorithm]
                start = time.perf_counter()
                answer = call()
                times.append(time.perf_counter() - start)
                found[name] = tell(answer)
        table[algorithm] = {
            name: (statistics.median(times[1:]), found[name]) for name, times in seconds.items()
        }
    return table


def show(table: dict[str, dict[str, tuple[float, float]]]) -> None:
    """Print a graph's table."""
    print(f"{'algorithm':14}{'library':12}{'ms':>10}{'found':>16}{'ratio':>9}")
    for algorithm, of_libraries in table.items():
        mine = of_libraries["gpop"][0]
        best = min((seconds for name, (seconds, _) in of_libraries.items() if name != "gpop"), default=None)
        for name, (seconds, found) in of_libraries.items():
            ratio = ""
            if name == "gpop" and best is not None:
                ratio = f"{mine / best:9.3f}{'' if mine / best <= BAR else ' *'}"
            print(f"{algorithm:14}{name:12}{1e3 * seconds:10.1f}{found:16.6g}{ratio}")
    for name, libraries in table.items():
        if name in DIFFERENT and len({found for _, found in libraries.values()}) > 1:
            print(f"{name}, not the same in every library: {DIFFERENT[name]}")


def _run(argv: list[str]) -> None:
    parser = with_out("analytics", __doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="file, or like rmat:scale=18")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS), help="by commas")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="T")
    parser.add_argument("--rounds", type=int, default=5, metavar="R")
    given = parser.parse_args(argv)
    algorithms = given.algorithms.split(",")
    for name in algorithms:
        if name not in ALGORITHMS:
            raise UsageError(f"algorithm {name!r}: expected some of {', '.join(ALGORITHMS)}")
    with written(given.out, perf_command("analytics", argv)):
        print(f"{given.threads} threads, medians of {given.rounds} rounds; * misses the bar of {BAR}")
        for spec in given.graphs:
            graph = open_graph(spec)
            print(f"\n{name_of(spec)}: {graph.n:,} vertices, {graph.m:,} edges as given")
            show(measure(graph, given.threads, given.rounds, algorithms))


def main(argv: list[str]) -> int:
    """Measure and print the tables."""
    return exit_code(lambda: _run(argv))

"""``python -m perf graphalytics DIR``: run LDBC Graphalytics data sets and check the answers.

    python -m perf graphalytics data/example-directed
    python -m perf graphalytics data --algorithms bfs,pr --threads 16 --out FILE

DIR holds data sets, or folders with one each: ``NAME.properties`` with its ``.v`` and ``.e`` files, and the
reference output beside them, ``NAME-BFS``, ``NAME-PR`` ... The algorithms are those of the properties, with
their parameters.

``load`` is reading the files. ``first`` is the first call, which compiles and builds bins; ``time`` the
median of ``--rounds`` further calls, from the graph to the arrays of the answer. EVPS are vertices and
edges, as many as the files have, per second of that time. An answer is compared by the benchmark's rules:

    bfs cdlp       equal
    wcc            equal but for the names of components
    pr lcc sssp    |found - expected| <= 0.0001 |expected|, and infinity where that is expected

Exit code 1 when an answer is wrong; what has no reference output is said to be unchecked.
Paper: A. Iosup et al., "The LDBC Graphalytics benchmark", specification 1.0.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import GraphFileError, UsageError
from gpop.io.graphalytics import DataSet, columns, data_set
from perf.parser import with_out
from perf.provenance import perf_command, written

FAR = np.iinfo(np.int64).max
"""The level of a vertex that is not reached."""

EPSILON = 1e-4

ASKED = {
    "bfs": {"source-vertex": int},
    "pr": {"damping-factor": float, "num-iterations": int},
    "wcc": {},
    "cdlp": {"max-iterations": int},
    "lcc": {},
    "sssp": {"source-vertex": int},
}
"""Algorithms, and the parameters that properties must give them."""


class Outcome(NamedTuple):
    """What an algorithm took on a data set, and what is wrong with its answer (None: nothing)."""

    algorithm: str
    first: float
    seconds: float
    evps: float
    checked: bool
    fault: str | None


def solver(
    algorithm: str, graph: gpop.Graph, given: dict[str, Any], threads: int | None
) -> Callable[[], np.ndarray]:
    """A call that gives the benchmark's answer, a value for each vertex."""
    options: dict[str, Any] = {} if threads is None else {"threads": threads}
    source = graph.vertex_of(given["source-vertex"]) if "source-vertex" in given else None

    def levels() -> np.ndarray:
        level = gpop.bfs(graph, source, **options).level
        return np.where(level < 0, FAR, level.astype(np.int64))

    def ranks() -> np.ndarray:
        damping, iterations = given["damping-factor"], given["num-iterations"]
        return gpop.pagerank(graph, damping, iterations, dangling="uniform", dtype=np.float64, **options).rank

    def distances() -> np.ndarray:
        found = gpop.sssp(graph, source, **options)
        return np.where(found.reached, found.distance, np.inf)

    calls = {
        "bfs": levels,
        "pr": ranks,
        "wcc": lambda: _named(graph, gpop.connected_components(graph, **options).label),
        "cdlp": lambda: _named(
            graph, gpop.label_propagation(graph, given["max-iterations"], **options).label
        ),
        "lcc": lambda: gpop.clustering(graph, **options).coefficient,
        "sssp": distances,
    }
    return calls[algorithm]


def _named(graph: gpop.Graph, label: np.ndarray) -> np.ndarray:
    return label.astype(np.int64) if graph.original_ids is None else graph.original_ids[label]


def fault_of(algorithm: str, expected: np.ndarray, found: np.ndarray, ids: np.ndarray) -> str | None:
    """None, or what is wrong with an answer, by the rule for this algorithm.

    Examples
    --------
    >>> ids, inf = np.array([1, 2, 3]), np.inf
    >>> fault_of("sssp", np.array([0, 2, inf]), np.array([0, 2.0001, inf]), ids)
    >>> fault_of("sssp", np.array([0, 2, inf]), np.array([0, 2.001, 7]), ids)
    '2 values are wrong: vertex 2 has 2.001, expected 2.0'
    >>> fault_of("wcc", np.array([5, 5, 7]), np.array([1, 1, 3]), ids)
    >>> fault_of("wcc", np.array([5, 5, 7]), np.array([1, 1, 1]), ids)
    '1 values are wrong: vertex 3 has 1, expected 7'
    """
    if algorithm == "wcc":  # a component is a wrong one where its label stands for another one elsewhere
        wrong = np.zeros(len(ids), bool)
        for one, other in ((expected, found), (found, expected)):
            _, first, number = np.unique(one, return_index=True, return_inverse=True)
            wrong |= other != other[first][number]
    elif algorithm in ("bfs", "cdlp"):
        wrong = expected != found
    else:
        with np.errstate(invalid="ignore"):  # of infinity and infinity there is no difference
            near = np.abs(expected - found) <= EPSILON * np.abs(expected)
        far = np.isinf(expected) | np.isinf(found)
        wrong = np.where(far, expected != found, ~near)
    places = np.flatnonzero(wrong)
    if not places.size:
        return None
    v = places[0]
    return f"{places.size} values are wrong: vertex {ids[v]} has {found[v]}, expected {expected[v]}"


def reference(path: Path, algorithm: str, ids: np.ndarray) -> np.ndarray:
    """The expected values of the vertices with these ids, which ascend."""
    kind = np.int64 if algorithm in ("bfs", "wcc", "cdlp") else np.float64
    vertex, value = columns(path, (np.int64, kind))
    order = np.argsort(vertex, kind="stable")
    if not np.array_equal(vertex[order], ids):
        raise GraphFileError(
            f"{path}: {len(vertex)} vertices, expected the {len(ids)} of the graph, each once"
        )
    return value[order]


def parameters(path: Path, data: DataSet, algorithm: str) -> dict[str, Any]:
    """What the properties say about an algorithm, as numbers."""
    found = {}
    for name, kind in ASKED[algorithm].items():
        text = data.parameters.get(f"{algorithm}.{name}")
        try:
            found[name] = kind(text)
        except (TypeError, ValueError):
            said = "none" if text is None else repr(text)
            raise GraphFileError(f"{path}: {algorithm}.{name}: expected a number, found {said}") from None
    return found


def measure(
    path: Path, data: DataSet, algorithm: str, graph: gpop.Graph, threads: int | None, rounds: int
) -> Outcome:
    """Call an algorithm once and then ``rounds`` times, and check its answer."""
    solve = solver(algorithm, graph, parameters(path, data, algorithm), threads)
    seconds = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        found = solve()
        seconds.append(time.perf_counter() - start)
    size = graph.n + (graph.m if data.directed else _undirected_edges(graph))
    median = statistics.median(seconds[1:])
    expected_at = path.with_name(f"{data.name}-{algorithm.upper()}")
    fault, checked = None, expected_at.exists()
    if checked:
        ids = np.arange(graph.n) if graph.original_ids is None else graph.original_ids
        fault = fault_of(algorithm, reference(expected_at, algorithm, ids), found, ids)
    return Outcome(algorithm, seconds[0], median, size / median, checked, fault)


def _undirected_edges(graph: gpop.Graph) -> int:
    """Edges as their file has them; a loop is there once in any case."""
    tails = np.repeat(np.arange(graph.n, dtype=np.uint32), graph.out_degree)
    return (graph.m + np.count_nonzero(graph.indices == tails)) // 2


def data_sets(folder: Path) -> list[Path]:
    """Properties files of data sets: the given one, those of a folder, and those of its folders."""
    if folder.is_file():
        return [folder]
    found = sorted([*folder.glob("*.properties"), *folder.glob("*/*.properties")])
    if not found:
        raise UsageError(f"{folder}: no data set, expected NAME.properties there or one folder below")
    return found


def run_one(path: Path, wanted: list[str], threads: int | None, rounds: int) -> list[Outcome]:
    """Run a data set and print its table."""
    data = data_set(path)
    unknown = [name for name in data.algorithms if name not in ASKED]
    if unknown:
        raise GraphFileError(f"{path}: algorithm {unknown[0]}, expected some of {', '.join(ASKED)}")
    chosen = [name for name in ASKED if name in data.algorithms and name in wanted]
    start = time.perf_counter()
    graph = gpop.load(path, weighted="sssp" in chosen)
    loaded = time.perf_counter() - start
    kind = "directed" if data.directed else "undirected"
    edges = graph.m if data.directed else _undirected_edges(graph)
    print(f"\n{data.name}: {graph.n:,} vertices, {edges:,} edges, {kind}; load {loaded:.3g} s")
    print(f"{'algorithm':12}{'first':>12}{'time':>12}{'EVPS':>12}  answer")
    outcomes = []
    for algorithm in chosen:
        outcome = measure(path, data, algorithm, graph, threads, rounds)
        answer = "right" if outcome.fault is None else f"WRONG: {outcome.fault}"
        answer = answer if outcome.checked else f"unchecked: there is no {data.name}-{algorithm.upper()}"
        times = "".join(f"{value:>10.4g} s" for value in (outcome.first, outcome.seconds))
        print(f"{algorithm:12}{times}{outcome.evps:>12.4g}  {answer}", flush=True)
        outcomes.append(outcome)
    return outcomes


def _run(argv: list[str]) -> int:
    parser = with_out("graphalytics", __doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="data sets, or one's properties file")
    parser.add_argument("--algorithms", default=",".join(ASKED), help="some of the data sets', by commas")
    parser.add_argument("--threads", type=int, metavar="T", help="default: all cores")
    parser.add_argument("--rounds", type=int, default=3, metavar="R", help="calls after the first one")
    given = parser.parse_args(argv)
    wanted = given.algorithms.split(",")
    unknown = [name for name in wanted if name not in ASKED]
    if unknown:
        raise UsageError(f"algorithm {unknown[0]!r}: expected some of {', '.join(ASKED)}")
    if given.rounds < 1:
        raise UsageError(f"--rounds {given.rounds}: expected a number from 1 on")
    with written(given.out, perf_command("graphalytics", argv)):
        outcomes = [
            outcome
            for path in data_sets(given.folder)
            for outcome in run_one(path, wanted, given.threads, given.rounds)
        ]
        right = sum(outcome.checked and outcome.fault is None for outcome in outcomes)
        wrong = sum(outcome.fault is not None for outcome in outcomes)
        print(f"\n{right} answers right, {wrong} wrong, {len(outcomes) - right - wrong} unchecked")
    return int(wrong > 0)


def main(argv: list[str]) -> int:
    """Run the data sets; returns the exit code."""
    return exit_code(lambda: _run(argv))

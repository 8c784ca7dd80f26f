"""``python -m perf gpu-calls GRAPH ...``: what a call on a GPU takes beside its loop, and results to look at.

    python -m perf gpu-calls rmat:scale=24,symmetrize,permute karate.txt --out FILE

``loop`` is the time of the kernels, by events or the device's clock; ``call`` the wall time around a call
of gpop's function, with layouts and kernels there; ``look`` that of bringing all arrays of its result to
the host afterwards, which happens when somebody looks at them. ``program``: BFS as a user writes it, who
sets fields on the host; ``arrays``: the same with CuPy arrays for fields, where nothing is ever brought; that
CuPy fills them before does not count. Medians of ``--rounds`` calls, apps in turns. Bars: call over loop
`BAR_ARRAYS` for arrays, `BAR` for the others, on graphs of `MANY_EDGES` or more; on smaller ones what is
added, `BAR_ADDED` us.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpop
from gpop.apps.bfs import BFS, NOT_REACHED
from gpop.common.command import exit_code
from gpop.gpu.device import cupy
from perf.calls import look_at
from perf.graphs import name_of, normal, open_graph, with_weights
from perf.parser import with_out
from perf.provenance import perf_command, written

BAR_ARRAYS, BAR, BAR_ADDED = 1.3, 1.5, 60
MANY_EDGES = 1 << 26

Calls = dict[str, tuple[Callable[[], Any], Callable[[], Any]]]
"""What comes before a call and does not count, and the call."""


def calls_on(graph: gpop.Graph, source: int) -> Calls:
    """A call of every app, by name."""
    weighted = with_weights(graph)
    parent, level = (cupy().empty(graph.n, dtype) for dtype in (np.uint32, np.int32))

    def fill() -> None:
        parent.fill(NOT_REACHED)
        level.fill(-1)
        parent[source], level[source] = source, 0
        cupy().cuda.runtime.deviceSynchronize()

    def arrays() -> Any:
        program = BFS(graph)
        program.parent, program.level = parent, level
        return gpop.run(program, [source], target="gpu")

    def program() -> Any:
        program = BFS(graph)
        program.parent[source], program.level[source] = source, 0
        return gpop.run(program, [source], target="gpu")

    def nothing() -> None:
        pass

    return {
        "bfs": (nothing, lambda: gpop.bfs(graph, source, target="gpu")),
        "program": (nothing, program),
        "arrays": (fill, arrays),
        "sssp": (nothing, lambda: gpop.sssp(weighted, source, target="gpu")),
        "pagerank": (nothing, lambda: gpop.pagerank(graph, iterations=10, target="gpu")),
        "cc": (nothing, lambda: gpop.connected_components(graph, target="gpu")),
    }


def measured(calls: Calls, rounds: int) -> dict[str, np.ndarray]:
    """Median seconds of loop, call and look, by app."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in calls}
    for turn in range(-2, rounds):
        for name, (before, call) in calls.items():
            result = None  # the arrays of one result at a time
            before()
            begin = time.perf_counter()
            result = call()
            called = time.perf_counter()
            run = getattr(result, "run", result)
            if run is not result:
                look_at(result)
            looked = time.perf_counter()
            if turn >= 0:
                found[name].append((run.seconds, called - begin, looked - called))
    return {name: np.median(rows, axis=0) for name, rows in found.items()}


def _run(argv: list[str]) -> None:
    parser = with_out("gpu-calls", __doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="a file, or KIND:SIZE=VALUE,...")
    parser.add_argument("--rounds", type=int, default=15, metavar="R", help="default: %(default)s")
    given = parser.parse_args(argv)
    with written(given.out, perf_command("gpu-calls", argv), gpu=True):
        _table([normal(spec) for spec in given.graphs], given)


HEADER = f"{'app':10}{'loop ms':>10}{'call ms':>10}{'added us':>10}{'call/loop':>11}{'look ms':>10}  bar"


def row(name: str, edges: int, loop: float, call: float, look: float) -> str:
    """A line of the table, from seconds.

    Examples
    --------
    >>> row("bfs", 78, 30e-6, 100e-6, 0.0)
    'bfs            0.030     0.100        70       3.33     0.000  missed'
    """
    added = 1e6 * (call - loop)
    if edges >= MANY_EDGES:
        met = call / loop <= (BAR_ARRAYS if name == "arrays" else BAR)
    else:
        met = added <= BAR_ADDED
    line = f"{name:10}{1e3 * loop:10.3f}{1e3 * call:10.3f}{added:10.0f}{call / loop:11.2f}{1e3 * look:10.3f}"
    return f"{line}  {'met' if met else 'missed'}"


def _table(specs: list[str], given: argparse.Namespace) -> None:
    width = max(map(len, map(name_of, specs))) + 2
    print(f"{'graph':{width}}{HEADER}")
    for spec in specs:
        graph = open_graph(spec)
        source = int(np.argmax(graph.out_degree))
        for name, seconds in measured(calls_on(graph, source), given.rounds).items():
            print(f"{name_of(spec):{width}}{row(name, graph.m, *seconds)}", flush=True)


def main(argv: list[str]) -> int:
    """Measure and print the table."""
    return exit_code(lambda: _run(argv))

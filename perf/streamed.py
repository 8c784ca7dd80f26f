"""``python -m perf streamed``: apps on a GPU whose edges do not fit the budget, beside the same in memory.

Graphs: files or generators (``perf.graphs``), for weighted apps with random weights where they have none.
Contenders, one after the other: in memory; streamed in modes auto, sc and pc with ``--budget`` bytes per
vertex, and with room for all; and a plain stream of everything, that is, all edges in every round through two
buffers, of which only the copies are done: no program of that kind takes less. A round that is not counted
comes first; seconds are those of CUDA events around the iteration loop, of one iteration for PageRank.
Link: bytes that came over it (predicted from what was active, ``gpop.model.link_bytes``), in multiples of the
edges' own bytes, their rate, and the share of what was read that the device had. Answers must be equal, and
what a run takes of the device within its budget.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.gpu.device import cupy, pinned_copy
from perf.graphs import open_graph, vertex, with_weights
from perf.parser import with_out
from perf.provenance import perf_command, written

APPS = ("bfs", "sssp", "pagerank")
ITERATIONS = 10
BUFFER = 1 << 26
"""Bytes of each of the two buffers of the plain stream."""

TOLERANCE = 1e-5

KRON26, BARS = 1 << 26, {"bfs": 160.0, "sssp": 470.0, "pagerank": 110.0}
"""Most milliseconds, of PageRank an iteration, that symmetric RMAT graphs of so many vertices may take."""


class Outcome(NamedTuple):
    """One run: its seconds, rounds, answer, and what its trace says of the link (None in memory)."""

    seconds: float
    rounds: int
    answer: np.ndarray
    link: dict[str, Any] | None


def solve(graph: gpop.Graph, app: str, source: int, **options: Any) -> Outcome:
    """One run of an app on the GPU."""
    if app == "pagerank":
        found = gpop.pagerank(graph, iterations=ITERATIONS, target="gpu", **options)
        answer = found.rank
    elif app == "bfs":
        found = gpop.bfs(graph, source, target="gpu", **options)
        answer = found.level
    else:
        found = gpop.sssp(graph, source, target="gpu", method="messages", **options)
        answer = found.distance
    run = found.run
    return Outcome(run.seconds, run.iterations, answer, run.trace.summary.get("link"))


def edge_bytes(graph: gpop.Graph, weighted: bool) -> int:
    """Bytes of the edges in CSR."""
    return graph.indices.nbytes + (graph.weights.nbytes if weighted else 0)


def copy_rate(nbytes: int) -> float:
    """Bytes per second of a copy from pinned memory through two buffers, each on a stream of its own."""
    size = min(nbytes, 1 << 30) // BUFFER * BUFFER or BUFFER
    host = pinned_copy(np.ones(size, np.uint8), size)
    buffers = [cupy().zeros(BUFFER, np.uint8) for _ in range(2)]
    streams = [cupy().cuda.Stream(non_blocking=True) for _ in range(2)]
    seconds = []
    for _ in range(4):
        begin, end = cupy().cuda.Event(), cupy().cuda.Event()
        begin.record(streams[0])
        for part, first in enumerate(range(0, size, BUFFER)):
            buffers[part % 2].set(host[first : first + BUFFER], stream=streams[part % 2])
        streams[1].synchronize()
        end.record(streams[0])
        end.synchronize()
        seconds.append(1e-3 * cupy().cuda.get_elapsed_time(begin, end))
    return size / statistics.median(seconds[1:])


def contenders(graph: gpop.Graph, modes: list[str], budget: int) -> dict[str, dict[str, Any]]:
    """Name and options of each."""
    streamed = {"residency": "stream", "device_memory": budget * graph.n}
    return {
        "in memory": {"residency": "device"},
        **{f"streamed, {mode}": {**streamed, "mode": mode} for mode in modes},
        "streamed, room for all": {"residency": "stream"},
    }


def measure(graph: gpop.Graph, app: str, modes: list[str], rounds: int, budget: int, rate: float) -> bool:
    """Print the table of one app; whether all answers were right, and no budget was exceeded."""
    if app == "sssp":
        graph = with_weights(graph)
    source, edges = vertex(graph, "max-degree"), edge_bytes(graph, app == "sssp")
    wanted, base, good = None, 0.0, True
    for name, options in contenders(graph, modes, budget).items():
        try:
            found = [solve(graph, app, source, **options) for _ in range(rounds + 1)][1:]
        except gpop.NotEnoughMemory as error:
            print(f"{app:9}{name:24}  {error}", flush=True)
            continue
        seconds = statistics.median(each.seconds for each in found)
        last, parts = found[-1], found[-1].rounds if app == "pagerank" else 1
        if wanted is None:
            wanted, base = last.answer, seconds
            everything = last.rounds * edges
            print(
                f"{app:9}{'plain stream, copies':24}{1e3 * everything / rate / parts:9.2f}"
                f"{everything / rate / base:8.2f}{everything / edges / parts:9.3f}{rate * 1e-9:7.1f}"
            )
        right = np.allclose(last.answer, wanted, rtol=TOLERANCE, atol=0)
        line = f"{app:9}{name:24}{1e3 * seconds / parts:9.2f}{seconds / base:8.2f}"
        if last.link is not None:
            over = sum(last.link["bytes"])
            hits = statistics.mean(last.link["hits"])
            line += f"{over / edges / parts:9.3f}{over / seconds * 1e-9:7.1f}{hits:6.2f}"
            line += f"{last.link['peak_bytes'] / 1e6:9.0f}{last.link['budget'] / 1e6:9.0f}"
            line += f"{last.link['resident_bytes'] / 1e6:9.0f}"
            if last.link["peak_bytes"] > last.link["budget"]:
                line, good = line + "  TOO MUCH", False
        print(line + ("" if right else "  WRONG"), flush=True)
        good &= right
        if graph.n == KRON26 and name == "streamed, auto":
            print(f"{app:9}{'':24}{BARS[app]:9.2f}  at most, asked for with 60 bytes a vertex over 55 GB/s")
        graph.drop("device")
        cupy().get_default_memory_pool().free_all_blocks()
    return good


def _run(argv: list[str]) -> int:
    parser = with_out("streamed", __doc__)
    parser.add_argument("graphs", nargs="+", help="files or generators")
    parser.add_argument("--apps", default=",".join(APPS), help="default %(default)s")
    parser.add_argument("--modes", default="auto,sc,pc", help="of streamed runs (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="that are counted (default %(default)s)")
    parser.add_argument(
        "--budget", type=int, default=60, help="bytes of device memory per vertex (default %(default)s)"
    )
    given: argparse.Namespace = parser.parse_args(argv)
    for app in given.apps.split(","):
        if app not in APPS:
            raise UsageError(f"--apps: {app!r}: expected some of {','.join(APPS)}")
    good = True
    with written(given.out, perf_command("streamed", argv), gpu=True):
        for spec in given.graphs:
            graph = open_graph(spec)
            rate = copy_rate(graph.indices.nbytes)
            share = given.budget * graph.n / edge_bytes(graph, False)
            print(f"{spec}: {graph!r}, budget {given.budget} bytes a vertex, {share:.2f} of the edges' own")
            print(
                f"{'':33}{'ms':>9}{'of mem':>8}{'x edges':>9}{'GB/s':>7}{'hits':>6}"
                f"{'peak MB':>9}{'budget':>9}{'pages':>9}"
            )
            for app in given.apps.split(","):
                good &= measure(graph, app, given.modes.split(","), given.rounds, given.budget, rate)
    return int(not good)


def main(argv: list[str] | None = None) -> int:
    """Print the tables; 1 if an answer differs, or a budget was exceeded."""
    return exit_code(lambda: _run(sys.argv[2:] if argv is None else argv))

"""``python -m perf auto GRAPH ...``: auto beside every mode that can be forced.

    python -m perf auto rmat:scale=20,symmetrize,permute uniform:scale=20 data/road.bin --apps bfs,pagerank

Each number is the median wall time of a call of gpop's function, from the graph to the whole result, with
layouts and kernels there. Modes take turns, the first of them another one each time, so that a slow minute
hits all; they do so ``--rounds`` times, and on until each has been called for ``--seconds`` in all. A mode
that takes `HOPELESS` times as long as auto has one turn. ``ratio`` is auto over the best of the others, at
most `BAR`. All modes must give the same answer.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import GpopError
from gpop.common.parallel import worker_count
from gpop.model.strategies import TREE, asked_on
from perf.algorithms import ALGORITHMS, Algorithm
from perf.graphs import name_of, normal, open_graph
from perf.parser import documented
from perf.provenance import perf_command, written

MODES = tuple(mode for mode in asked_on("cpu") if mode != TREE)
BAR = 1.05
HOPELESS = 4


def times(
    algorithm: Algorithm, graph: gpop.Graph, threads: int, rounds: int, seconds: float
) -> dict[str, list[float]]:
    """Wall times of the calls in each mode."""
    graph, flags = algorithm.graph(graph), next(iter(algorithm.variants.values()))

    def call(mode: str) -> object:
        return algorithm.call(graph, flags, {"mode": mode, "threads": threads})

    def timed(mode: str) -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        result = call(mode)
        return time.perf_counter() - start, algorithm.answer(graph, result)

    found, right = {}, None
    for mode in MODES:  # auto first; a second time, as what it chooses may depend on what it has done
        call(mode)
        found[mode], answer = timed(mode)
        right = answer if right is None else right
        if not np.allclose(answer, right, rtol=algorithm.tolerance, atol=algorithm.tolerance):
            raise GpopError(f"{algorithm.name} on {graph!r}: {mode} and {MODES[0]} give different answers")
    hopeful = [mode for mode in MODES if found[mode] < HOPELESS * found[MODES[0]]]
    found = {mode: [] if mode in hopeful else [took] for mode, took in found.items()}
    turn = 0
    while turn < rounds or min(sum(found[mode]) for mode in hopeful) < seconds:
        for i in range(len(hopeful)):
            mode = hopeful[(turn + i) % len(hopeful)]
            found[mode].append(timed(mode)[0])
        turn += 1
    return found


def row(found: dict[str, list[float]]) -> tuple[str, float]:
    """Medians in ms, the best forced mode, and what auto takes of its time."""
    median = {mode: statistics.median(values) for mode, values in found.items()}
    auto = median.pop("auto")
    best = min(median, key=median.__getitem__)
    numbers = "".join(f"{1e3 * value:11.3f}" for value in (auto, *median.values()))
    return f"{numbers}  {best:5}{auto / median[best]:7.2f}", auto / median[best]


def _run(argv: list[str]) -> None:
    parser = documented("auto", __doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="a file, or KIND:SIZE=VALUE,...")
    parser.add_argument("--apps", type=_names, default=list(ALGORITHMS), help=f"of {','.join(ALGORITHMS)}")
    parser.add_argument("--threads", type=_positive, default=worker_count(), metavar="T")
    parser.add_argument("--rounds", type=_positive, default=5, metavar="R", help="at least; default: 5")
    parser.add_argument("--seconds", type=float, default=0.1, metavar="S", help="default: %(default)s")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the output there too")
    given = parser.parse_args(argv)
    specs = [normal(spec) for spec in given.graphs]
    with written(given.out, perf_command("auto", argv)):
        _table(specs, given)


def _table(specs: list[str], given: argparse.Namespace) -> None:
    width, ratios = max(map(len, map(name_of, specs))) + 2, []
    print(f"{given.threads} threads; medians of wall times of calls, ms; bar: ratio at most {BAR}")
    print(f"{'graph':{width}}{'app':10}{''.join(f'{mode:>11}' for mode in MODES)}  best   ratio")
    for spec in specs:
        graph = open_graph(spec)
        for name in given.apps:
            found = times(ALGORITHMS[name], graph, given.threads, given.rounds, given.seconds)
            line, ratio = row(found)
            ratios.append(ratio)
            print(f"{name_of(spec):{width}}{name:10}{line}", flush=True)
    above = sum(ratio > BAR for ratio in ratios)
    print(f"{above} of {len(ratios)} above the bar; worst {max(ratios):.2f}")


def _names(text: str) -> list[str]:
    for name in text.split(","):
        if name not in ALGORITHMS:
            raise argparse.ArgumentTypeError(f"{name!r}: expected some of {','.join(ALGORITHMS)}")
    return text.split(",")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1 on")
    return int(text)


def main(argv: list[str]) -> int:
    """Measure and print the table."""
    return exit_code(lambda: _run(argv))

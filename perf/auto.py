"""``python -m perf auto GRAPH ...``: auto beside every mode that can be forced.

    python -m perf auto rmat:scale=20,symmetrize,permute uniform:scale=20 data/road.bin --apps bfs,pagerank
    python -m perf auto rmat:scale=22,symmetrize --target gpu

On the CPU each number is the median wall time of a call of gpop's function, from the graph to the whole
result, with layouts and kernels there; on a GPU that of the loop, by its events, and the modes are all
strategies that can be asked for by name. ``auto`` is a call in which nothing is asked for: it may be by a
method that has no modes. Where auto goes by the times of its ways, it is called until it
knows them, as it does for who calls it often; what it takes first is the model's choice. Then modes take
turns, so that a slow minute hits all, in another order each time (seeded), so that none always finds the
caches as the same other one left them: after a pull, a push took 1.2 times as long. They do so ``--rounds``
times, and on until each has been called for ``--seconds`` in all. A mode that takes `HOPELESS` times as long
as auto has one turn. ``ratio`` is auto over the best of the others, turn by turn (`perf.in_turns`), at most
`BAR`. All modes must give the same answer; one that an app does not have has none.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import GpopError, UsageError
from gpop.common.parallel import worker_count
from gpop.model.asked import asked_on
from gpop.model.strategies import TREE
from perf.algorithms import ALGORITHMS, Algorithm
from perf.graphs import name_of, normal, open_graph
from perf.in_turns import ratio_in_turns
from perf.parser import with_out
from perf.provenance import perf_command, written

BAR = 1.05
HOPELESS, PATIENCE = 4, 1000
"""Times the time of auto; and calls of auto, at most, before it is timed."""


def modes_of(target: str) -> tuple[str, ...]:
    """``auto`` and what can be forced."""
    return tuple(mode for mode in asked_on(target) if mode != TREE)


def times(
    algorithm: Algorithm, graph: gpop.Graph, options: dict[str, Any], rounds: int, seconds: float
) -> dict[str, list[float]]:
    """Seconds that are compared, of each mode that the algorithm has."""
    graph, flags = algorithm.graph(graph), next(iter(algorithm.variants.values()))
    on_gpu = options["target"] == "gpu"

    def called(mode: str) -> Any:
        unforced = algorithm.unforced if mode == "auto" else {}
        return algorithm.call(graph, flags, {"mode": mode, **unforced, **options})

    def timed(mode: str) -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        result = called(mode)
        took = result.run.seconds if on_gpu else time.perf_counter() - start
        return took, algorithm.answer(graph, result)

    def knows() -> bool:
        """Whether another call of auto leaves it with nothing to try."""
        choice = called("auto").run.trace.summary.get("choice")
        return choice is None or choice["by"] == "times"

    found, right = {}, None
    for mode in modes_of(options["target"]):  # auto first
        try:
            timed(mode)  # a second time, as what it chooses may depend on what it has done
        except UsageError:
            if mode == "auto":
                raise
            continue
        found[mode], answer = timed(mode)
        right = answer if right is None else right
        if not np.allclose(answer, right, rtol=algorithm.tolerance, atol=algorithm.tolerance):
            raise GpopError(
                f"{algorithm.name} on {graph!r}: {mode} and {next(iter(found))} give different answers"
            )
    if not on_gpu:
        any(knows() for _ in range(PATIENCE))
    hopeful = [mode for mode in found if found[mode] < HOPELESS * found["auto"]]
    found = {mode: [] if mode in hopeful else [took] for mode, took in found.items()}
    turn, order = 0, np.random.default_rng(1)
    while turn < rounds or min(sum(found[mode]) for mode in hopeful) < seconds:
        for mode in order.permutation(hopeful):
            found[mode].append(timed(str(mode))[0])
        turn += 1
    return found


def row(found: dict[str, list[float]], modes: Sequence[str], width: int) -> tuple[str, float]:
    """Medians in ms, the best forced mode, and what auto takes of its time."""
    median = {mode: statistics.median(values) for mode, values in found.items()}
    auto = found["auto"]
    ratios = {mode: ratio_in_turns(auto, found[mode], len(auto)) for mode in found if mode != "auto"}
    best = max(ratios, key=ratios.__getitem__)
    cells = (f"{1e3 * median[mode]:.3f}" if mode in median else "-" for mode in modes)
    numbers = "".join(f"{cell:>{width}}" for cell in cells)
    return f"{numbers}  {best:{width}}{ratios[best]:6.2f}", ratios[best]


def _run(argv: list[str]) -> None:
    parser = with_out("auto", __doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="a file, or KIND:SIZE=VALUE,...")
    parser.add_argument("--apps", type=_names, default=list(ALGORITHMS), help=f"of {','.join(ALGORITHMS)}")
    parser.add_argument("--target", choices=("cpu", "gpu"), default="cpu", help="default: %(default)s")
    parser.add_argument("--threads", type=_positive, metavar="T", help="of the CPU; default: all")
    parser.add_argument("--rounds", type=_positive, default=5, metavar="R", help="at least; default: 5")
    parser.add_argument("--seconds", type=float, default=0.1, metavar="S", help="default: %(default)s")
    given = parser.parse_args(argv)
    specs = [normal(spec) for spec in given.graphs]
    with written(given.out, perf_command("auto", argv), gpu=given.target == "gpu"):
        _table(specs, given)


def _table(specs: list[str], given: argparse.Namespace) -> None:
    width, ratios = max(map(len, map(name_of, specs))) + 2, []
    modes = modes_of(given.target)
    column = max(10, *(len(mode) + 2 for mode in modes))
    options = {"target": given.target}
    if given.target == "cpu":
        options["threads"] = given.threads or worker_count()
        print(f"{options['threads']} threads; medians of wall times of calls, ms; bar: ratio at most {BAR}")
    else:
        print(f"medians of the loop's time by its events, ms; bar: ratio at most {BAR}")
    names = "".join(f"{mode:>{column}}" for mode in modes)
    print(f"{'graph':{width}}{'app':10}{names}  {'best':{column}} ratio")
    for spec in specs:
        graph = open_graph(spec)
        for name in given.apps:
            found = times(ALGORITHMS[name], graph, options, given.rounds, given.seconds)
            line, ratio = row(found, modes, column)
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

"""``python -m perf calls GRAPH ...``: wall time of a call of every app, beside its peer's.

    python -m perf calls rmat:scale=20,symmetrize,permute data/road.bin --gapbs ~/gapbs --out FILE
    python -m perf calls data/road.bin --apps pr,nibble --original ~/GPOP --pcpm ~/pcpm/src/pcpm/pr

A number is the median wall time around a call of gpop's function, from the graph to the whole result, with
layouts and kernels there; ``loop`` is the part of it that is spent in the loop, ``added`` the rest. With
``--gapbs`` the suite's programs run what they have, from the same sources and by the same rules, and take
turns with gpop (`perf.gap`, which also verifies every result of these six), and so do with ``--original`` and
``--pcpm`` those of GPOP's authors (`perf.original`); ``ratio`` is gpop's call over the fastest peer's own
time without its loading, round by round (`perf.in_turns`), at most `BAR`. ``least`` is a call on a graph of
one edge, median of `LEAST_CALLS`: what a call takes in which nothing is to be done. Where that alone is above
the bar the ratio is marked by ``*``, and the last line leaves it out.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import gpop
from gpop.apps.with_messages import APPS
from gpop.common.command import exit_code
from gpop.common.parallel import worker_count
from perf.gap import Measured, Suite, having, measure, run_others
from perf.gap_kernels import KERNELS
from perf.gap_sources import SEED, sources
from perf.graphs import name_of, normal, open_graph, with_weights
from perf.original import STEPS, Peer, original, pcpm
from perf.parser import with_out
from perf.provenance import perf_command, written

BAR = 0.95
LEAST_CALLS = 200
SAMPLED = 16
"""Sources of closeness."""

Call = Callable[[gpop.Graph, int, dict[str, Any]], Any]

DIRECT: dict[str, Call] = {
    "clustering": lambda graph, source, options: gpop.clustering(graph, **options),
    "closeness": lambda graph, source, options: gpop.closeness(graph, sources=SAMPLED, **options),
    "coloring": lambda graph, source, options: gpop.coloring(graph, **options),
    "core_number": lambda graph, source, options: gpop.core_number(graph, **options),
    "label_propagation": lambda graph, source, options: gpop.label_propagation(graph, **options),
    "spanning_forest": lambda graph, source, options: gpop.spanning_forest(with_weights(graph), **options),
    "strong_components": lambda graph, source, options: gpop.strong_components(graph, **options),
}
"""Apps that send no messages and are no kernels of the suite."""

SAME = {"pagerank": "pr"}
"""Apps that are kernels of the suite under another name."""


def _others() -> dict[str, Call]:
    calls: dict[str, Call] = {}
    for name, app in APPS.items():
        if SAME.get(name, name) not in KERNELS:
            calls[name] = lambda graph, source, options, app=app: app.solve(
                with_weights(graph) if app.weighted else graph, source, options
            )
    return calls | DIRECT


OTHERS = _others()
NAMES = (*KERNELS, *OTHERS)


def look_at(result: Any) -> None:
    """Have all of a result: it is made when it is looked at."""
    for field in fields(result):
        getattr(result, field.name)


def alone(
    name: str, graph: gpop.Graph, given: argparse.Namespace, folder: Path, peers: Sequence[Peer] = ()
) -> Measured:
    """Calls of an app that is no kernel of the suite, each from the next source."""
    drawn = sources(graph.out_degree, given.seed)
    roots = list(itertools.islice(drawn, given.trials))
    call, options = OTHERS[name], {"threads": given.threads}
    begin = time.perf_counter()
    first = call(graph, roots[0], options)
    prepared = time.perf_counter() - begin - first.run.seconds
    found = Measured(name, graph.name, [], [], prepared, rounds=given.rounds)
    peers, copy = having(peers, name, graph, folder)
    for _ in range(given.rounds):
        for root in roots:
            call(graph, root, options)  # as peers have done a round from there when the clock starts
            result = None  # the arrays of one result at a time
            begin = time.perf_counter()
            result = call(graph, root, options)
            look_at(result)
            found.ours.append(time.perf_counter() - begin)
            found.loops.append(result.run.seconds)
        run_others(found, peers, copy, roots, STEPS)
    found.take_best()
    return found


def least_call(name: str, threads: int) -> float:
    """Median seconds of a call on one edge, both ways, and some vertices."""
    graph = with_weights(gpop.Graph.from_edges([0, 1], [1, 0], n=SAMPLED))
    options, seconds = {"threads": threads}, []
    for _ in range(LEAST_CALLS):
        begin = time.perf_counter()
        if name in KERNELS:
            KERNELS[name].call(graph, [0] * KERNELS[name].roots, options)
        else:
            OTHERS[name](graph, 0, options)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


HEADER = f"{'app':23}{'calls':>6}{'wall ms':>11}{'loop ms':>11}{'added us':>10}{'least us':>10}"
PEER = f"{'peer ms':>11}{'ratio':>8}"


def out_of_reach(found: Measured, least: float) -> bool:
    """Whether no call could be as fast as the bar asks for."""
    return least > BAR * statistics.median(found.theirs)


def row(found: Measured, least: float, width: int) -> str:
    """A line of the table; ``least``: see `least_call`."""
    wall, loop = statistics.median(found.ours), statistics.median(found.loops)
    added = statistics.median(a - b for a, b in zip(found.ours, found.loops, strict=True))
    line = f"{found.graph:{width}}{found.kernel:23}{len(found.ours):6}{1e3 * wall:11.3f}{1e3 * loop:11.3f}"
    line += f"{1e6 * added:10.0f}{1e6 * least:10.0f}"
    if found.theirs:
        theirs = statistics.median(found.theirs)
        short = "*" if out_of_reach(found, least) else ""
        line += f"{1e3 * theirs:11.3f}" + (f"{found.ratio:8.2f}{short}" if theirs else f"{'':8}*")
    return f"{line}  {found.note}".rstrip()


def _names(text: str) -> list[str]:
    for name in text.split(","):
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"{name!r}: expected some of {','.join(NAMES)}")
    return text.split(",")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1 on")
    return int(text)


def _run(argv: list[str]) -> None:
    parser = with_out("calls", __doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="a file, or KIND:SIZE=VALUE,...")
    parser.add_argument("--apps", type=_names, default=list(NAMES), help=f"of {','.join(NAMES)}")
    parser.add_argument("--trials", type=_positive, default=4, metavar="N", help="sources; default: 4")
    parser.add_argument("--rounds", type=_positive, default=3, metavar="R", help="of all trials; default: 3")
    parser.add_argument("--threads", type=_positive, default=worker_count(), metavar="T")
    parser.add_argument("--delta", type=_positive, metavar="D", help="of sssp's buckets, for both sides")
    parser.add_argument("--gapbs", type=Path, metavar="DIR", help="folder with the programs of GAPBS")
    parser.add_argument("--original", type=Path, metavar="DIR", help="folder with the programs of GPOP")
    parser.add_argument("--pcpm", type=Path, metavar="FILE", help="the program of PCPM")
    given = parser.parse_args(argv)
    given.seed = SEED
    suite = Suite(given.gapbs.expanduser(), given.threads) if given.gapbs else None
    peers = [original(given.original.expanduser(), given.threads)] if given.original else []
    peers += [pcpm(given.pcpm.expanduser(), given.threads)] if given.pcpm else []
    with written(given.out, perf_command("calls", argv)):
        _table([normal(spec) for spec in given.graphs], given, suite, peers)


def _table(specs: list[str], given: argparse.Namespace, suite: Suite | None, peers: Sequence[Peer]) -> None:
    print(f"{given.threads} threads; medians; bar: ratio at most {BAR}")
    width, ratios = max(map(len, map(name_of, specs))) + 2, []
    least = {name: least_call(name, given.threads) for name in given.apps}
    print(f"{'graph':{width}}{HEADER}{PEER}")
    for spec in specs:
        graph = open_graph(spec)
        graph.name = name_of(spec)
        with tempfile.TemporaryDirectory() as folder:
            for name in given.apps:
                if name in KERNELS:
                    found = measure(name, graph, given, suite, Path(folder), given.delta, peers)
                else:
                    found = alone(name, graph, given, Path(folder), peers)
                print(row(found, least[name], width), flush=True)
                if found.theirs and not out_of_reach(found, least[name]):
                    ratios.append(found.ratio)
    if ratios:
        above = sum(ratio > BAR for ratio in ratios)
        print(f"{above} of {len(ratios)} above the bar; worst {max(ratios):.2f}")


def main(argv: list[str]) -> int:
    """Measure and print the table."""
    return exit_code(lambda: _run(argv))

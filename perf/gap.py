"""``python -m perf gap GRAPH ...``: the six kernels of the GAP benchmark suite, by its rules.

    python -m perf gap rmat:scale=20,degree=16,symmetrize data/road.bin --threads 2
    python -m perf gap rmat:scale=20,degree=16,symmetrize --gapbs ~/gapbs --rounds 3 --out FILE

bfs and sssp run 64 trials, each from another random vertex with out-edges; bc runs 16, each from four; pr
(until ranks change by less than 1e-4 in all), cc and tc run 16 (``--trials``: so many of each). Sources are
those that GAPBS itself draws. A trial is one call, from the graph to the whole result; what is built once for
a graph (bins, in-edges) and compiling come before and are told apart, as loading is. Before the trials each
one's result is verified in a way of another kind, and the trial must come to the same. sssp takes random
weights from 1 to 255 where a graph has none, tc the symmetric graph of a directed one.

``--gapbs``: a folder with the suite's programs, made by its Makefile. They get the same graph, threads,
sources and tolerance; their trials and gpop's take turns, ``--rounds`` times; the ratio is that of a turn's
medians (`perf.in_turns`).
``--delta`` is the width of sssp's buckets for both, one for all graphs or one for each; without it gpop
goes by its rule, and GAPBS gets the best of `DELTAS` for the first sources.
Paper: S. Beamer, K. Asanovic, D. Patterson, "The GAP benchmark suite", 2015.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import GpopError, UsageError
from gpop.common.parallel import worker_count
from gpop.graph import transform
from perf.gap_kernels import KERNELS
from perf.gap_sources import SEED, sources
from perf.graphs import name_of, normal, open_graph, with_weights
from perf.in_turns import ratio_in_turns
from perf.original import Peer
from perf.parser import with_out
from perf.provenance import perf_command, written

DELTAS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096)


def _digest(values: Any) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(values)).digest()


@dataclass
class Measured:
    """Seconds of all trials of a kernel on a graph; ``prepared``: seconds before the first.

    ``loops``: those of gpop's that were spent in the loop; ``others``: of further peers, by their names;
    ``rounds``: in how many turns.
    """

    kernel: str
    graph: str
    ours: list[float]
    theirs: list[float]
    prepared: float
    note: str = ""
    loops: list[float] = field(default_factory=list)
    others: dict[str, list[float]] = field(default_factory=dict)
    rounds: int = 1

    @property
    def ratio(self) -> float:
        """What ours take of the peer's time."""
        return ratio_in_turns(self.ours, self.theirs, self.rounds)

    def take_best(self) -> None:
        """Have the fastest of the further peers for the peer, if it is faster."""
        for name, seconds in self.others.items():
            if not self.theirs or statistics.median(seconds) < statistics.median(self.theirs):
                self.theirs, self.note = seconds, f"peer: {name}"


class Suite:
    """The programs of GAPBS."""

    def __init__(self, folder: Path, threads: int) -> None:
        lacking = [name for name in KERNELS if not os.access(folder / name, os.X_OK)]
        if lacking:
            raise UsageError(f"--gapbs {folder}: there is no program {lacking[0]}")
        self.folder, self.threads = folder, threads

    def seconds(self, kernel: str, path: Path, trials: int, *words: str) -> list[float]:
        """Time of each trial."""
        command = [self.folder / kernel, "-f", path, "-n", str(trials), *KERNELS[kernel].words, *words]
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": str(self.threads)}
        )
        found = [float(text) for text in re.findall(r"^Trial Time:\s+([\d.]+)", done.stdout, re.MULTILINE)]
        if done.returncode or len(found) != trials:
            raise GpopError(f"{self.folder / kernel}: {(done.stderr or done.stdout).strip()[-200:]}")
        return found

    def best_delta(self, path: Path) -> int:
        """The width of buckets with which the first trials take the least time."""
        return min(
            DELTAS, key=lambda delta: statistics.median(self.seconds("sssp", path, 3, "-d", str(delta)))
        )


def measure(
    name: str,
    graph: gpop.Graph,
    given: argparse.Namespace,
    suite: Suite | None,
    folder: Path,
    delta: int | None,
    peers: Sequence[Peer] = (),
) -> Measured:
    """All trials of a kernel, verified; the suite's and those of ``peers`` in turn with gpop's."""
    kernel, options = KERNELS[name], {"threads": given.threads}
    if name == "sssp":
        graph = with_weights(graph)
        options |= {"delta": delta} if delta else {}
    if name == "tc" and not graph.is_symmetric():
        graph = graph.symmetrize()
    trials, drawn = given.trials or kernel.trials, sources(graph.out_degree, given.seed)
    roots = [list(itertools.islice(drawn, kernel.roots)) for _ in range(trials)]
    begin = time.perf_counter()
    first = kernel.call(graph, roots[0], options)
    prepared = time.perf_counter() - begin - first.run.seconds
    found = Measured(name, graph.name, [], [], prepared, rounds=given.rounds)
    words: tuple[str, ...] = ()
    if suite:
        path = folder / f"{name}{kernel.suffix}"
        (graph if kernel.suffix == ".wsg" else transform.with_weights(graph, None)).save(path)
        if name == "sssp":
            delta = delta or suite.best_delta(path)
            words = ("-d", str(delta))
            found.note = f"GAPBS with -d {delta}"
    peers, copy = having(peers, name, graph, folder)
    verified: dict[tuple[int, ...], Any] = {}
    for each in roots:  # before anything is timed: it leaves other data and other code in the caches
        if tuple(each) not in verified:
            _verify(name, graph, kernel.call(graph, each, options), each, verified)
    for _ in range(given.rounds):
        for trial in range(trials):
            kernel.call(graph, roots[trial - 1], options)  # the suite's trials follow one another
            result = None  # the arrays of one result at a time
            begin = time.perf_counter()
            result = kernel.call(graph, roots[trial], options)
            kernel.answer(result)
            found.ours.append(time.perf_counter() - begin)
            found.loops.append(result.run.seconds)
            _verify(name, graph, result, roots[trial], verified)
        if suite:
            found.theirs += suite.seconds(name, path, trials, *words)
        iterations = result.run.iterations if name == "pr" else 0
        run_others(found, peers, copy, [each[0] if each else 0 for each in roots], iterations)
    found.take_best()
    return found


def having(peers: Sequence[Peer], app: str, graph: gpop.Graph, folder: Path) -> tuple[list[Peer], Path]:
    """Those that have a program for an app, and the graph as they read it, written if there are some."""
    file = folder / f"{app}.bin"
    found = [peer for peer in peers if peer.has(app, graph)]
    if found:
        (graph if app == "sssp" else transform.with_weights(graph, None)).save(file)
    return found, file


def run_others(
    found: Measured, peers: Sequence[Peer], file: Path, roots: Sequence[int], iterations: int
) -> None:
    """A trial of each peer from each root."""
    for peer in peers:
        seconds = found.others.setdefault(peer.name, [])
        seconds += [peer.seconds(found.kernel, file, root, iterations) for root in roots]


def _verify(
    name: str, graph: gpop.Graph, result: Any, roots: list[int], verified: dict[tuple[int, ...], Any]
) -> None:
    kernel, value = KERNELS[name], _digest(KERNELS[name].answer(result))
    if tuple(roots) in verified:
        fault = None if value == verified[tuple(roots)] else "two trials differ"
    else:
        fault = kernel.fault(graph, result, roots)
        verified[tuple(roots)] = value
    if fault:
        raise GpopError(f"{name} on {graph.name}{f' from {roots}' if roots else ''}: {fault}")


HEADER = f"{'kernel':8}{'trials':>7}{'median ms':>12}{'least ms':>12}{'before s':>10}"
BESIDE = f"{'GAPBS ms':>12}{'ratio':>8}"


def row(found: Measured, width: int) -> str:
    """A line of the table."""
    line = (
        f"{found.graph:{width}}{found.kernel:8}{len(found.ours):7}{1e3 * statistics.median(found.ours):12.3f}"
        f"{1e3 * min(found.ours):12.3f}{found.prepared:10.2f}"
    )
    if found.theirs:
        line += f"{1e3 * statistics.median(found.theirs):12.3f}{found.ratio:8.2f}"
    return f"{line}  {found.note}".rstrip()


def _names(text: str) -> list[str]:
    unknown = [name for name in text.split(",") if name not in KERNELS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r}: expected some of {','.join(KERNELS)}")
    return text.split(",")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1 on")
    return int(text)


def _deltas(text: str) -> list[int]:
    return [_positive(word) for word in text.split(",")]


def _run(argv: list[str]) -> None:
    parser = with_out("gap", __doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="a file, or KIND:SIZE=VALUE,...")
    parser.add_argument("--kernels", type=_names, default=list(KERNELS), help=f"of {','.join(KERNELS)}")
    parser.add_argument("--trials", type=_positive, metavar="N", help="of each kernel; default: GAP's")
    parser.add_argument("--rounds", type=_positive, default=1, metavar="R", help="of all trials; default: 1")
    parser.add_argument("--threads", type=_positive, default=worker_count(), metavar="T")
    parser.add_argument("--delta", type=_deltas, metavar="D,...", help="width of sssp's buckets, by graph")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sources; default: GAP's")
    parser.add_argument("--gapbs", type=Path, metavar="DIR", help="folder with the programs of GAPBS")
    given = parser.parse_args(argv)
    deltas = given.delta or [None]
    if len(deltas) not in (1, len(given.graphs)):
        parser.error(f"--delta has {len(deltas)} numbers: expected 1, or {len(given.graphs)}")
    if given.gapbs and given.seed != SEED:
        parser.error("--seed: GAPBS has one of its own, so that the sources would differ")
    suite = Suite(given.gapbs.expanduser(), given.threads) if given.gapbs else None
    with written(given.out, perf_command("gap", argv)):
        _table([normal(spec) for spec in given.graphs], itertools.cycle(deltas), given, suite)


def _table(
    specs: list[str], deltas: Iterable[int | None], given: argparse.Namespace, suite: Suite | None
) -> None:
    print(f"{given.threads} threads; every result verified by another method")
    width = max(map(len, map(name_of, specs))) + 2
    print(f"{'graph':{width}}{HEADER}{BESIDE if suite else ''}")
    for spec, delta in zip(specs, deltas, strict=False):
        graph = open_graph(spec)
        graph.name = name_of(spec)
        with tempfile.TemporaryDirectory() as folder:
            for name in given.kernels:
                print(row(measure(name, graph, given, suite, Path(folder), delta), width), flush=True)


def main(argv: list[str]) -> int:
    """Measure and print the table."""
    return exit_code(lambda: _run(argv))

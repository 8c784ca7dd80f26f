"""``python -m perf gpu``: the apps on a GPU beside baselines, cuSPARSE's SpMV and a copy, in turns.

Graphs: RMAT of ``--scales`` (degree 16, symmetrised, every edge once, seed 1), files, and those that gpop's
partitions do not help: a 2048 x 2048 grid, a road network of that size, a uniform graph of 2^22 vertices
(and ``uniform-24`` of 2^24 and ``road-8m``, twice as wide, where they are asked for).
Weights: a file's own whole numbers, else random ones from 1 to 255, opposite edges having the same.
Contenders: gpop in modes pc, sc and auto (components: labels by messages, and afforest in auto; triangles:
auto alone); an edge-parallel and a vertex-parallel baseline in CUDA of those that have them
(`perf.gpu_baselines`); for PageRank also ``cupyx.scipy.sparse.csr_matrix @ vector`` in float32 with 32-bit
indices; other programs if given (`perf.gpu_peers`), or their times from elsewhere
(``--external cugraph:perf/peers/cugraph_h200.json``: cuGraph 26.10 of PyPI on an H200, wall times with
results on the device). Each runs once per round, one after the other, after a round that is not counted;
times are those of CUDA events (of the iteration loop), of one iteration for PageRank, of which 20 are done;
the tables have medians and quartiles over the rounds. SpMV includes its launch by CuPy, which graphs of less
than about 0.1 ms an iteration do not hide.
Answers: levels, distances, labels and triangles must equal the CPU's; ranks may differ from those of the CPU
in float64 by 1e-5 of themselves, each of them; the largest such difference stands in the table.
MB are bytes that the model counts (`gpop.model.bytes`); a copy counts bytes read and written.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.copy_bandwidth import copy_bandwidth
from gpop.generate import generate
from gpop.gpu.device import cupy
from gpop.graph.transform import random_weights
from perf import gpu_baselines
from perf.gpu_baselines import Baselines
from perf.gpu_contenders import TOLERANCE, Outcome, contenders, deviation, expected, spmv
from perf.gpu_peers import named, read_external, run_peer, write_raw
from perf.gpu_table import SPMV, Entry, Result, bars, table, wrong
from perf.graphs import WEIGHTS, name_of, vertex
from perf.parser import with_out
from perf.provenance import perf_command, written

APPS = (*gpu_baselines.APPS, "cc", "triangles")
GENERATED = {
    "grid": {"width": 2048, "height": 2048},
    "road": {"width": 2048, "height": 2048},
    "road-8m": {"width": 4096, "height": 2048},
    "uniform": {"scale": 22, "degree": 16, "symmetrize": True},
    "uniform-24": {"scale": 24, "degree": 16, "symmetrize": True},
}
"""Graphs with a name of their own."""

USUAL = ("grid", "road", "uniform")

MOST_SCALE = 25  # SpMV has 32-bit offsets


class Case(NamedTuple):
    """A graph to measure on; ``make`` builds it."""

    name: str
    kind: str
    make: Callable[[], gpop.Graph]


def cases(scales: Iterable[int], graphs: Iterable[str]) -> list[Case]:
    """What to measure on; files must be there."""
    found = []
    for scale in scales:
        options = {"scale": scale, "degree": 16, "seed": 1, "symmetrize": True, "weights": WEIGHTS}
        found.append(Case(f"rmat-{scale}", "rmat", lambda o=options: generate("rmat", **o)))
    for name in graphs:
        if name in GENERATED:
            make = partial(generate, name.partition("-")[0], seed=1, weights=WEIGHTS, **GENERATED[name])
            found.append(Case(name, name, make))
        elif Path(name).is_file():
            found.append(Case(name_of(name), "file", lambda path=name: _load(path)))
        else:
            raise UsageError(f"graph {name}: no such file, nor one of {', '.join(GENERATED)}")
    return found


def _load(path: str) -> gpop.Graph:
    graph = gpop.load(path)
    whole = graph.weights is not None and graph.weights.dtype.kind in "iu"
    return graph if whole else random_weights(graph, *WEIGHTS, seed=1)


def measure(
    graph: gpop.Graph,
    case: Case,
    apps: Iterable[str],
    rounds: int,
    source: int,
    peers: dict[str, str],
    external: dict[str, dict[str, dict[str, float]]],
) -> Result:
    """All contenders on one graph, in turns."""
    baselines, runs = Baselines(graph), {}
    references = {app: expected(graph, app, source) for app in apps}
    for app in apps:
        for name, run in contenders(graph, app, source, baselines).items():
            runs[app, name] = run
        if app == "pagerank":
            runs[app, SPMV] = spmv(graph)
    outcomes: dict[tuple[str, str], list[Outcome]] = {key: [] for key in runs}
    errors: dict[tuple[str, str], float] = {}
    beside: dict[tuple[str, str], list[float]] = {}
    copies = []
    with tempfile.TemporaryDirectory(prefix="gpop-perf-") if peers else nullcontext("") as folder:
        raw = Path(folder) / "graph.raw"
        if peers:
            write_raw(graph, raw)
        for turn in range(rounds + 1):
            for key, run in runs.items():
                outcome = run()
                if outcome.values is not None:
                    error = deviation(outcome.values, references[key[0]])
                    errors[key] = max(errors.get(key, 0.0), error)
                if turn:
                    outcomes[key].append(outcome._replace(values=None))
            if turn:
                copies.append(copy_bandwidth("gpu"))
                for name, command in peers.items():
                    for app, seconds in run_peer(name, command, raw, source).items():
                        beside.setdefault((app, name), []).append(seconds)
    for name, told in external.items():
        for app, seconds in told.get(case.name, {}).items():
            beside[app, name] = [seconds]
    entries = []
    for app in apps:
        entries += [_entry(key, outcomes[key], errors.get(key)) for key in runs if key[0] == app]
        entries += [Entry(*key, seconds) for key, seconds in beside.items() if key[0] == app]
    about = f"{graph.n:,} vertices, {graph.m:,} edges, source {source}"
    return Result(case.name, case.kind, about, float(np.median(copies)), entries, [*peers, *external])


def _entry(key: tuple[str, str], found: list[Outcome], error: float | None) -> Entry:
    right = None if error is None else error <= TOLERANCE
    # An interleaved run does not repeat its number of iterations: the median run's stands for all.
    median = sorted(found, key=lambda outcome: outcome.seconds)[len(found) // 2]
    seconds = [outcome.seconds for outcome in found]
    return Entry(*key, seconds, median.iterations, median.bytes, right, error or 0.0)


def _list(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = with_out("gpu", __doc__)
    parser.add_argument("--scales", type=_list, default=["22", "24"], help="of RMAT (default 22,24)")
    parser.add_argument(
        "--graphs",
        type=_list,
        default=list(USUAL),
        help=f"files, or of {', '.join(GENERATED)} (default: {','.join(USUAL)})",
    )
    parser.add_argument("--apps", type=_list, default=list(APPS), help=f"default {','.join(APPS)}")
    parser.add_argument("--rounds", type=int, default=5, help="that are counted (default %(default)s)")
    parser.add_argument("--source", type=int, help="of bfs and sssp; default: the vertex with most out-edges")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME:COMMAND", help="another program (perf.gpu_peers)"
    )
    parser.add_argument(
        "--external", nargs="+", default=[], metavar="NAME:FILE", help="times taken elsewhere, as JSON, in ms"
    )
    given = parser.parse_args(argv)
    given.words = sys.argv[2:] if argv is None else argv
    if given.rounds < 1:
        raise UsageError(f"--rounds {given.rounds}: expected 1 or more")
    for word in given.apps:
        if word not in APPS:
            raise UsageError(f"--apps: {word!r}: expected some of {','.join(APPS)}")
    for word in given.scales:
        if not (word.isdigit() and int(word) <= MOST_SCALE):
            raise UsageError(f"--scales: {word!r}: expected numbers up to {MOST_SCALE}")
    return given


def _run(given: argparse.Namespace) -> int:
    todo = cases([int(scale) for scale in given.scales], given.graphs)
    peers = dict(named(text) for text in given.peer)
    files = dict(named(text) for text in given.external)
    external = {name: read_external(name, Path(file)) for name, file in files.items()}
    cupy()
    with written(given.out, perf_command("gpu", given.words), gpu=True):
        return _measure_all(todo, given, peers, external)


def _measure_all(
    todo: list[Case],
    given: argparse.Namespace,
    peers: dict[str, str],
    external: dict[str, dict[str, dict[str, float]]],
) -> int:
    """Print a table per graph, then the bars."""
    start, results = time.perf_counter(), []
    for case in todo:
        graph = case.make()
        source = vertex(graph, "max-degree" if given.source is None else given.source)
        results.append(measure(graph, case, given.apps, given.rounds, source, peers, external))
        print(table(results[-1]), end="\n\n", flush=True)
        graph.drop("device")
        del graph
        cupy().get_default_memory_pool().free_all_blocks()
    print("\n".join([*bars(results), *wrong(results)]))
    print(f"{time.perf_counter() - start:.0f} s in all")
    return 1 if wrong(results) else 0


def main(argv: list[str] | None = None) -> int:
    """``python -m perf gpu [--scales 22,24] [--graphs grid,FILE] [--apps ...] ...``"""
    return exit_code(lambda: _run(_parse(argv)))

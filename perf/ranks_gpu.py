"""``python -m perf ranks-gpu``: apps on several GPUs, a rank for each, beside the same on one of them.

    mpiexec -n 2 --bind-to none python -m perf ranks-gpu rmat:scale=24 --out ranks_gpu.txt

Every rank makes its own part of a graph; rank 0 also has the whole, and runs alone on its GPU while the
others wait. Both in turns, after a round that is not counted; medians. Seconds are those of the iteration
loop: alone by CUDA events, which leave the host's time out; together by the clock of the slowest rank, all
included. ``exchange``: of these, those between the iterations of the rank that waited longest (by NCCL or the
host: from the first message packed to the last one taken in). MB: what all ranks send in an iteration;
``of m``: values sent by the number of edges. Answers of every rank's part are compared with those of one GPU:
equal, for PageRank to `TOLERANCE`.

``--budget``: in the last line of a graph, one GPU is given a `SMALLER`-th of what the graph takes there, and
refuses; with as much on each, all together run it.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.apps.pagerank_programs import PageRank
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.common.launched import launched_ranks
from gpop.generate.spec import is_spec, options_of
from gpop.gpu.engine import GpuEngine
from gpop.plan.plan import decide
from gpop.ranks.world import World, end_all, world_of
from perf.graphs import open_graph
from perf.parser import with_out
from perf.provenance import perf_command, written

ITERATIONS = 10
TOLERANCE = 1e-6
SMALLER = 1.6


class Outcome(NamedTuple):
    """One run: its seconds, and its answer on the part of the rank."""

    run: gpop.Run
    answer: np.ndarray


def pagerank(graph: gpop.Graph, source: int, **options: Any) -> Outcome:
    """Ten iterations."""
    found = gpop.pagerank(graph, iterations=ITERATIONS, target="gpu", **options)
    return Outcome(found.run, found.rank)


def bfs(graph: gpop.Graph, source: int, **options: Any) -> Outcome:
    """Levels from a vertex with most out-edges."""
    found = gpop.bfs(graph, source, target="gpu", **options)
    return Outcome(found.run, found.level)


APPS: dict[str, Callable[..., Outcome]] = {"pagerank": pagerank, "bfs": bfs}


def make(spec: str, world: World) -> tuple[gpop.Graph | None, gpop.Graph]:
    """The whole graph, on rank 0, and the rank's part."""
    if is_spec(spec):
        part = gpop.generate_part(spec.partition(":")[0], **options_of(spec))
    else:
        part = gpop.load_part(spec)
    whole = open_graph(spec) if world.rank == 0 else None
    world.barrier()
    return whole, part


def measure(app: str, whole: gpop.Graph | None, part: gpop.Graph, world: World, rounds: int) -> bool:
    """Print the line of an app on rank 0; whether answers are equal."""
    source = int(part.out_degree.argmax())
    alone, together = [], []
    for _ in range(rounds + 1):
        if whole is not None:
            alone.append(APPS[app](whole, source, transport="alone"))
        world.barrier()
        together.append(APPS[app](part, source))
    wanted = world.first_ones(alone[-1].answer if alone else None)
    last = together[-1]
    equal = np.allclose(last.answer, wanted[slice(*last.run.part)], rtol=0, atol=TOLERANCE)
    right = all(world.everyones(bool(equal)))
    slowest = [world.most(np.array([each.run.seconds]))[0] for each in together[1:]]
    if alone:
        one = statistics.median(each.run.seconds for each in alone[1:])
        all_of_them, count = statistics.median(slowest), last.run.iterations
        traffic = last.run.trace.summary["traffic"]
        waited = max(each["waited_seconds"] for each in traffic)
        sent, values = (sum(each[name] for each in traffic) for name in ("bytes", "values"))
        print(
            f"{app:10}{count:7}{1e3 * one:11.2f}{1e3 * all_of_them:11.2f}{one / all_of_them:7.2f}"
            f"{1e3 * waited:10.2f}{sent / count / 1e6:9.2f}{values / count / part.m:8.4f}"
            f"  {last.run.trace.summary['exchange']}{'' if right else '  WRONG'}",
            flush=True,
        )
    return right


def needed(graph: gpop.Graph) -> int:
    """Bytes of a device that ten iterations on it take."""
    engine = GpuEngine(decide(PageRank(graph), target="gpu", limit=ITERATIONS))
    engine.prepare()
    parts, _, own, _ = engine._needs(engine.layout, engine.ready.emitted, engine.traits)
    return own + engine.layout.bytes_of(parts)


def run_what_one_refuses(whole: gpop.Graph | None, part: gpop.Graph, world: World) -> bool:
    """Print on rank 0 what happens with a budget that is too small for one GPU."""
    taken = None if whole is None else needed(whole)
    budget = int(world.first_ones(taken) / SMALLER)
    options = {"residency": "device", "device_memory": budget}
    said = "one GPU runs it, too"
    if whole is not None:
        try:
            pagerank(whole, 0, transport="alone", **options)
        except gpop.NotEnoughMemory as error:
            said = f"one GPU: {error}"
    world.barrier()
    ran = pagerank(part, 0, **options).run
    if whole is not None:
        print(f"{budget / 1e6:.0f} MB a GPU: {said}; {world.size}: {1e3 * ran.seconds:.2f} ms", flush=True)
    return world.first_ones(said != "one GPU runs it, too")


def _run(argv: list[str]) -> int:
    parser = with_out("ranks-gpu", __doc__)
    parser.add_argument("graphs", nargs="+", help="files or generators")
    parser.add_argument("--apps", default=",".join(APPS), help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="that are counted (default %(default)s)")
    parser.add_argument("--budget", action="store_true", help="also run what one GPU refuses")
    given: argparse.Namespace = parser.parse_args(argv)
    for app in given.apps.split(","):
        if app not in APPS:
            raise UsageError(f"--apps: {app!r}: expected some of {','.join(APPS)}")
    world = world_of("auto")
    if world is None:
        raise UsageError("ranks-gpu is for several ranks: expected mpiexec -n 2 python -m perf ranks-gpu ...")
    right = True
    head = written(given.out, perf_command("ranks-gpu", argv), gpu=True)
    with nullcontext() if world.rank else head:
        for spec in given.graphs:
            whole, part = make(spec, world)
            if whole is not None:
                print(f"{spec}: {whole!r}, {world.size} GPUs")
                print(
                    f"{'':10}{'rounds':>7}{'one, ms':>11}{'all, ms':>11}{'times':>7}{'exchange':>10}"
                    f"{'MB':>9}{'of m':>8}",
                    flush=True,
                )
            for app in given.apps.split(","):
                right &= measure(app, whole, part, world, given.rounds)
            if given.budget:
                right &= run_what_one_refuses(whole, part, world)
    return int(not right)


def main(argv: list[str]) -> int:
    """Print the tables; 1 if an answer differs."""
    return exit_code(lambda: _run(argv), end_all if launched_ranks() > 1 else None)

"""``python -m perf ranks-cpu``: how long the engines of several ranks work, beside one process.

    mpiexec -n 2 --bind-to none python -m perf ranks-cpu rmat:scale=20,symmetrize,permute road.bin

Every rank has one thread (or ``--threads``) and its part of a graph; rank 0 also has the whole, and runs
alone on it while the others wait: with as many threads as a rank, and with as many as all ranks together. All
in turns; medians of the rounds. A rank *works* in its compiled loop, from its first thread's entry to its
return, messages included that are chosen, written and taken in, and all that its threads do or wait for among
themselves; not what it *waits* there for other ranks, which is polling. Counted is time on the clock, and
where ranks of one thread are more than cores, the time that they have a core.

    sum       milliseconds that all ranks work, and that over one process with the threads of a rank
    of CPU    the same over what one process with as many threads as all ranks takes, times ranks: two cores
              that work at the same time are slower than one that has the memory to itself
    waits     milliseconds that a rank waits for others, on average
    wall      milliseconds of the slowest rank's run, waiting included, and that over one process with the
              threads of all
    us/level  the same by the number of iterations

Answers of every rank's part are compared with those of the process alone: the same bits.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from statistics import median
from typing import Any

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.common.launched import launched_ranks
from gpop.common.parallel import worker_count
from gpop.ranks import wire
from gpop.ranks.world import World, end_all, world_of
from perf.parser import with_out
from perf.provenance import perf_command, written
from perf.ranks_gpu import ITERATIONS, make

CASES = ("bfs:auto", "bfs:pull", "bfs:sc", "pagerank:pc")
"""App and mode; at a given mode and size of partitions the bits are the same."""


def solve(case: str, graph: gpop.Graph, source: int, **options: Any) -> tuple[gpop.Run, np.ndarray]:
    """One run, and its answer."""
    app, _, mode = case.partition(":")
    if app == "bfs":
        found = gpop.bfs(graph, source, mode=mode, **options)
        return found.run, found.level
    found = gpop.pagerank(graph, iterations=ITERATIONS, mode=mode, **options)
    return found.run, found.rank


def come_together(world: World) -> None:
    """Wait for all ranks, and leave the cores to those that work; then all begin at once."""
    world.rest()
    world.barrier()


def measure(
    case: str, whole: gpop.Graph | None, part: gpop.Graph, world: World, threads: int, rounds: int
) -> bool:
    """Print the line of a case on rank 0; whether answers are equal."""
    source = int(part.out_degree.argmax())
    one, many, sums, waits, walls = [], [], [], [], []
    size = wanted = None
    for _ in range(rounds + 1):
        come_together(world)
        run, answer = solve(case, part, source, threads=threads, partition_size=size)
        size = run.partition_size
        traffic = run.trace.summary["traffic"]
        sums.append(sum(each["loop_seconds"] - each["waited_seconds"] for each in traffic))
        waits.append(sum(each["waited_seconds"] for each in traffic) / world.size)
        walls.append(world.most(np.array([run.seconds]))[0])
        if whole is not None:
            for seconds, count in ((one, threads), (many, threads * world.size)):
                alone, wanted = solve(
                    case, whole, source, threads=count, partition_size=size, transport="alone"
                )
                seconds.append(alone.seconds)
    world.rest()
    wanted = world.first_ones(wanted)
    right = all(world.everyones(bool(np.array_equal(answer, wanted[slice(*run.part)]))))
    if whole is not None:
        spent, waited, wall, first, threaded = (
            1e3 * median(each[1:]) for each in (sums, waits, walls, one, many)
        )
        numbers = f"{first:10.2f}{spent:10.2f}{spent / first:9.3f}{threaded:11.2f}{wall:10.2f}"
        numbers += f"{wall / threaded:9.3f}{spent / (threaded * world.size):9.3f}{waited:10.2f}"
        numbers += f"{1e3 * wall / run.iterations:10.1f}"
        print(f"{case:14}{run.iterations:7}{numbers}{'' if right else '  WRONG'}", flush=True)
    return right


def _run(argv: list[str]) -> int:
    parser = with_out("ranks-cpu", __doc__)
    parser.add_argument("graphs", nargs="+", help="files or generators")
    parser.add_argument("--cases", default=",".join(CASES), help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=15, help="that are counted (default %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of a rank (default %(default)s)")
    given = parser.parse_args(argv)
    for case in given.cases.split(","):
        if case not in CASES:
            raise UsageError(f"--cases: {case!r}: expected some of {','.join(CASES)}")
    for name in ("rounds", "threads"):
        if getattr(given, name) < 1:
            raise UsageError(f"--{name} {getattr(given, name)}: expected 1 or more")
    world = world_of("auto")
    if world is None:
        raise UsageError("ranks-cpu is for several ranks: expected mpiexec -n 2 python -m perf ranks-cpu ...")
    clock = ""
    if given.threads == 1 and world.local_size > worker_count():
        wire.CLOCK, clock = time.CLOCK_THREAD_CPUTIME_ID, ", time that they have a core"
    right = True
    head = written(given.out, perf_command("ranks-cpu", argv))
    with nullcontext() if world.rank else head:
        for spec in given.graphs:
            whole, part = make(spec, world)
            if whole is not None:
                print(f"{spec}: {whole!r}, {world.size} ranks x {given.threads} threads{clock}")
                together = f"{given.threads * world.size} threads"
                columns = f"{'rounds':>7}{'one, ms':>10}{'sum, ms':>10}{'times':>9}"
                columns += f"{together:>11}{'wall, ms':>10}{'times':>9}{'of CPU':>9}"
                columns += f"{'waits, ms':>10}{'us/level':>10}"
                print(f"{'':14}{columns}", flush=True)
            for case in given.cases.split(","):
                right &= measure(case, whole, part, world, given.threads, given.rounds)
    return int(not right)


def main(argv: list[str]) -> int:
    """Print the tables; 1 if an answer differs."""
    return exit_code(lambda: _run(argv), end_all if launched_ranks() > 1 else None)

"""Run under mpiexec by test_ranks.py: what can be checked with the kernels of few programs.

Arguments: a folder, and perhaps the name of a job of ``OTHERS``, which is all that is done then.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop.common.errors import UsageError
from gpop.cpu import engine as cpu_engine
from gpop.cpu import exchange_in, sharing, team
from gpop.generate import generate
from gpop.ranks.engine import RankEngine
from gpop.ranks.part import part_of
from tests import programs
from tests.ranks import agreement
from tests.ranks.agreement import world
from tests.ranks.job_parts import parts_of_edges, parts_of_files, parts_on_disk, tables, wrong_lines


class Interrupted(Exception):
    """Stands for whatever ends a run."""


def checkpoints(folder: Path) -> None:
    """A run that was ended goes on, on these ranks or alone, to the same bits."""
    graph, options = agreement.graphs()["rmat"], {"mode": "sc", "partition_size": 8, "iterations": 12}

    def run(where: Path | None, **more: Any) -> tuple[np.ndarray, gpop.Run]:
        program = programs.Drift(graph)
        frontier = agreement.masses(program)
        checkpoint = None if where is None else gpop.Checkpoint(where, iterations=4)
        done = gpop.run(program, frontier, **options, threads=1, checkpoint=checkpoint, **more)
        return program.mass, done

    def end_at_10(record: dict) -> None:
        if record["iteration"] == 9:
            raise Interrupted

    expected, _ = run(None, gather=True)
    ours = folder / "ours"
    with contextlib.suppress(Interrupted):
        run(ours, callback=end_at_10)
    world().barrier()
    assert json.loads((ours / "checkpoint.json").read_text())["iteration"] == 8
    if world().rank == 0:
        shutil.copytree(ours, folder / "alone")
        mass, done = run(folder / "alone", transport="alone")
        assert np.array_equal(mass, expected) and (done.iterations, len(done.trace)) == (12, 4)
        alone = folder / "started alone"
        with contextlib.suppress(Interrupted):
            run(alone, callback=end_at_10, transport="alone")
    world().barrier()
    for place in (ours, folder / "started alone"):
        mass, done = run(place, gather=True)
        assert np.array_equal(mass, expected) and (done.iterations, len(done.trace)) == (12, 4)
        assert not (place / "checkpoint.json").exists()


def other_ways() -> None:
    """Where ranks see no memory of each other, and where some of them do, the same travels by MPI."""
    ranks = world()
    everybody, machine = ranks.neighbours, ranks.machine
    for machines in ((0, 1, 2), (0, 0, 2)):
        ranks.machine = machines[ranks.rank]
        ranks.neighbours = [each for each in everybody if machines[each[1]] == ranks.machine]
        agreement.graphs.cache_clear()  # what parts have kept
        agreement.main(["drift:sc", "rank:pc"], threads=(2,), sizes=(8,))
        agreement.main(["colours:auto"], threads=(1,), sizes=(64,))
    ranks.neighbours, ranks.machine = everybody, machine
    agreement.graphs.cache_clear()


def lists_of_parts() -> None:
    """Every edge is on one rank, and every mirror is sent by its owner."""
    for graph in agreement.graphs().values():
        part = part_of(graph, 3, world())
        assert world().sum(np.array([part.graph.m]))[0] == graph.m
        names = np.split(part.names, np.cumsum(part.mirror_counts)[:-1])
        wanted = [world().everyones(each) for each in names]
        sends = np.split(part.sends + np.uint32(part.shift), np.cumsum(part.send_counts)[:-1])
        assert all(np.array_equal(a, b) for a, b in zip(sends, wanted[world().rank], strict=True))


def one_compiles(folder: Path) -> None:
    """What rank 0 does first is done when the others begin."""
    done = folder / "compiled"

    def work() -> None:
        if world().rank == 0:
            time.sleep(0.2)  # the others would be there long before
            done.touch()
        assert done.exists(), f"rank {world().rank} was first"

    world().first_alone(work)


def told() -> None:
    """Every rank says what all have sent, and how much of their loops they have waited."""
    program = programs.Drift(agreement.graphs()["rmat"])
    options = {"mode": "sc", "partition_size": 8, "iterations": 12, "threads": 1, "transport": "mpi"}
    run = gpop.run(program, agreement.masses(program), **options)
    traffic = run.trace.summary["traffic"]
    assert len(traffic) == world().size
    assert {each["exchanges"] for each in traffic} == {run.iterations}, traffic
    for each in traffic:
        assert each["bytes"] > each["values"] > 0, each
        assert 0 < each["waited_seconds"] < each["loop_seconds"], each


def asked() -> None:
    """Ranks that pull ask their own vertices: where little is active, the bytes are those of a run alone."""
    graph, options = agreement.graphs()["rmat"], {"mode": "pull", "partition_size": 64, "threads": 1}
    found = []
    for transport in ("alone", "mpi"):
        program = programs.Colours(graph)
        agreement.colours(program)
        found.append(gpop.run(program, transport=transport, **options).trace.column("bytes"))
    assert found[0][-1] == found[1][-1], found


def one_is_due() -> None:
    """The time slice of one rank passes in every iteration: all return behind it; else, they do once."""
    program, options = programs.Drift(agreement.graphs()["rmat"]), {"mode": "sc", "partition_size": 8}
    iterate, slice_ns, returns = RankEngine.iterate, cpu_engine.SLICE_NS, []

    def counted(engine: RankEngine) -> Any:
        found = iterate(engine)
        returns.append(len(found))
        return found

    RankEngine.iterate = counted
    for late, expected in ((False, [7]), (True, [1] * 7)):
        cpu_engine.SLICE_NS = -1 if late and world().rank == 1 else 10**18
        returns.clear()
        gpop.run(program, agreement.masses(program), iterations=7, threads=1, transport="mpi", **options)
        assert [each for each in returns if each] == expected, returns
    RankEngine.iterate, cpu_engine.SLICE_NS = iterate, slice_ns


def early() -> None:
    """Own partitions scatter before all ranks are heard, and it makes no difference to a bit."""
    seen: list[int] = []

    def finish(engine: RankEngine) -> Any:
        seen.append(int(engine.space.exchanged[exchange_in.EARLY]))
        return finished(engine)

    finished, RankEngine.finish = RankEngine.finish, finish
    many = generate("rmat", scale=15, degree=32, seed=3)
    assert many.m // world().size ** 2 > 2 * sharing.EARLY_EDGES
    agreement.CHECKS["short"] = agreement.toy(programs.Drift, begin=agreement.masses, iterations=2)
    for name, mode, graph, whose in (
        ("short", "sc", many, exchange_in.MIRRORS_ONLY),
        ("short", "pc", many, exchange_in.MIRRORS_ONLY),
        ("short", "pc", agreement.graphs()["rmat"], exchange_in.EVERY),  # too little to be worth it
        ("rank", "pc", many, exchange_in.MIRRORS_ONLY),
    ):
        agreement.check(name, mode, "early", graph, threads=(1, 2), sizes=(512,))
        assert {*seen} == {whose}, (name, mode, seen)
        seen.clear()
    RankEngine.finish = finished


def many_edges() -> None:
    """A vertex with more edges than the array of few can say has all of them in the trace."""
    ring = np.arange(40)
    hub = np.zeros(70_000, np.int64)
    graph = gpop.Graph.from_edges(np.append(ring, hub), np.append((ring + 1) % 40, np.arange(hub.size) % 40))
    agreement.check("drift", "sc", "many edges", graph, threads=(1,), sizes=(8,))


def untouched() -> None:
    """A run that stays on one rank is a header an iteration to the others: no memory, no work for threads."""
    own, ranks = 1 << 19, world()
    tails = np.arange(ranks.size * own)
    heads = tails // own * own + (tails + 1) % own  # a ring for each rank, and many begin at vertex 0
    hub = np.zeros(4096, np.int64), np.arange(1, 4097)
    graph = gpop.Graph.from_edges(np.append(tails, hub[0]), np.append(heads, hub[1]))
    seen: list[int] = []

    def finish(engine: RankEngine) -> Any:
        seen.append(int(engine.space.team[team.GENERATION]) & ((1 << team.EPOCH_SHIFT) - 1))
        return finished(engine)

    finished, RankEngine.finish = RankEngine.finish, finish
    for _ in range(2):
        program = programs.Drift(graph)
        program.mass[0], program.inflow[0] = 1, 0  # fields are made here, not by the run
        tracemalloc.start()
        run = gpop.run(program, [0], mode="sc", threads=2, partition_size=1024, iterations=6, transport="mpi")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    RankEngine.finish = finished
    assert run.part[1] - run.part[0] >= own - 4096
    assert run.trace.column("active_edges")[1] >= 4096
    assert ranks.rank == 0 or (peak < own and seen == [0, 0]), (peak, seen)


def refused() -> None:
    """What ranks cannot do is one line, the same on each of them."""
    graph = agreement.graphs()["rmat"]
    for call, line in (
        (lambda: gpop.clustering(graph), "clustering is for a run alone, not for 3 ranks"),
        (lambda: gpop.bfs(graph, 0, target="python"), "target 'python': expected 'cpu'"),
        (lambda: gpop.load_part("x.parquet", header=True), "header= is for text edge lists"),
        (lambda: gpop.load_part("x.parts", columns=(0, 1)), "columns= is for edge lists and tables"),
    ):
        try:
            call()
        except UsageError as error:
            assert line in str(error), error
        else:
            raise AssertionError(f"not refused: {line}")


def in_pull() -> None:
    """What is compiled for this mode alone."""
    agreement.main(["colours:pull"], threads=(1, 2), sizes=(64,))
    asked()


def other_programs() -> None:
    """Who settles, and who sends while others gather."""
    agreement.main(["settled:pc"], threads=(2,), sizes=(8,))
    agreement.main(["counted-interleaved:sc"], threads=(1, 2), sizes=(64,))


def other_exchanges() -> None:
    """Ones in which modes are chosen; before all are heard; and by messages instead of memory."""
    agreement.main(["colours:auto"], threads=(1, 2), sizes=(64,))
    early()
    other_ways()


OTHERS = {"pull": in_pull, "programs": other_programs, "exchanges": other_exchanges}


def all_others(folder: Path) -> None:
    """Everything but that."""
    lists_of_parts()
    parts_of_files(folder)
    parts_of_edges(folder)
    tables(folder)
    wrong_lines(folder)
    parts_on_disk(folder)
    refused()
    agreement.main(["drift:sc", "drift:pc"], threads=(1, 2), sizes=(8,))
    one_compiles(folder)
    told()
    one_is_due()
    many_edges()
    untouched()
    checkpoints(folder)


if __name__ == "__main__":
    OTHERS[sys.argv[2]]() if sys.argv[2:] else all_others(Path(sys.argv[1]))

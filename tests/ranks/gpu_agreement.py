"""Run under mpiexec: what programs give on GPUs, one for each rank, compared with a run alone on one GPU.

On devices, or on the emulator of them, by the host, into each other's memory, or where that is refused (the
first argument: ``devices``, ``emulated``, ``peers`` or ``refused``). Then names of the
checks of `tests.ranks.agreement`, each perhaps with ``:sc`` or another mode, and behind that ``:8`` or
another size of partitions; none: all in all modes. Whole numbers are the same bit by bit; sums of floats may
differ in their last bits, since a GPU adds in no order.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np

import gpop
from gpop.apps.bfs import BFS
from gpop.generate import generate
from gpop.gpu import calibrate
from gpop.gpu.device import cupy
from gpop.model import choosers
from tests import programs
from tests.gpu.emulator import emulated
from tests.ranks.agreement import CHECKS as ON_ALL_TARGETS
from tests.ranks.agreement import MODES, PULLS, WEIGHTED, graphs, root, toy, world

search = toy(BFS, begin=root)


@cache
def more_edges() -> gpop.Graph:
    return generate("rmat", scale=10, degree=16, seed=3)


@cache
def even() -> gpop.Graph:
    return generate("uniform", scale=11, degree=8, seed=3)


def asking(graph: gpop.Graph, **how: Any) -> dict[str, Any]:
    """The same, where to push takes long: with more edges than one block pushes alone, vertices ask."""
    return search(more_edges(), **how | {"ratio": 1000.0})


@cache
def chain() -> gpop.Graph:
    """One vertex after the other, and a hub on the way that has more edges than a warp takes."""
    tails, heads = np.arange(99), np.arange(1, 100)
    leaves = np.arange(100, 2100)
    return gpop.Graph.from_edges(np.append(tails, 0 * leaves + 50), np.append(heads, leaves))


def least_first(program: gpop.Program) -> None:
    program.label = 1
    program.label[0] = 0


def along(graph: gpop.Graph, **how: Any) -> dict[str, Any]:
    """A rank that is through has nothing to do while others go on."""
    return toy(programs.Smallest, begin=least_first)(chain(), **how)


def eighth(program: gpop.Program) -> np.ndarray:
    """Every eighth vertex is a root."""
    roots = np.arange(0, program.graph.n, 8)
    program.parent[roots], program.level[roots] = roots, 0
    return roots


def many(graph: gpop.Graph, **how: Any) -> dict[str, Any]:
    """The same from many vertices: vertices ask in the first iteration."""
    return toy(BFS, begin=eighth)(more_edges(), **how | {"ratio": 1000.0})


def spread(graph: gpop.Graph, **how: Any) -> dict[str, Any]:
    """The same where each of two ranks has a partition of 1,024."""
    return toy(BFS, begin=eighth)(even(), **how)


CHECKS = ON_ALL_TARGETS | {"search": search, "asking": asking, "many": many, "spread": spread, "along": along}
"""What an app's search sends is known to all: on GPUs there are ways for that alone."""

SIZES = {"emulated": (8, 64), "peers": (8, 64), "refused": (8, 64), "devices": (64,)}
"""Vertices per partition; each is a kernel more to compile."""


def close(found: np.ndarray, expected: np.ndarray) -> bool:
    """Equal, or for floats nearly."""
    if expected.dtype.kind != "f":
        return np.array_equal(found, expected)
    return np.allclose(found, expected, rtol=1e-5, atol=1e-7, equal_nan=True)


def check(name: str, mode: str, sizes: tuple[int, ...], where: str) -> int:
    """One program in one mode on all graphs."""
    done = 0
    for graph_name, graph in graphs().items():
        kind, _, interleaved = name.partition("-")
        if kind in WEIGHTED and graph.weights is None:
            continue
        for size in sizes:
            options = {"mode": mode, "partition_size": size, "target": "gpu", "ratio": 1.0}
            alone = None if world().rank else CHECKS[name](graph, transport="alone", **options)
            alone = world().first_ones(alone)
            for gather in (False, True):
                here = CHECKS[name](graph, transport="mpi", gather=gather, **options)
                what = f"{name} {mode} {graph_name} {size} gather={gather}"
                part = slice(None) if gather else slice(*here["part"])
                for field, expected in alone["fields"].items():
                    found = here["fields"][field]
                    # Whoever offers itself first is the parent: on a GPU any of them.
                    found, expected = found[part], expected[part]
                    if field == "parent":
                        found, expected = found == programs.NOWHERE, expected == programs.NOWHERE
                    assert close(found, expected), f"{what}: {field}"
                reached = (where == "peers" or world().size == 1) and kind not in ("buckets", "widest")
                assert where == "devices" or here["exchange"] == ("peer memory" if reached else "host"), what
                # A vertex that waits for its bucket tells what it knows in pc, but not to other ranks.
                if (name, mode) != ("buckets", "pc") and not interleaved:
                    assert here["iterations"] == alone["iterations"], what
                    for key in ("frontier", "sizes", "edges"):
                        assert np.array_equal(here[key], alone[key]), f"{what}: {key}"
                if (name, mode) in TOLD and where == "peers" and size >= 32:  # else there are mirrors
                    TOLD[name, mode](here, alone, size)
                done += 1
    return done


def same_bytes(here: dict[str, Any], alone: dict[str, Any], size: int) -> None:
    """Vertices that ask are counted once, on the rank that has them; who asks again was counted exactly."""
    again = [run["asked"][1:] & run["asked"][:-1] for run in (here, alone)]
    both = 1 + np.flatnonzero(again[0] & again[1])
    assert both.size
    differ = np.abs(here["bytes"][both] - alone["bytes"][both])
    assert np.all(differ <= world().size), (here["bytes"], alone["bytes"])  # each rounds


def near_bytes(here: dict[str, Any], alone: dict[str, Any], size: int) -> None:
    """Each rank estimates what its own vertices look at, and the sum is not far from the estimate of all."""
    assert here["asked"][0] and alone["asked"][0]
    np.testing.assert_allclose(here["bytes"], alone["bytes"], rtol=0.25)


def same_partitions(here: dict[str, Any], alone: dict[str, Any], size: int) -> None:
    """All ranks that own any know which partitions have active vertices."""
    first, last = here["part"]
    owners = int(world().sum(np.array([float(first < last)]))[0])
    level = alone["fields"]["level"]
    active = [np.unique(np.flatnonzero(level == i) // size).size for i in range(here["iterations"])]
    assert active[1] > 1 and np.array_equal(here["sends"], owners * np.array(active)), (here["sends"], active)


TOLD = {
    ("asking", "auto"): same_bytes,
    ("many", "auto"): near_bytes,
    ("spread", "sc"): same_partitions,
}
"""Where who is active is all that ranks tell each other: what each knows of all vertices."""


def streamed() -> int:
    """Apps whose edges do not fit the budget of a device."""
    graph = world().first_ones(None if world().rank else generate("rmat", scale=12, degree=64, seed=3))
    done = away = 0
    few = {"residency": "stream", "device_memory": 600_000}
    away = 0
    for mode in ("sc", "pc", "auto"):
        options = {"target": "gpu", "mode": mode, "ratio": 1.0, "partition_size": 512}
        for app, given, name in (
            (gpop.bfs, {"source": 4}, "level"),
            (gpop.pagerank, {"iterations": 5}, "rank"),
        ):
            here = app(graph, **given, **options, **few, gather=True)
            alone = app(graph, **given, **options, transport="alone")
            assert close(getattr(here, name), getattr(alone, name)), f"streamed {app.__name__} {mode}"
            away += here.run.trace.summary["link"]["away_bytes"]
            done += 1
    assert away > 0
    return done


def main(where: str, asked: list[str]) -> None:
    """Run the checks that are asked for."""
    choosers.SETTING_OUT = 0  # vertices ask on small graphs, too
    calibrate.link_cost = lambda engine: 2.0  # measured on a graph that takes an emulator for ever
    done = 0
    for text in asked or [*CHECKS, "streamed"]:
        if text == "streamed":
            done += streamed()
            continue
        name, mode, size = (*text.split(":"), "", "")[:3]
        for each in (mode,) if mode else MODES:
            if each == "pull" and name not in PULLS:
                continue
            done += check(name, each, (int(size),) if size else SIZES[where], where)
            if world().rank == 0:
                print(text, each, flush=True)
    if world().rank == 0:
        print(f"{done} runs agree on {world().size} ranks")


@contextmanager
def apart() -> Iterator[None]:
    """The emulator, with a device of its own for each rank."""
    with emulated():
        cupy().cuda.runtime.deviceGetPCIBusId = lambda index: f"of {os.getpid()}"
        yield


@contextmanager
def refused() -> Iterator[None]:
    """The same, where rank 1 cannot open the memory of the others."""

    def refuse(handle: bytes) -> int:
        raise cupy().cuda.runtime.CUDARuntimeError("peer access is not supported")

    with apart():
        if world().rank == 1:
            cupy().cuda.runtime.ipcOpenMemHandle = refuse
        yield


if __name__ == "__main__":
    with {"emulated": emulated, "peers": apart, "refused": refused, "devices": nullcontext}[sys.argv[1]]():
        main(*sys.argv[1:2], sys.argv[2:])

"""``python -m perf gpu-tuning``: what was tried with the blocks of the GPU's loop, beside what it is.

One launch has all multiprocessors. How many blocks each of them has, and of how many threads, divides its
registers and its shared memory: two small blocks hide each other's barriers, but a partition, whose cells
lie in the shared memory of a block, is half as large then, so that an edge takes more messages. Graph:
RMAT (degree 16, symmetrised, seed 1, weights from 1 to 255). Contenders run in turns, after a round that
is not counted; medians of the loop by CUDA events, of an iteration for PageRank. Registers and spilled
bytes are the compiler's. With ``--profile`` the hardware's counters of PageRank follow, by NVIDIA's ncu:
shares of the peak, hits in the caches, and for how many cycles a warp waits for what between two of its
instructions.

What PageRank on RMAT waits for is shared memory first: a scatter reads a cell for every edge, and 32 of a
warp lie in some banks more than once, so that a load takes three to four passes; with all its loads ahead of
its stores, and a quarter fewer instructions, it takes the same time. Next are barriers: warps, and
multiprocessors, that have done their share. Gather folds at three fifths of a copy's bandwidth, and takes
.98 of the time where runs are added up without any swap, which is wrong. Larger partitions would have fewer
messages, but the bytes would go down with the time: from 2^13 to 2^15 vertices both fall by a quarter.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.copy_bandwidth import copy_bandwidth
from gpop.generate import generate
from gpop.gpu import device, device_tables, kernel, limits, pieces, prepared
from gpop.gpu.device import cupy
from perf.graphs import WEIGHTS
from perf.parser import with_out
from perf.provenance import perf_command, written

APPS = "pagerank", "bfs", "sssp"
ITERATIONS = 20
BOUNDS = "__launch_bounds__(BLOCK_THREADS, 1)"


class Tried(NamedTuple):
    """Blocks of a multiprocessor, threads of a block, the size of partitions (None: what fits), shares of a
    phase for a multiprocessor, ids of a segment; ``text``: what kernels say, and what they say instead."""

    about: str
    blocks: int = 1
    threads: int = limits.BLOCK_THREADS
    partition_size: int | None = None
    shares: int = pieces.PIECES
    segment: int = device_tables.SEGMENT_IDS
    text: tuple[tuple[str, str], ...] = ()


TRIED = (
    Tried("as it is: 1 block of 1024 threads"),
    Tried("1 block of 512, twice the registers", threads=512),
    Tried("2 blocks of 512", blocks=2, threads=512),
    Tried("2 blocks of 1024, half the registers", blocks=2),
    Tried("partitions of 2^14 vertices", partition_size=1 << 14),
    Tried("partitions of 2^13 vertices", partition_size=1 << 13),
    Tried("two shares a multiprocessor", shares=2),
    Tried("three shares a multiprocessor", shares=3),
    Tried("segments of 2,048 ids", segment=2048),
    Tried(
        "cells in the order of ids",
        text=(
            (" ^ ((local >> 5 ^ local >> 10) & 0x1fu)", ""),
            (" ^ ((ids >> 5 ^ ids >> 10) & 0x1f001fu)", ""),
        ),
    ),
    Tried("values staged one by one", text=(("const int STAGED = 8;", "const int STAGED = 1;"),)),
    Tried("values staged by 16", text=(("const int STAGED = 8;", "const int STAGED = 16;"),)),
    Tried("8 runs of a thread at once", text=(("const int ROW_STRIP = 4;", "const int ROW_STRIP = 8;"),)),
    Tried("vertices filtered one by one", text=(("v + 3 * step < graph.n", "false"),)),
)

METRICS = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory, of its peak (%)",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "L2, of its peak (%)",
    "lts__t_sector_hit_rate.pct": "hits in L2 (%)",
    "l1tex__t_sector_hit_rate.pct": "hits in L1 (%)",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "passes through shared memory",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "of these, loads of one bank",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "of these, stores to one bank",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum": "of these, swaps in one bank",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "passes, of the most (%)",
    "sm__inst_executed.avg.pct_of_peak_sustained_elapsed": "instructions, of the most (%)",
    "smsp__warps_active.avg.per_cycle_active": "warps of a scheduler that are there",
    "smsp__warps_eligible.avg.per_cycle_active": "warps of a scheduler that can go on",
}
STALLS = (
    "barrier", "long_scoreboard", "short_scoreboard", "lg_throttle", "mio_throttle", "math_pipe_throttle",
    "membar", "wait", "not_selected", "sleeping",
)  # fmt: skip
for _reason in STALLS:
    METRICS[f"smsp__average_warps_issue_stalled_{_reason}_per_issue_active.ratio"] = (
        f"cycles waited: {_reason.replace('_', ' ')}"
    )


@contextmanager
def tried(what: Tried, graph: gpop.Graph) -> Iterator[None]:
    """Engines that are made meanwhile are made so."""
    _forget(graph, what)
    whole, text = device._device(cupy().cuda.Device().id), kernel.kernel_text
    part = whole._replace(
        multiprocessors=what.blocks * whole.multiprocessors, shared_bytes=whole.shared_bytes // what.blocks
    )
    bounds = f"__launch_bounds__(BLOCK_THREADS, {what.blocks})"

    def other_text(names: tuple[str, ...]) -> str:
        found = text(names).replace(BOUNDS, bounds)
        for said, instead in what.text:
            found = found.replace(said, instead)
        return found

    with (
        patch.object(device, "_device", lambda index: part),
        patch.object(limits, "BLOCK_THREADS", what.threads),
        patch.object(pieces, "PIECES", what.shares),
        patch.object(device_tables, "SEGMENT_IDS", what.segment),
        patch.object(kernel, "kernel_text", other_text),
    ):
        yield
    _forget(graph, what)


def _forget(graph: gpop.Graph, what: Tried) -> None:
    """What is prepared otherwise, and lies on the device."""
    graph.store._noted.clear()
    if (what.shares, what.segment) != (pieces.PIECES, device_tables.SEGMENT_IDS):
        graph.drop("device")


def runs(graph: gpop.Graph) -> dict:
    """App -> seconds of a run with these options, of an iteration for PageRank; ``whole``: the run itself."""
    source = int(np.argmax(graph.out_degree))
    options = {"target": "gpu", "ratio": 2.0}

    def pagerank(whole: bool = False, **more: Any) -> Any:
        run = gpop.pagerank(graph, iterations=ITERATIONS, mode="pc", **options, **more).run
        return run if whole else run.seconds / ITERATIONS

    return {
        "pagerank": pagerank,
        "bfs": lambda **more: gpop.bfs(graph, source, **options, **more).run.seconds,
        "sssp": lambda **more: gpop.sssp(graph, source, **options, **more).run.seconds,
    }


def compare(graph: gpop.Graph, rounds: int, chosen: Sequence[str]) -> list[str]:
    """The table: a line for what was tried."""
    every, found, kernels = runs(graph), {}, {}
    apps = {app: every[app] for app in chosen}
    get = prepared.Prepared.__post_init__
    for turn in range(rounds + 1):
        for what in TRIED:
            for app, run in apps.items():

                def watched(ready: prepared.Prepared, key: tuple = (what, app)) -> None:
                    get(ready)
                    kernels[key] = ready.loop.kernel.num_regs, ready.loop.kernel.local_size_bytes

                with tried(what, graph), patch.object(prepared.Prepared, "__post_init__", watched):
                    seconds = [run(partition_size=what.partition_size) for _ in range(2)][1]
                if turn:
                    found.setdefault((what, app), []).append(seconds)
    lines = [f"{'':38}" + "".join(f"{app:>10} ms  ratio  registers  spilled" for app in apps)]
    for what in TRIED:
        line = f"{what.about:38}"
        for app in apps:
            ms = 1e3 * statistics.median(found[what, app])
            ratio = ms / (1e3 * statistics.median(found[TRIED[0], app]))
            registers, spilled = kernels[what, app]
            line += f"{ms:13.3f}{ratio:7.2f}{registers:11}{spilled:9}"
        lines.append(line)
    return lines


def of_a_copy(graph: gpop.Graph) -> str:
    """PageRank's bytes in a second, beside those of a copy on this device."""
    run = [runs(graph)["pagerank"](whole=True) for _ in range(2)][1]
    moved, copied = run.trace.column("bytes").sum() / run.seconds, copy_bandwidth("gpu")
    mb = run.trace.column("bytes").sum() / ITERATIONS / 1e6
    return (
        f"PageRank, as it is: {mb:.1f} MB an iteration by the model, {1e-9 * moved:.0f} GB/s; "
        f"a copy {1e-9 * copied:.0f}: {100 * moved / copied:.1f} %"
    )


def profile(scale: int) -> list[str]:
    """The hardware's counters of PageRank's loop: a line for each, empty where ncu has none."""
    ncu = shutil.which("ncu")
    if ncu is None:
        raise UsageError("--profile: expected ncu (NVIDIA Nsight Compute) on the PATH")
    known = {line.split(" ")[0] for line in _said_by([ncu, "--query-metrics"]).splitlines()}
    asked = [name for name in METRICS if name.split(".")[0] in known]
    counting = f"--csv --kernel-name gpop_loop --launch-count 1 --metrics {','.join(asked)}".split()
    said = _said_by([ncu, *counting, sys.executable, "-m", "perf.gpu_tuning", str(scale)])
    begin = said.find('"ID"')
    if begin < 0:
        raise UsageError(f"ncu: {said.strip().splitlines()[-1] if said.strip() else 'it printed nothing'}")
    values = {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(said[begin:].splitlines())}
    return [f"{METRICS[name]:38}{values.get(name, '-'):>13}" for name in METRICS]


def _said_by(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines() or ["it printed nothing"]
        raise UsageError(f"ncu: exit code {done.returncode}: {last[-1]}")
    return done.stdout


def made(scale: int) -> gpop.Graph:
    """The graph."""
    return generate("rmat", scale=scale, degree=16, seed=1, symmetrize=True, weights=WEIGHTS)


def _run(given: argparse.Namespace) -> int:
    if given.rounds < 1:
        raise UsageError(f"--rounds {given.rounds}: expected 1 or more")
    cupy()
    with written(given.out, perf_command("gpu-tuning", given.words), gpu=True):
        graph = made(given.scale)
        print(f"rmat-{given.scale}: {graph.n:,} vertices, {graph.m:,} edges\n")
        print("\n".join(compare(graph, given.rounds, given.apps)), flush=True)
        print(f"\n{of_a_copy(graph)}", flush=True)
        graph.drop("device")
        if given.profile:
            print(f"\nPageRank, {ITERATIONS} iterations in one launch, as it is\n")
            try:
                print("\n".join(profile(given.scale)))
            except UsageError as error:  # the table is there all the same
                print(error)
                return 1
    return 0


def _apps(text: str) -> list[str]:
    for name in text.split(","):
        if name not in APPS:
            raise argparse.ArgumentTypeError(f"{name!r}: expected some of {','.join(APPS)}")
    return text.split(",")


def main(argv: list[str] | None = None) -> int:
    """``python -m perf gpu-tuning [--scale 22] [--rounds 5] [--apps A,..] [--profile] [--out FILE]``"""
    parser = with_out("gpu-tuning", __doc__)
    parser.add_argument("--scale", type=int, default=22, help="of RMAT (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="that are counted (default %(default)s)")
    parser.add_argument("--apps", type=_apps, default=[*APPS], help=f"of {','.join(APPS)}")
    parser.add_argument("--profile", action="store_true", help="the hardware's counters too, by ncu")
    given = parser.parse_args(argv)
    given.words = sys.argv[2:] if argv is None else argv
    return exit_code(lambda: _run(given))


if __name__ == "__main__":  # what ncu watches
    runs(made(int(sys.argv[1])))["pagerank"]()

"""``python -m perf loading``: speed and memory of reading every format, and of starting with a kept layout.

    python -m perf loading --scale 20 --out FILE
    python -m perf loading --scale 22 --formats layout

Graph: RMAT (`gpop.generate`), plain or with weights 1..255, both directions where the format wants them.
A file is read in a process of its own, which has read a tiny one before, so that nothing is compiled
while the clock runs. ``peak`` is how much the resident memory of that process grew at most while
reading, over the bytes of the graph's arrays (Linux only; ``-`` elsewhere). MB are those of the file.

``layout``: seconds from the first import of gpop in a new process until BFS could start, with the
layout opened from its file and with the layout rebuilt; medians of ``--rounds``, alternating.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.generate import generate
from perf.parser import with_out
from perf.provenance import ROOT, perf_command, written

FORMATS = (
    "plain.txt", "weighted.wel", "plain.txt.gz", "plain.adj", "weighted.adj", "weighted.gr", "plain.konect",
    "plain.mtx", "weighted.mtx", "both.graph", "bothweighted.graph", "plain.npz", "plain.parquet",
    "weighted.parquet", "plain.arrow", "weighted.arrow", "plain.sg", "weighted.wsg", "plain.bin",
    "weighted.bin", "layout",
)  # fmt: skip


def _peak() -> int | None:
    """Most bytes resident since `_reset_peak`."""
    try:
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    except (OSError, IndexError):
        return None


def _reset_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def read_once(path: Path) -> None:
    """In a process of its own: read the file and print seconds and peak over the graph's bytes."""
    tiny = path.with_name(f"tiny-{path.name}")
    gpop.load(tiny)
    _reset_peak()
    base = _peak()
    start = time.perf_counter()
    graph = gpop.load(path)
    seconds = time.perf_counter() - start
    print(seconds, "-" if base is None else f"{(_peak() - base) / graph.nbytes:.2f}")


def start_once(path: Path) -> None:
    """In a process of its own: load the graph, with its layout, and stop when BFS could start."""
    start = time.perf_counter()
    graph = gpop.load(path, layouts=bool(os.environ["LAYOUTS"]))
    run = gpop.bfs(graph, 0, iterations=1).run  # what later iterations may build is not the start
    print(time.perf_counter() - start - run.seconds)


def child(what: str, path: Path, **environment: str) -> list[str]:
    """What the same script prints in a new process."""
    command = [sys.executable, "-m", "perf", "loading", "--child", what, str(path)]
    return subprocess.check_output(command, env=os.environ | environment, cwd=ROOT, text=True).split()


def formats(wanted: list[str], graphs: dict, threads: list[str], folder: Path) -> None:
    """The table of formats."""
    columns = "".join(f"{f'read, {t} threads':>18}" for t in threads)
    print(f"{'file':20}{'MB':>8}{'write MB/s':>12}{columns}{'peak':>7}")
    tiny = gpop.Graph.from_edges([0, 1, 2], [1, 0, 2])
    for name in wanted:
        graph = graphs[name.split(".")[0]]()
        path = folder / name
        some = gpop.Graph(tiny.indptr, tiny.indices, None if graph.weights is None else np.ones(3, np.uint32))
        some.save(path.with_name(f"tiny-{name}"))
        start = time.perf_counter()
        graph.save(path)
        seconds = time.perf_counter() - start
        megabytes = path.stat().st_size / 1e6
        found = [child("read", path, NUMBA_NUM_THREADS=t) for t in threads]
        speeds = "".join(f"{megabytes / float(f[0]):13.0f} MB/s" for f in found)
        print(f"{name:20}{megabytes:8.1f}{megabytes / seconds:12.0f}{speeds}{found[-1][1]:>7}", flush=True)
        path.unlink()


def layouts(graph: gpop.Graph, rounds: int, folder: Path) -> None:
    """Start with and without a kept layout."""
    path = folder / "graph.bin"
    graph.save(path)
    seconds: dict[str, list[float]] = {"": [], "1": []}
    for turn in range(rounds + 1):
        for kept, times in seconds.items():
            found = float(child("start", path, LAYOUTS=kept)[0])
            if turn > 0:
                times.append(found)
    rebuilt, kept = (statistics.median(times) for times in seconds.values())
    print(f"{graph}: BFS could start after {kept:.2f} s, {rebuilt:.2f} s with its layout rebuilt")


def _run(argv: list[str]) -> None:
    parser = with_out("loading", __doc__)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--formats", default=",".join(FORMATS), help="separated by commas")
    parser.add_argument("--threads", default=f"1,{os.cpu_count()}", help="numbers separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(argv)
    if given.child:
        {"read": read_once, "start": start_once}[given.child[0]](Path(given.child[1]))
        return
    kept: dict = {}

    def graph(kind: str) -> gpop.Graph:
        if kind not in kept:
            kept.clear()
            weights = (1, 255) if "weighted" in kind else None
            made = generate("rmat", scale=given.scale, degree=given.degree, seed=1, weights=weights)
            kept[kind] = made.symmetrize() if kind.startswith("both") else made
        return kept[kind]

    kinds = ("plain", "weighted", "both", "bothweighted")
    wanted = [name for name in given.formats.split(",") if name != "layout"]
    unknown = set(wanted) - set(FORMATS)
    if unknown:
        raise UsageError(f"format {min(unknown)} is unknown, expected some of {', '.join(FORMATS)}")
    with written(given.out, perf_command("loading", argv)), tempfile.TemporaryDirectory() as folder:
        print(f"RMAT scale {given.scale}, degree {given.degree}")
        if wanted:
            graphs = {kind: lambda kind=kind: graph(kind) for kind in kinds}
            formats(wanted, graphs, given.threads.split(","), Path(folder))
        if "layout" in given.formats.split(","):
            layouts(graph("plain"), given.rounds, Path(folder))


def main(argv: list[str]) -> int:
    """Measure and print the tables."""
    return exit_code(lambda: _run(argv))

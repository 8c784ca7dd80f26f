"""Warp execution efficiency of HPGraph's steps (its table 3), asked of the hardware through ``ncu``.

The metric is threads that executed an instruction per instruction of a warp, of 32. One process, watched by
``ncu``, runs every app and step once (`perf.hpgraph_steps`); the engine's loop is one launch per run, or
a few, of which a cluster of blocks may have some, and the counts of launches say which of them belong to
which run. Threads that wait at the barriers of a launch are counted as well: one of a block, which lowers
what short rounds come to.
"""

from __future__ import annotations

import csv
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpop.common.errors import UsageError
from gpop.gpu import engine
from gpop.gpu.launch import Launch
from perf.graphs import open_graph, vertex, with_weights
from perf.hpgraph_steps import APPS, searched, steps_of

WARP = 32
METRIC = "smsp__thread_inst_executed_per_inst_executed.ratio"
KERNELS = "gpop_loop", "gpop_levels"
"""What iterates; all others only prepare."""

LIMIT = 300
"""Seconds."""


def shares(lines: Iterable[str]) -> list[float]:
    """Of every launch in what ``ncu --csv`` writes.

    Examples
    --------
    >>> shares(["==PROF== connected", '"ID","Metric Name","Metric Value"', f'"0","{METRIC}","24.00"'])
    [0.75]
    """
    table = [line for line in lines if line.startswith('"')]
    return [
        float(row["Metric Value"]) / WARP for row in csv.DictReader(table) if row["Metric Name"] == METRIC
    ]


def of_runs(found: list[float], launches: list[tuple[str, str, int]]) -> dict[tuple[str, str], float]:
    """Mean over the launches of each app and step, which follow each other.

    Examples
    --------
    >>> of_runs([0.5, 1.0, 0.25], [("bfs", "HYB", 2), ("sssp", "HYB", 1)])
    {('bfs', 'HYB'): 0.75, ('sssp', 'HYB'): 0.25}
    """
    told, rest = {}, iter(found)
    for app, step, count in launches:
        told[app, step] = statistics.fmean(next(rest) for _ in range(count))
    return told


def measure(spec: str, source: int | str) -> dict[tuple[str, str], float]:
    """Share of lanes at work, of every app and step on a graph.

    Raises
    ------
    UsageError
        Where ``ncu`` is missing or may not count.
    """
    if shutil.which("ncu") is None:
        raise UsageError("--ncu: there is no ncu on the PATH")
    with tempfile.TemporaryDirectory(prefix="gpop-ncu-") as folder:
        log, runs = Path(folder) / "log", Path(folder) / "runs"
        command = ["ncu", "--csv", "--log-file", str(log), "--metrics", METRIC]
        command += ["--kernel-name", f"regex:^({'|'.join(KERNELS)})$"]
        command += ["--clock-control", "none"]  # which stay as they are
        command += [sys.executable, "-m", "perf.warp_efficiency", spec, str(source), str(runs)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        said = log.read_text().splitlines() if log.exists() else []
        found = shares(said)
        if done.returncode or not found:
            last = [line for line in [*said, *done.stderr.splitlines()] if line.strip()][-1:]
            raise UsageError(f"--ncu: nothing was counted: {' '.join(last) or 'no word why'}")
        return of_runs(found, [tuple(each) for each in json.loads(runs.read_text())])


def main(spec: str, source: str, out: str) -> None:
    """What is watched; to the file ``out`` go the apps, their steps and the launches of each."""
    graph, launches = with_weights(open_graph(spec)), []
    engine.SLICE_NS = 10**12  # everything is slow while it is watched
    start = vertex(graph, int(source) if source.isdecimal() else source)
    with counted() as names:
        for app in APPS:
            for step, (bottom_up, mode) in steps_of(app).items():
                if mode != "auto":  # which would measure the device first
                    names.clear()
                    searched(graph, app, start, bottom_up, mode, "gpu")
                    launches.append([app, step, sum(name in KERNELS for name in names)])
    Path(out).write_text(json.dumps(launches))


@contextmanager
def counted() -> Iterator[list[str]]:
    """Names of the kernels that are launched meanwhile, by whatever way, with arguments that are laid out."""
    names, laid_out = [], Launch.__init__

    def lay_out(self: Launch, kernel: Any, *given: Any, **options: Any) -> None:
        laid_out(self, kernel, *given, **options)
        launch = self._launch

        def noted(*arguments: Any) -> None:
            names.append(kernel.name)
            launch(*arguments)

        self._launch = noted

    Launch.__init__ = lay_out
    try:
        yield names
    finally:
        Launch.__init__ = laid_out


if __name__ == "__main__":
    main(*sys.argv[1:])

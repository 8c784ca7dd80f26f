"""What is profiled: an app in a mode for a number of iterations; also the process that a profiler watches.

    python -m perf.l2_workload JOB.json

Modes: gpop's ``sc``, ``pc``, ``auto`` and ``gpop-pull`` (its own pull mode), and the vertex-centric kernels
``baseline-push`` and ``baseline-pull`` (short: ``push`` and ``pull``). All run on one thread and without
interleaving, so that an iteration is the same thing in all of them.

Every job of the file runs in a fork of the one process that has loaded everything, and prints its process
id and how many iterations it did. Profilers that write one file per process (cachegrind) then tell the jobs
apart, and pay for starting Python under them once.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.apps.with_messages import APPS, app_of
from gpop.common.errors import UsageError
from gpop.execution.given import program_named
from perf import vertex_centric

GPOP_MODES = {"sc": "sc", "pc": "pc", "auto": "auto", "gpop-pull": "pull"}
BASELINES = {f"baseline-{direction}": direction for direction in vertex_centric.DIRECTIONS}
SHORT = {direction: f"baseline-{direction}" for direction in vertex_centric.DIRECTIONS}
MODES = (*GPOP_MODES, *BASELINES)


def parse_modes(text: str) -> list[str]:
    """
    >>> parse_modes("sc,pull,gpop-pull")
    ['sc', 'baseline-pull', 'gpop-pull']
    """
    modes = [SHORT.get(name, name) for name in text.split(",")]
    for mode in modes:
        if mode not in MODES:
            raise UsageError(f"mode {mode!r}: expected some of {', '.join((*MODES, *SHORT))}")
    return modes


class Workload(NamedTuple):
    """An app on a graph that it can run on as it is (symmetric for cc, weighted for sssp).

    Or a program of one's own, ``FILE.py:CLASS`` in ``program``; ``app`` is its name then.
    """

    app: str
    graph: gpop.Graph
    source: int
    partition_size: int
    program: str | None = None

    def run(self, mode: str, iterations: int | None) -> tuple[int, np.ndarray]:
        """Iterations done, and the answer."""
        if mode in GPOP_MODES:
            return self._run_gpop(GPOP_MODES[mode], iterations)
        edges, vertices = self.baseline(mode)
        limit = np.iinfo(np.int64).max if iterations is None else iterations
        vertex_centric.LOOPS[self.app, BASELINES[mode]](limit, edges, vertices)
        done = int(vertices.progress[vertex_centric.ITERATION])
        return done, vertex_centric.answer(self.app, vertices)

    def baseline(self, mode: str) -> tuple[vertex_centric.Edges, vertex_centric.Vertices]:
        """What a vertex-centric kernel works on."""
        edges = vertex_centric.edges_of(self.graph, BASELINES[mode], weighted=self.app == "sssp")
        return edges, vertex_centric.start(self.app, self.graph, self.source)

    def _run_gpop(self, mode: str, iterations: int | None) -> tuple[int, np.ndarray]:
        options: dict[str, Any] = {"mode": mode, "threads": 1, "partition_size": self.partition_size}
        options["interleave"] = False
        if iterations is not None:
            options["iterations"] = iterations
        app = APPS[self.app] if self.program is None else app_of(program_named(self.program))
        result = app.solve(self.graph, self.source, options)
        return result.run.iterations, app.answer(self.graph, result)


def main(path: str) -> None:
    """Run the jobs of a file, each in a fork."""
    job = json.loads(Path(path).read_text())
    work = Workload(job["app"], gpop.load(job["graph"]), job["source"], job["partition_size"], job["program"])
    for mode in {mode for mode, _ in job["runs"]}:
        work.run(mode, 1)  # compiles, or loads from the cache; builds the bins and the reverse
    for mode, iterations in job["runs"]:
        if not job["fork"]:
            print(json.dumps([os.getpid(), work.run(mode, iterations)[0]]), flush=True)
            continue
        child = os.fork()
        if child == 0:
            print(json.dumps([os.getpid(), work.run(mode, iterations)[0]]), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"{mode}: the run died")


if __name__ == "__main__":
    main(sys.argv[1])

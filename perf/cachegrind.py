"""L2 misses by valgrind's cachegrind: every instruction simulated, L2 as its last level (``--LL``).

Two runs of different length are subtracted, so that Python's start, loading and building the bins cancel
out; both are forks of one process (perf/l2_workload.py). Misses are those of data, read and written.

Kernels come from a cache on disk that is filled before, outside valgrind. They are compiled for a processor
that valgrind knows (up to AVX2 on x86), which is why that cache is one of its own. Name and features of the
processor are both part of the cache's key, and the features that valgrind shows are not the machine's: both
are given, or everything would be compiled again under valgrind, which takes ten minutes.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gpop.common.errors import UsageError
from perf.cache_simulator import Geometry
from perf.l2_workload import Workload

NAME = "cachegrind"
PROCESSOR = {"x86_64": "haswell", "AMD64": "haswell"}
"""What kernels are compiled for under valgrind, where it does not know all that the machine can do."""

SINGLE = {"PYTHONHASHSEED": "0", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""One thread, always the same hashes."""


def available() -> bool:
    """Whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def describe() -> str:
    """For the report."""
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()
    return f"cachegrind ({version})"


def data_misses(text: str) -> int:
    """Last-level data misses of a cachegrind output file.

    >>> data_misses("events: Ir DLmr DLmw\\nfn=f\\n1 5 2 1\\nsummary: 5 2 1\\n")
    3
    """
    lines = dict(
        line.split(": ", 1) for line in text.splitlines() if line.startswith(("events: ", "summary: "))
    )
    if len(lines) < 2:
        raise UsageError("cachegrind wrote no summary: expected its output to be complete")
    counts = dict(zip(lines["events"].split(), map(int, lines["summary"].split()), strict=True))
    return counts["DLmr"] + counts["DLmw"]


def job_environment(**more: str) -> dict[str, str]:
    """Environment of a watched process, with this copy of perf."""
    root = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": path, **SINGLE} | more


def compile_for() -> dict[str, str]:
    """Environment that names the processor, with the features that its name implies."""
    name = PROCESSOR.get(platform.machine())
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""} if name else {}


def write_job(folder: Path, work: Workload, runs: list[tuple[str, int | None]], fork: bool) -> Path:
    """The file that perf.l2_workload reads, and the graph beside it."""
    graph = folder / "graph.bin"
    if not graph.exists():
        work.graph.save(graph)
    job = {
        "app": work.app, "graph": str(graph), "source": work.source, "partition_size": work.partition_size,
        "runs": runs, "fork": fork, "program": work.program,
    }  # fmt: skip
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    return path


def measure(
    work: Workload, modes: list[str], lengths: tuple[int, int | None], l1: Geometry, l2: Geometry
) -> dict[str, tuple[int, int]]:
    """Mode -> (iterations, misses) between the two lengths."""
    kernels = Path(tempfile.gettempdir()) / f"gpop-perf-valgrind-{os.getuid()}"
    environment = job_environment(NUMBA_CACHE_DIR=str(kernels), **compile_for())
    with tempfile.TemporaryDirectory(prefix="gpop-cachegrind-") as temporary:
        folder = Path(temporary)
        runs = [(mode, length) for mode in modes for length in lengths]
        job = write_job(folder, work, runs, fork=True)
        command = [sys.executable, "-m", "perf.l2_workload", str(job)]
        _check(subprocess.run(command, env=environment, capture_output=True, text=True))
        watched = [
            "valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--D1={l1}", f"--LL={l2}",
            f"--cachegrind-out-file={folder}/out.%p", *command,
        ]  # fmt: skip
        printed = _check(subprocess.run(watched, env=environment, capture_output=True, text=True))
        found = []
        for line in printed.splitlines():
            process, iterations = json.loads(line)
            found.append((iterations, data_misses((folder / f"out.{process}").read_text())))
    pairs = zip(found[::2], found[1::2], strict=True)
    return {
        mode: (long[0] - short[0], long[1] - short[1])
        for mode, (short, long) in zip(modes, pairs, strict=True)
    }


def _check(finished: subprocess.CompletedProcess) -> str:
    if finished.returncode != 0:
        last = (finished.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
        raise UsageError(f"{Path(finished.args[0]).name} ended with code {finished.returncode}: {last}")
    return finished.stdout

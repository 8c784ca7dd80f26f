"""L2 misses by the processor's own counters, through ``perf stat``, where kernel and machine give them.

The event has another name on every kind of processor; the first that counts is taken. A process that runs
the job is counted as a whole, with two lengths, and the medians of a few repetitions are subtracted. The
counts include what the hardware prefetcher brings only as far as the event does.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from gpop.common.errors import UsageError
from perf.cache_simulator import Geometry
from perf.cachegrind import job_environment, write_job
from perf.l2_workload import Workload

NAME = "counters"
EVENTS = (
    "l2_rqsts.miss",  # Intel
    "l2_cache_req_stat.ls_rd_blk_c",  # AMD Zen: data reads that miss
    "l2d_cache_refill",  # ARM
)
REPETITIONS = 3


def count_of(text: str, event: str) -> int | None:
    """The count of an event in what ``perf stat -x,`` writes; None if it was not counted.

    >>> count_of("1234,,l2_rqsts.miss,5000,100.00,,", "l2_rqsts.miss")
    1234
    >>> count_of("<not supported>,,l2_rqsts.miss:u,0,100.00,,", "l2_rqsts.miss") is None
    True
    """
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2].split(":")[0] == event and fields[0].isdigit():
            return int(fields[0])
    return None


def _perf_stat(event: str, command: list[str], environment: dict[str, str]) -> tuple[int | None, str]:
    """The count, None if there is none; and what the command printed."""
    with tempfile.NamedTemporaryFile("r", prefix="gpop-perf-stat-") as counts:
        watched = ["perf", "stat", "-x,", "-o", counts.name, "-e", event, "--", *command]
        finished = subprocess.run(watched, env=environment, capture_output=True, text=True)
        return (None if finished.returncode else count_of(counts.read(), event)), finished.stdout


@cache
def event() -> str | None:
    """The event that counts L2 misses here, None if there is none."""
    if shutil.which("perf") is None:
        return None
    found = (name for name in EVENTS if _perf_stat(name, ["true"], job_environment())[0] is not None)
    return next(found, None)


def available() -> bool:
    """Whether the kernel counts L2 misses for this process."""
    return event() is not None


def describe() -> str:
    """For the report."""
    return f"counters (perf stat -e {event()})"


def measure(
    work: Workload, modes: list[str], lengths: tuple[int, int | None], l1: Geometry, l2: Geometry
) -> dict[str, tuple[int, int]]:
    """Mode -> (iterations, misses) between the two lengths; the caches are the machine's."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="gpop-counters-") as temporary:
        for mode in modes:
            counts, done = [], []
            for length in lengths:
                job = write_job(Path(temporary), work, [(mode, length)], fork=False)
                counted = []
                for _ in range(REPETITIONS + 1):
                    command = [sys.executable, "-m", "perf.l2_workload", str(job)]
                    count, printed = _perf_stat(event(), command, job_environment())
                    if count is None:
                        raise UsageError(f"perf stat -e {event()} counted nothing: expected a count")
                    counted.append(count)
                counts.append(int(statistics.median(counted[1:])))  # the first one may have compiled
                done.append(json.loads(printed.splitlines()[-1])[1])
            found[mode] = (done[1] - done[0], counts[1] - counts[0])
    return found

"""Missing runs in series: one process for all graphs, all variants by one implementation asked for at once.

For a device, where a process that starts costs more than what it measures, and where some implementations
would take minutes on some graphs: a series (a graph, an algorithm, an implementation) has a time, and what
is not done by then is stored as failed attempts that say so, for good. While the worker measures, what it
told before is stored. A killed command is continued by the same command. Kernels are compiled first, side by
side: on a device there is one for each width of local ids, which follows from the number of vertices.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

from gpop.common.parallel import worker_count
from gpop.common.progress import by_default, progress_bar
from gpop.layout.partition import partition_bits
from gpop.model.asked import split
from perf.register import MODE_NAMES
from perf.run_benchmarks import Tally, WorkerFailed, WorkerProcess, describe_first, describe_job, request_of
from perf.store import MOST_RETRIES, Row, Store

TINY = 64
"""Vertices of the star on which kernels are compiled for graphs that nothing is known of."""

SHARED_BYTES = 1 << 17
"""Of a device, for the vertices of a partition."""

PATIENCE = 30.0
"""Seconds beyond those of a series, for layouts and right answers, after which a worker hangs."""


def series_of(jobs: Iterable[Row]) -> list[list[Row]]:
    """Jobs of one graph, algorithm and implementation together, graphs in the order of the store."""

    def key(job: Row) -> tuple[int, int, int]:
        return job["graphId"], job["algorithmId"], job["implId"]

    return [list(group) for _, group in groupby(sorted(jobs, key=key), key=key)]


def stars(store: Store, jobs: Iterable[Row]) -> list[tuple[str, Row]]:
    """A graph and a job for each kernel of these jobs.

    That is an implementation, how it is called, and a width of local ids; strategies by name have none.
    """
    sizes = {
        row["graphId"]: int(row["value"])
        for row in store.rows("SELECT * FROM GraphPropValue JOIN PropertyName ON id = propId "
                              "WHERE property = 'vertices'")
    }  # fmt: skip
    found = {}
    for job in jobs:
        by_name = split(json.loads(job["implFlags"]).get("mode", "auto"))[0] not in ("auto", *MODE_NAMES)
        vertices = TINY if by_name else sizes.get(job["graphId"], TINY)
        bits = partition_bits(vertices, 1, cache_bytes=SHARED_BYTES)
        key = job["algorithm"], job["implementation"], *json.loads(job["variantFlags"]), bits
        found.setdefault(key, (f"star:vertices={vertices}", job))
    return list(found.values())


def compile_all(wanted: list[tuple[str, Row]], processes: int) -> list[str]:
    """Run these jobs on these graphs, side by side, which keeps kernels on disk; what failed, a line each."""

    def work(mine: list[tuple[str, Row]]) -> list[str]:
        failed = []
        with WorkerProcess(mine[0][0], None, 1) as worker:
            for star, job in mine:
                try:
                    worker.ask(graph=star, hash=None, threads=1)
                    fault = worker.ask(do="check", **request_of(job))["fault"]
                except WorkerFailed as error:
                    fault = str(error)
                if fault:
                    failed.append(f"{job['algorithm']} by {job['implementation']} on {star}: {fault}")
        return failed

    parts = [wanted[begin::processes] for begin in range(min(processes, len(wanted)))]
    with ThreadPoolExecutor(max(len(parts), 1)) as pool:
        return [line for lines in pool.map(work, parts) for line in lines]


class Lane:
    """The worker: started when it is wanted, and again when it has died; on one graph at a time."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.worker: WorkerProcess | None = None

    def __enter__(self) -> Lane:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.close()
        self.worker = None

    def open(self, jobs: Iterable[Row]) -> None:
        """Have the graph of these jobs open, and all described that they run on."""
        variants = list({job["variantId"]: job for job in jobs}.values())
        graph, digest = variants[0]["path"], variants[0]["graphHash"]
        if self.worker is not None and self.worker.alive:
            self.worker.ask(graph=graph, hash=digest, threads=worker_count())
        else:
            self.close()
            self.worker = WorkerProcess(graph, digest, worker_count())
        for job in variants:
            describe_first(self.store, self.worker, job)

    def send(self, series: list[Row], seconds: float) -> None:
        """Ask for a series."""
        if self.worker is None or not self.worker.alive:
            self.open(series)
        variants = []
        for job in series:
            known = self.store.rows("SELECT result FROM Variant WHERE id = ?", (job["variantId"],))[0]
            variants.append({"flags": json.loads(job["variantFlags"]), "result": known["result"]})
        asked = {"variants": variants, "repeats": series[0]["repeats"], "seconds": seconds}
        self.worker.send(do="series", **request_of(series[0]), **asked)


def describe(store: Store, jobs: Iterable[Row]) -> Iterator[int]:
    """Properties, features and right answers of what jobs run on, and no more; yields how many they were."""
    with Lane(store) as lane:
        for _, group in groupby(series_of(jobs), key=lambda series: series[0]["graphId"]):
            found = [job for series in group for job in series]
            lane.open(found)
            yield len(found)


def measure(
    store: Store, jobs: Iterable[Row], seconds: float, tally: Tally, deadline: float | None = None
) -> Iterator[int]:
    """Run all and store it; yields how many jobs are done with.

    ``seconds`` are those of a series; past ``deadline`` (`time.monotonic`) none begins.
    """
    with Lane(store) as lane:
        for _, group in groupby(series_of(jobs), key=lambda series: series[0]["graphId"]):
            todo = list(group)
            before: list[Row] = []
            for number, series in enumerate((*todo, [])):
                if series and deadline is not None and time.monotonic() > deadline:
                    tally.left += len(series)
                    series = []
                reply = _reply(lane, seconds) if before else {}
                try:
                    if series and number == 0:
                        lane.open(job for each in todo for job in each)
                    if series:
                        lane.send(series, seconds)
                except WorkerFailed as error:
                    _record(store, series, {"failure": str(error)}, tally)
                    series = []
                if before:
                    _record(store, before, reply, tally)
                    yield len(before)
                before = series


def compile_and_measure(
    store: Store, jobs: list[Row], seconds: float, tally: Tally, deadline: float | None = None
) -> None:
    """The whole of it, with a bar; what failed while compiling is told, and fails again where it is run."""
    begin = time.monotonic()
    if deadline is not None and begin > deadline:
        tally.left += len(jobs)
        return
    for line in compile_all(stars(store, jobs), worker_count()):
        print(f"failed: {line}", file=sys.stderr)
    print(f"compiled after {time.monotonic() - begin:.0f} s", flush=True)
    with progress_bar(len(jobs), "measuring", " runs", enabled=by_default()) as bar:
        for done in measure(store, jobs, seconds, tally, deadline):
            bar.update(done)


def _reply(lane: Lane, seconds: float) -> dict[str, Any]:
    try:
        return lane.worker.receive(seconds + PATIENCE)
    except WorkerFailed as error:
        return {"failure": str(error)}


def _record(store: Store, series: list[Row], reply: dict[str, Any], tally: Tally) -> None:
    """Store what a series did; what is late is not tried again."""
    runs = reply.get("runs", [])
    for job, done in zip(series, runs, strict=False):
        if store.record_run({**dict(job), "result": None}, done):
            tally.done += 1
            if done["fault"]:
                tally.wrong += 1
                print(f"WRONG: {describe_job(job)}, {job['variant']}: {done['fault']}", file=sys.stderr)
    message, times = reply.get("failure"), 1
    if message is None:
        message, times = reply["late"], MOST_RETRIES
    for job in series[len(runs) :]:
        store.record_failure(job, message, times)
        tally.failed += times == 1
        tally.late += times > 1
    if message and times == 1:
        print(f"failed: {describe_job(series[0])}: {message}", file=sys.stderr)

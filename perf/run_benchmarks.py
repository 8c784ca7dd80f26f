"""``python -m perf run-benchmarks``: run what is registered and has no result in the store, and only that.

Jobs of one graph share a worker process (`perf.worker`), which loads it and finds the right answers once.
Each finished run is stored before the next begins: a killed command is continued by the same command. A job
that fails is tried again by later commands, at most three times; an implementation whose library is not
installed is skipped and said so. ``--series``, for devices, is `perf.series`: one process for all graphs.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from threading import Timer
from typing import Any

from gpop.common.command import exit_code, fail
from gpop.common.errors import GpopError, UsageError
from gpop.common.progress import by_default, progress_bar
from gpop.model.features import OF_GRAPH
from perf.hardware import platform_name
from perf.implementations import FAMILIES, gpop_version, installed
from perf.parser import with_store
from perf.store import MOST_RETRIES, Row, Store, StoreError

DESCRIBED = """
    SELECT 1 FROM Graph g JOIN GraphPropValue v ON v.graphId = g.id JOIN PropertyName q ON q.id = v.propId
    WHERE g.hash IS NOT NULL AND g.id = ? AND q.property = ?
"""
"""Whether a graph has its hash and its properties, features among them."""


class WorkerFailed(GpopError):
    """A request was answered by a failure, or not at all."""


class WorkerProcess:
    """A worker on one graph; requests are answered in order.

    What was sent need not be received before more is sent: the worker goes on meanwhile.
    """

    def __init__(self, graph: str, graph_hash: str | None, threads: int) -> None:
        number = str(threads)
        environment = os.environ | {"NUMBA_NUM_THREADS": number, "OMP_NUM_THREADS": number}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "perf.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, text=True, env=environment,
            start_new_session=True,  # Ctrl-C is for us: we end the worker
        )  # fmt: skip
        try:
            self.ask(graph=graph, hash=graph_hash, threads=threads)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    @property
    def alive(self) -> bool:
        """Whether it still answers."""
        return self._process.poll() is None

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request, wait for the reply; a failure is an error."""
        self.send(**request)
        return self.receive()

    def send(self, **request: Any) -> None:
        """Send a request; a worker that is gone is found out by `receive`."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def receive(self, most: float | None = None) -> dict[str, Any]:
        """Wait for the reply to the first request that has none yet; a failure is an error.

        ``most``: a worker that has said nothing for so many seconds is ended.
        """
        watch = Timer(most, self._process.kill) if most is not None else None
        if watch is not None:
            watch.start()
        line = self._process.stdout.readline()
        if watch is not None:
            watch.cancel()
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise WorkerFailed(": ".join([f"the worker ended with code {code}", *said]))
        reply = json.loads(line)
        if "failure" in reply:
            raise WorkerFailed(reply["failure"])
        return reply


class Tally:
    """What a command did, as one line."""

    def __init__(self) -> None:
        self.done = self.wrong = self.failed = self.late = self.left = 0

    def __str__(self) -> str:
        parts = [f"{self.done} run{'s' * (self.done != 1)} stored"]
        parts += [f"{self.wrong} of them WRONG"] if self.wrong else []
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{self.late} out of time"] if self.late else []
        parts += [f"{self.left} left for the next call"] if self.left else []
        return ", ".join(parts)


def run_missing(
    store: Store, platform: str | None = None, only: Iterable[str] = (), retries: int = MOST_RETRIES,
    tally: Tally | None = None, datasets: Iterable[str] = (), deadline: float | None = None,
    series: float | None = None, apps: Iterable[str] = (),
) -> Tally:  # fmt: skip
    """Run every missing job of this machine and store it; what was done.

    Parameters
    ----------
    store : Store
    platform : str, optional
        Name of the platform to run for; this machine's when not given.
    only : list of str
        Implementations to run; all when empty.
    retries : int
        Jobs that failed so often are left alone.
    datasets : list of str
        Datasets to run on; all when empty.
    deadline : float, optional
        Of `time.monotonic`: what has not begun by then is left for the next call.
    series : float, optional
        Seconds of an implementation on a graph, for `perf.series`.
    apps : list of str
        Algorithms to run; all when empty.
    """
    tally = Tally() if tally is None else tally
    store.complete_variants()
    jobs = store.missing(platform or platform_name(), gpop_version(), retries)
    families = {family for family in FAMILIES if installed(family)}
    chosen = [job for job in jobs if not only or job["implementation"] in only]
    chosen = [job for job in chosen if not datasets or job["dataset"] in datasets]
    chosen = [job for job in chosen if not apps or job["algorithm"] in apps]
    skipped = {family_of(job) for job in chosen} - families
    for family in sorted(skipped):
        print(f"skipped: {family} is not installed", file=sys.stderr)
    chosen = [job for job in chosen if family_of(job) in families]
    if series is not None:
        from perf.series import compile_and_measure

        compile_and_measure(store, chosen, series, tally, deadline)
        return tally
    with progress_bar(len(chosen), "benchmarks", " runs", enabled=by_default()) as bar:
        for graph, group in groupby(chosen, key=lambda job: job["path"]):
            for _ in _run_group(store, graph, list(group), tally, deadline):
                bar.update()
    return tally


def family_of(job: Row) -> str:
    """The family of a job's implementation."""
    return json.loads(job["implFlags"])["family"]


def _run_group(
    store: Store, graph: str, jobs: list[Row], tally: Tally, deadline: float | None
) -> Iterator[None]:
    """Run jobs on one graph; a worker that dies is replaced for the next job."""
    worker, threads = None, max(job["threads"] for job in jobs)
    try:
        for job in jobs:
            if deadline is not None and time.monotonic() > deadline:
                tally.left += 1
                continue
            try:
                if worker is None or not worker.alive:
                    worker = None
                    worker = WorkerProcess(graph, job["graphHash"], threads)
                describe_first(store, worker, job)
                current = store.rows("SELECT result FROM Variant WHERE id = ?", (job["variantId"],))[0]
                done = worker.ask(do="run", repeats=job["repeats"], **request_of(job))
            except WorkerFailed as error:
                store.record_failure(job, str(error))
                tally.failed += 1
                print(f"failed: {describe_job(job)}: {error}", file=sys.stderr)
            else:
                if store.record_run({**dict(job), "result": current["result"]}, done):
                    tally.done += 1
                    if done["fault"]:
                        tally.wrong += 1
                        print(f"WRONG: {describe_job(job)}: {done['fault']}", file=sys.stderr)
            yield
    finally:
        if worker is not None:
            worker.close()


def describe_first(store: Store, worker: WorkerProcess, job: Row) -> None:
    """Properties come first: of the graph, and of the variant with the hash of its right answer."""
    if not store.rows(DESCRIBED, (job["graphId"], OF_GRAPH[-1])):
        store.record_graph(job["graphId"], worker.ask(do="graph"))
    known = store.rows("SELECT propsStored FROM Variant WHERE id = ?", (job["variantId"],))[0]
    if not known["propsStored"]:
        told = worker.ask(do="variant", **request_of(job))
        store.record_variant(job["variantId"], job["algorithmId"], told)


def request_of(job: Row) -> dict[str, Any]:
    """What a worker needs to know of a job."""
    flags = {name: json.loads(job[name]) for name in ("implFlags", "variantFlags")}
    return {"algorithm": job["algorithm"], "threads": job["threads"], **flags}


def describe_job(job: Row) -> str:
    """A job in messages."""
    return f"{job['algorithm']} on {job['graph']} by {job['implementation']}, {job['threads']} threads"


def _run(argv: list[str]) -> int:
    parser = with_store("run-benchmarks", __doc__)
    parser.add_argument("--platform", help="a platform of the store; default: this machine")
    parser.add_argument("--only", default="", metavar="NAME,...", help="implementations to run; default: all")
    parser.add_argument("--apps", default="", metavar="NAME,...", help="algorithms to run; default: all")
    parser.add_argument("--retry", action="store_true", help="try again what failed too often, too")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="begin nothing later; the same command continues"
    )
    parser.add_argument(
        "--series", type=float, metavar="S",
        help="one process for all graphs, kernels compiled first; S seconds for an implementation on a graph",
    )  # fmt: skip
    given = parser.parse_args(argv)
    if given.series is not None and not given.series > 0:
        raise UsageError(f"--series {given.series:g}: expected a number above 0")
    deadline = None if given.seconds is None else time.monotonic() + given.seconds
    tally = Tally()
    only, apps = ([name for name in each.split(",") if name] for each in (given.only, given.apps))
    with Store(given.store, create=False) as store:
        for name in only:
            if not store.rows("SELECT 1 FROM Implementation WHERE name = ?", (name,)):
                raise UsageError(f"--only {name}: the store has no such implementation")
        for name in apps:
            store.require("Algorithm", "algorithm", name)
        try:
            retries = 1 << 30 if given.retry else MOST_RETRIES
            run_missing(store, given.platform, only, retries, tally, (), deadline, given.series, apps)
        except KeyboardInterrupt:
            return fail(f"interrupted; {tally}; the same command continues", 130)
        except StoreError as error:
            return fail(f"{error}; {tally} before that; the same command continues", 2)
        other_code = "SELECT count(*) FROM Missing WHERE algorithmVersion <> ?"
        left = store.rows(other_code, (gpop_version(),))[0][0]
    if left:
        print(f"left alone: {left} missing runs of other code than gpop {gpop_version()}", file=sys.stderr)
    print(tally)
    return 1 if tally.wrong or tally.failed else 0


def main(argv: list[str]) -> int:
    """Run what is missing; 1 when an answer was wrong or a job failed."""
    return exit_code(lambda: _run(argv))

"""``python -m perf bench``: time apps over graphs, modes, interleaving, partition sizes and threads.

    python -m perf bench data/road.bin rmat:scale=18 --apps pagerank,bfs --threads 1,2 --output today.json
    python -m perf bench data/road.bin --program apps/widest_path.py:WidestPath --modes sc,pc,auto

Every combination is a pyperf benchmark: some processes, each with warm-ups and values. A value is the time
of one run's iteration loop; loading, building the layout and compiling come before. The JSON file holds
what is finished: the same command continues an interrupted one. Achieved bytes per second are those that
the model (`gpop.model.bytes`) counts over the median time; their share of the limit is that over the best
bandwidth measured with as many threads over arrays as large as the largest iteration's bytes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gpop.common.command import exit_code, fail, file_to_write
from gpop.common.errors import GpopError, UsageError
from gpop.common.parallel import worker_count
from gpop.common.progress import by_default, progress_bar
from gpop.common.replacing import replacing
from gpop.execution.given import full_name, program_named
from perf.add import counts
from perf.algorithms import BENCHED, digest, of_program
from perf.compare import load_suite
from perf.graphs import name_of, normal
from perf.implementations import gpop_version
from perf.machine import best_bandwidth
from perf.parser import documented
from perf.provenance import commit, versions

MODES = ("auto", "sc", "pc", "pull")


def combinations(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Name, app, graph and options of `gpop.run` of every benchmark, each once."""
    found: dict[str, dict[str, Any]] = {}
    programs = {program_named(text).__name__: full_name(text) for text in given.program}
    apps = given.apps or ([] if programs else list(BENCHED))
    for app, graph, mode, interleave, size, threads in itertools.product(
        [*apps, *programs], given.graphs, given.modes, given.interleave, given.partition_sizes, given.threads
    ):
        options: dict[str, Any] = {"mode": mode, "threads": threads}
        if _interleaved(app, programs.get(app)):
            options["interleave"] = interleave == "on"
        elif interleave == "on" and "off" in given.interleave:
            continue  # the same as off
        if size:
            options["partition_size"] = size
        words = [f"{name}={value}" for name, value in sorted(options.items())]
        words += [f"code={digest(programs[app])}"] if app in programs else []
        job = {
            "name": " ".join([app, name_of(graph), *words]),
            "app": app,
            "graph": normal(graph),
            "options": options,
            "program": programs.get(app),
        }
        if found.setdefault(job["name"], job) != job:
            raise UsageError(
                f"{found[job['name']]['graph']} and {job['graph']}: expected graphs of other names"
            )
    return [*found.values()]


def _interleaved(app: str, program: str | None) -> bool:
    """Whether iterations of an app, or of a program, may run into each other."""
    if program is None:
        return BENCHED[app].interleaved
    return of_program(program).interleaved


def measure(job: dict[str, Any], pyperf_options: list[str]) -> Any:
    """One benchmark, in processes of its own; ends them when interrupted."""
    import pyperf

    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        path = Path(folder, "result.json")
        command = [sys.executable, "-m", "perf.bench_worker", "--job", json.dumps(job), "-o", str(path)]
        threads = str(max(job["options"]["threads"], worker_count()))
        process = subprocess.Popen(
            [*command, *pyperf_options, "--quiet", "--copy-env", "--loops", "1"],
            stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True,
            env=os.environ | {"NUMBA_NUM_THREADS": threads},
        )  # fmt: skip
        try:
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, 9)
            process.wait()
            raise
        if code:
            errors.seek(0)
            said = [line for line in errors.read().decode(errors="replace").splitlines() if line.strip()]
            raise GpopError(f"{job['name']}: {_cause(said)}")
        return pyperf.Benchmark.load(str(path))


def _cause(lines: list[str]) -> str:
    """The line of a traceback that says what happened."""
    errors = [line for line in lines if "Error" in line.split(":")[0] and not line.startswith(" ")]
    return (errors or lines or ["no output"])[0]


def achieved(benchmark: Any) -> dict[str, float]:
    """Bytes per second by the model, and their share of what memory can do."""
    known = benchmark.get_metadata()
    rate = known["model_bytes"] / benchmark.median()
    best = best_bandwidth(known["threads"], known["largest_iteration_bytes"])
    return {"bytes_per_second": rate, "bandwidth": best, "share_of_limit": rate / best}


def run(jobs: list[dict[str, Any]], output: Path, pyperf_options: list[str]) -> Iterable[Any]:
    """Measure what the file lacks, one at a time, and write it after each; yields every benchmark."""
    import pyperf

    suite = load_suite(output) if output.exists() else None
    kept = {} if suite is None else {benchmark.get_name(): benchmark for benchmark in suite.get_benchmarks()}
    for name, benchmark in kept.items():
        if benchmark.get_metadata().get("gpop_version") != gpop_version():
            raise UsageError(f"{output}: {name} was measured with other code of gpop; give another file")
    answers: dict[tuple[str, str], str] = {}
    with progress_bar(len(jobs), "bench", " benchmarks", enabled=by_default()) as bar:
        for job in jobs:
            benchmark = kept.get(job["name"])
            if benchmark is None:
                benchmark = measure(job, pyperf_options)
                facts = {"app": job["app"], "graph": name_of(job["graph"]), "gpop_version": gpop_version()}
                facts |= {"gpop_commit": commit(), "versions": versions()}
                benchmark.update_metadata(facts | {name: str(v) if isinstance(v, bool) else v
                                                   for name, v in job["options"].items()})  # fmt: skip
                benchmark.update_metadata(achieved(benchmark))
                answer = benchmark.get_metadata()["answer"]
                if answers.setdefault((job["app"], job["graph"]), answer) != answer:
                    raise GpopError(f"{job['name']}: gives another answer than the benchmark before")
                if suite is None:
                    suite = pyperf.BenchmarkSuite([benchmark])
                else:
                    suite.add_benchmark(benchmark)
                with replacing(output) as temporary:
                    suite.dump(str(temporary), replace=True)
            yield benchmark
            bar.update()


def _line(benchmark: Any) -> str:
    known, values = benchmark.get_metadata(), benchmark.get_values()
    spread = 100 * benchmark.stdev() / benchmark.mean() if len(values) > 1 else 0.0
    return (
        f"{benchmark.get_name():60} {1e3 * benchmark.median():10.3f} ms {spread:5.1f}% "
        f"{known['bytes_per_second'] / 1e9:8.2f} GB/s {known['share_of_limit']:6.0%}"
    )


def _choices(known: tuple[str, ...]) -> Any:
    def convert(text: str) -> list[str]:
        for name in text.split(","):
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r}: expected some of {', '.join(known)}")
        return text.split(",")

    return convert


def _bench(argv: list[str]) -> int:
    parser = documented("bench", __doc__)
    parser.add_argument("graphs", nargs="+", help="files, or KIND:SIZE=VALUE,... of a generator")
    parser.add_argument(
        "--output", type=file_to_write(), default=Path("bench.json"), help="default: %(default)s"
    )
    parser.add_argument("--apps", type=_choices(tuple(BENCHED)), help=f"default: {', '.join(BENCHED)}")
    parser.add_argument(
        "--program", action="append", default=[], metavar="FILE.py:CLASS", help="of your own; several times"
    )
    parser.add_argument("--modes", type=_choices(MODES), default=["auto"], help="default: auto")
    parser.add_argument(
        "--interleave", type=_choices(("on", "off")), default=["off"], help="where possible; default: off"
    )
    parser.add_argument("--partition-sizes", type=counts, default=[0], help="default: by cache and threads")
    parser.add_argument("--threads", type=counts, default=[worker_count()], help="default: all cores")
    parser.add_argument("--processes", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--values", type=int, default=5, help="of each process; default: %(default)s")
    parser.add_argument("--warmups", type=int, default=1, help="of each process; default: %(default)s")
    given = parser.parse_args(argv)
    if min(given.processes, given.values) < 1 or given.warmups < 0:
        parser.error("--processes and --values: expected numbers from 1 on, --warmups from 0 on")
    try:
        import pyperf  # noqa: F401
    except ImportError:
        raise UsageError("bench needs pyperf (pip install pyperf)") from None
    options = [f"--{name}={getattr(given, name)}" for name in ("processes", "values", "warmups")]
    jobs, done = combinations(given), 0
    print(f"{'':60} {'median':>13} {'std':>6} {'model':>13} {'limit':>6}")
    try:
        for benchmark in run(jobs, given.output, options):
            done += 1
            print(_line(benchmark), flush=True)
    except (KeyboardInterrupt, GpopError) as error:
        what = "interrupted" if isinstance(error, KeyboardInterrupt) else error
        code = 130 if isinstance(error, KeyboardInterrupt) else 2
        return fail(f"{what}; {done} of {len(jobs)} are in {given.output}; the same command continues", code)
    return 0


def main(argv: list[str]) -> int:
    """Benchmark; returns the exit code."""
    return exit_code(lambda: _bench(argv))

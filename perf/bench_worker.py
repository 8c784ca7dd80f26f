"""One configuration under pyperf: `perf.bench` starts this file's processes, one after the other.

The parent process of pyperf only starts workers. A worker loads the graph, builds the layout and compiles by
a first call, all before pyperf's clock; what it learns (bytes, iterations, answer) goes along as metadata.
"""

from __future__ import annotations

import json
from typing import Any

import pyperf


def _job_argument(command: list[str], given: Any) -> None:
    command += ["--job", given.job]


def main() -> None:
    """Run pyperf on the configuration in ``--job``."""
    runner = pyperf.Runner(program_args=("-m", "perf.bench_worker"), add_cmdline_args=_job_argument)
    runner.argparser.add_argument("--job", required=True)
    given = runner.parse_args()
    job = json.loads(given.job)
    call = None
    if given.worker:
        from gpop.common.parallel import worker_count
        from perf.algorithms import BENCHED, of_program
        from perf.answers import answer_hash
        from perf.graphs import open_graph

        algorithm = BENCHED[job["app"]] if job["program"] is None else of_program(job["program"])
        graph = algorithm.graph(open_graph(job["graph"]))
        flags = next(iter(algorithm.variants.values()))

        def call() -> Any:
            return algorithm.call(graph, flags, dict(job["options"]))

        result = call()
        run, traffic = result.run, result.trace.column("bytes")
        runner.metadata |= {
            "vertices": graph.n,
            "edges": graph.m,
            "iterations": run.iterations,
            "partition_size": run.partition_size,
            "partitions": run.partitions,
            "cores": worker_count(),
            "model_bytes": int(traffic.sum()),
            "largest_iteration_bytes": int(traffic.max(initial=0)),
            "answer": answer_hash(algorithm.answer(graph, result)) or "floating point",
        }
        del result

    def loop(loops: int) -> float:
        return sum(call().run.seconds for _ in range(loops))

    runner.bench_time_func(job["name"], loop)


if __name__ == "__main__":
    main()

"""``python -m perf validate``: repeat every run whose answer was not found right, and compare it in full.

A run is called valid when its answer is now right: a whole-number answer must equal the right one, a
floating-point answer must be within the tolerance (``--tolerance`` for another one). Times are kept: only
the verdict changes. ``--all`` looks at valid runs again, too.
"""

from __future__ import annotations

import sys
from itertools import groupby

from gpop.common.command import exit_code
from perf.hardware import platform_name
from perf.implementations import gpop_version, installed
from perf.parser import with_store
from perf.run_benchmarks import WorkerFailed, WorkerProcess, describe_job, family_of, request_of
from perf.store import Store

RUNS = """
    SELECT r.id AS runId, g.path, g.name AS graph, g.hash AS graphHash, a.name AS algorithm,
        i.name AS implementation, i.flags AS implFlags, vc.flags AS variantFlags, rc.threads
    FROM Run r
    JOIN RunConfig rc ON rc.id = r.runConfigId
    JOIN Platform p ON p.id = rc.platformId
    JOIN Variant v ON v.id = r.variantId
    JOIN VariantConfig vc ON vc.id = v.variantConfigId
    JOIN Graph g ON g.id = v.graphId
    JOIN Algorithm a ON a.id = r.algorithmId
    JOIN Implementation i ON i.id = r.implId
    WHERE p.name = :platform AND rc.algorithmVersion = :version AND (:every OR NOT r.validated)
    ORDER BY g.id, rc.threads, r.id
"""


def validate(store: Store, tolerance: float | None = None, every: bool = False) -> tuple[int, int]:
    """Check runs again; how many are right now, and how many are not."""
    values = {"platform": platform_name(), "version": gpop_version(), "every": every}
    runs = [run for run in store.rows(RUNS, values) if installed(family_of(run))]
    right = wrong = 0
    for (graph, threads), group in groupby(runs, key=lambda run: (run["path"], run["threads"])):
        group = list(group)
        with WorkerProcess(graph, group[0]["graphHash"], threads) as worker:
            for run in group:
                try:
                    found = worker.ask(do="check", tolerance=tolerance, **request_of(run))
                except WorkerFailed as error:
                    if not worker.alive:
                        raise
                    found = {"fault": str(error), "error": None}
                store.execute(
                    "UPDATE Run SET validated = ?, fault = ?, error = ? WHERE id = ?",
                    (found["fault"] is None, found["fault"], found["error"], run["runId"]),
                )
                right += found["fault"] is None
                wrong += found["fault"] is not None
                if found["fault"]:
                    print(f"WRONG: {describe_job(run)}: {found['fault']}", file=sys.stderr)
    return right, wrong


def _run(argv: list[str]) -> int:
    parser = with_store("validate", __doc__)
    parser.add_argument("--tolerance", type=float, help="for floating-point answers; default: the app's")
    parser.add_argument("--all", action="store_true", help="look at valid runs, too")
    given = parser.parse_args(argv)
    with Store(given.store, create=False) as store:
        right, wrong = validate(store, given.tolerance, given.all)
    print(f"{right + wrong} runs checked: {right} right, {wrong} wrong")
    return 1 if wrong else 0


def main(argv: list[str]) -> int:
    """Validate; 1 when an answer is wrong."""
    return exit_code(lambda: _run(argv))

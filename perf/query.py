"""``python -m perf list TABLE`` and ``python -m perf query ...``: read the store.

    python -m perf list run
    python -m perf query run 3
    python -m perf query sql "SELECT graph, medianTime FROM Result WHERE algorithm = 'bfs'"
    python -m perf query dual-mode
    python -m perf query rse

``dual-mode``: in which share of iterations auto takes at most 1.1 times the better of SC and PC (medians of
runs without interleaving). ``rse``: relative standard errors of each implementation's times, and the share
of its time measured with more than 5 %.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from perf.hardware import platform_name
from perf.implementations import gpop_version
from perf.parser import with_store
from perf.store import Store
from perf.uncertainty import LARGE, rse_of_mean

TABLES = {
    "platform": "SELECT id, name, available, isDefault FROM Platform",
    "dataset": "SELECT d.id, d.name, d.origin, count(g.id) AS graphs FROM Dataset d "
    "LEFT JOIN Graph g ON g.datasetId = d.id GROUP BY d.id",
    "graph": "SELECT g.id, d.name AS dataset, g.name, g.path, g.hash FROM Graph g "
    "JOIN Dataset d ON d.id = g.datasetId",
    "algorithm": "SELECT id, name, prettyName FROM Algorithm",
    "implementation": "SELECT i.id, a.name AS algorithm, i.name, i.type, i.flags FROM Implementation i "
    "JOIN Algorithm a ON a.id = i.algorithmId",
    "external-impl": "SELECT i.id, a.name AS algorithm, i.name FROM ExternalImpl i "
    "JOIN Algorithm a ON a.id = i.algorithmId",
    "variant-config": "SELECT vc.id, a.name AS algorithm, vc.name, vc.flags, vc.isDefault "
    "FROM VariantConfig vc JOIN Algorithm a ON a.id = vc.algorithmId",
    "variant": "SELECT v.id, g.name AS graph, a.name AS algorithm, vc.name AS variant, v.result, v.maxStepId "
    "FROM Variant v JOIN Graph g ON g.id = v.graphId JOIN VariantConfig vc ON vc.id = v.variantConfigId "
    "JOIN Algorithm a ON a.id = v.algorithmId",
    "run-config": "SELECT rc.id, a.name AS algorithm, d.name AS dataset, rc.threads, rc.repeats, "
    "rc.algorithmVersion, p.name AS platform FROM RunConfig rc JOIN Algorithm a ON a.id = rc.algorithmId "
    "JOIN Dataset d ON d.id = rc.datasetId JOIN Platform p ON p.id = rc.platformId",
    "run": "SELECT runId, graph, algorithm, variant, implementation, threads, version, validated, fault "
    "FROM RunName ORDER BY runId",
    "timer": "SELECT graph, algorithm, variant, implementation, threads, timer, medianTime, avgTime, "
    "stdDev, repeats, source FROM Result",
    "step-timer": "SELECT runId, graph, algorithm, implementation, threads, step, timer, medianTime, "
    "samples FROM StepResult",
    "step-log": "SELECT strategy, model, target, platform, graph, algorithm, variant, threads, step, "
    "seconds, frontier, edges, messages FROM StepLog",
    "model": "SELECT m.id, m.name, a.name AS algorithm, p.name AS platform, m.target, m.threads, "
    "m.trainGraphs, m.trainVariants, m.trainSteps, m.trainSeed, m.totalUnknownCount, m.timestamp "
    "FROM PredictionModel m JOIN Algorithm a ON a.id = m.algorithmId JOIN Platform p ON p.id = m.platformId",
    "graph-property": "SELECT g.name AS graph, q.property, value FROM GraphPropValue x "
    "JOIN Graph g ON g.id = x.graphId JOIN PropertyName q ON q.id = x.propId",
    "step-property": "SELECT variantId, stepId, q.property, value FROM StepPropValue x "
    "JOIN PropertyName q ON q.id = x.propId",
    "failure": "SELECT g.name AS graph, a.name AS algorithm, i.name AS implementation, t.retryCount, "
    "t.message FROM Attempt t JOIN Variant v ON v.id = t.variantId JOIN Graph g ON g.id = v.graphId "
    "JOIN Implementation i ON i.id = t.implId JOIN Algorithm a ON a.id = i.algorithmId",
    "missing": "SELECT graph, algorithm, variant, implementation, threads, retryCount, "
    "CASE WHEN algorithmVersion = :version THEN 'yes' ELSE 'other version' END AS runnable "
    "FROM Missing m JOIN Platform p ON p.id = m.platformId WHERE p.name = :platform",
    "missing-validation": "SELECT runId, graph, algorithm, variant, implementation, fault "
    "FROM RunName WHERE NOT validated",
}

ENTRIES = {"platform": "Platform", "dataset": "Dataset", "graph": "Graph", "algorithm": "Algorithm"}

DUAL_MODE = """
    SELECT graph, algorithm, variant, threads, platform, step, implementation, medianTime
    FROM StepResult WHERE timer = 'iteration' AND implementation IN ('gpop-sc', 'gpop-pc', 'gpop-auto')
"""


def dual_mode(store: Store, slack: float = 1.1) -> list[dict[str, Any]]:
    """Per graph, app and thread count: in how many iterations auto keeps up with the better of SC and PC."""
    steps: dict[tuple, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in store.rows(DUAL_MODE):
        key = tuple(row[name] for name in ("graph", "algorithm", "variant", "threads"))
        steps[key][row["step"]][row["implementation"]] = row["medianTime"]
    found = []
    for (graph, algorithm, variant, threads), by_step in steps.items():
        complete = [times for times in by_step.values() if len(times) == 3]
        if not complete:
            continue
        ratios = [times["gpop-auto"] / min(times["gpop-sc"], times["gpop-pc"]) for times in complete]
        best = sum(min(times["gpop-sc"], times["gpop-pc"]) for times in complete)
        found.append(
            {
                "graph": graph,
                "algorithm": algorithm,
                "variant": variant,
                "threads": threads,
                "iterations": len(ratios),
                "within": sum(ratio <= slack for ratio in ratios) / len(ratios),
                "worst": max(ratios),
                "time over best": sum(times["gpop-auto"] for times in complete) / best,
            }
        )
    return found


def standard_errors(store: Store) -> list[dict[str, Any]]:
    """Per implementation: mean and largest RSE, and the share of its time with a large one."""
    groups: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in store.rows("SELECT * FROM Result WHERE timer = 'computation' AND repeats > 1"):
        rse = rse_of_mean(row["avgTime"], row["stdDev"], row["repeats"])
        groups[row["algorithm"], row["implementation"]].append((rse, row["avgTime"]))
    found = []
    for (algorithm, implementation), measured in groups.items():
        total = sum(seconds for _, seconds in measured)
        found.append(
            {
                "algorithm": algorithm,
                "implementation": implementation,
                "runs": len(measured),
                "mean RSE": sum(rse for rse, _ in measured) / len(measured),
                "largest RSE": max(rse for rse, _ in measured),
                "flagged": sum(rse > LARGE for rse, _ in measured),
                "time flagged": sum(seconds for rse, seconds in measured if rse > LARGE) / total,
            }
        )
    return found


def show(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print rows as a table, or as JSON."""
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    if not rows:
        print("nothing")
        return
    cells = [list(rows[0])] + [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _entry(store: Store, kind: str, name: str) -> list[dict[str, Any]]:
    if kind == "run":
        found = store.rows("SELECT * FROM RunName WHERE runId = ?", (name,))
        timers = store.rows("SELECT * FROM TotalTimer WHERE runId = ?", (name,))
    else:
        key = store.require(ENTRIES[kind], kind, name)
        found, timers = store.rows(f"SELECT * FROM {ENTRIES[kind]} WHERE id = ?", (key,)), []
    if not found:
        raise UsageError(f"{store.path}: there is no {kind} {name}")
    values = dict(found[0])
    for timer in map(dict, timers):
        name = timer.pop("name")
        values |= {f"{name} {column}": value for column, value in timer.items() if column != "runId"}
    return [{"name": name, "value": value} for name, value in values.items()]


def table_of(name: str) -> str:
    """A table by its name or its plural.

    >>> table_of("graphs"), table_of("run-configs"), table_of("graph-properties"), table_of("missing")
    ('graph', 'run-config', 'graph-property', 'missing')
    """
    for one in (name, name.removesuffix("s"), name.removesuffix("ies") + "y"):
        if one in TABLES:
            return one
    return name


def _read(argv: list[str]) -> None:
    command, *argv = argv
    parser = with_store(command, __doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    if command == "list":
        parser.add_argument("what", type=table_of, choices=TABLES, metavar="TABLE", help=", ".join(TABLES))
    else:
        parser.add_argument("what", choices=("run", *ENTRIES, "sql", "dual-mode", "rse"))
        parser.add_argument("name", nargs="?", help="of the entry, or the SQL")
    given = parser.parse_args(argv)
    with Store(given.store, create=False) as store:
        if command == "list":
            values = {"platform": platform_name(), "version": gpop_version()}
            rows = [dict(row) for row in store.rows(TABLES[given.what], values)]
        elif given.what == "dual-mode":
            rows = dual_mode(store)
        elif given.what == "rse":
            rows = standard_errors(store)
        elif given.name is None:
            raise UsageError(f"query {given.what}: which one?")
        elif given.what == "sql":
            store.execute("PRAGMA query_only = ON")
            rows = [dict(row) for row in store.rows(given.name)]
        else:
            rows = _entry(store, given.what, given.name)
    show(rows, given.json)


def main(argv: list[str]) -> int:
    """``list`` or ``query`` and its arguments; returns the exit code."""
    return exit_code(lambda: _read(argv))

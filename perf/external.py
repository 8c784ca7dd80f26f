"""``python -m perf import-external results.csv``: times of programs that are not run here.

Columns, with a header line: ``algorithm,graph,variant,implementation,version,threads,timer,min,avg,max,std``;
seconds; graph, algorithm and variant must be registered, ``variant`` may be empty for the default one and
``timer`` for ``computation``. All lines are taken or none. The answers of such programs are not checked: the
view Result calls them ``external``.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from perf.parser import with_store
from perf.register import register_platform
from perf.store import Store

COLUMNS = [
    "algorithm",
    "graph",
    "variant",
    "implementation",
    "version",
    "threads",
    "timer",
    "min",
    "avg",
    "max",
    "std",
]


def import_external(store: Store, path: Path, platform: str | None = None) -> int:
    """Take a CSV file's times; how many. Times there already are replaced."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, strict=True)
            lacking = set(COLUMNS) - set(reader.fieldnames or ())
            if lacking:
                raise UsageError(f"{path}: no column {min(lacking)}, expected {','.join(COLUMNS)}")
            lines = [(reader.line_num, line) for line in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    with store.transaction():
        platform_id = register_platform(store, platform)
        for number, line in lines:
            try:
                _take(store, line, platform_id)
            except UsageError as error:
                raise UsageError(f"{path}, line {number}: {error}") from None
    return len(lines)


def _take(store: Store, line: dict[str, str], platform: int) -> None:
    if None in line or None in line.values():
        raise UsageError(f"expected {len(COLUMNS)} columns")
    algorithm = store.require("Algorithm", "algorithm", line["algorithm"])
    variants = store.rows(
        "SELECT v.id FROM Variant v JOIN Graph g ON g.id = v.graphId "
        "JOIN VariantConfig vc ON vc.id = v.variantConfigId WHERE v.algorithmId = :algorithm "
        "AND g.name = :graph AND (vc.name = :variant OR (:variant = '' AND vc.isDefault))",
        {"algorithm": algorithm, "graph": line["graph"], "variant": line["variant"]},
    )
    if len(variants) != 1:
        which = f"graph {line['graph']!r}, variant {line['variant'] or 'default'!r}"
        known = "no such" if not variants else "more than one"
        raise UsageError(f"{known} variant of {line['algorithm']}: {which}")
    try:
        times = [float(line[name]) for name in ("min", "avg", "max", "std")]
        threads = int(line["threads"])
    except ValueError as error:
        raise UsageError(str(error)) from None
    least, average, most, deviation = times
    if not (0 < least <= average <= most < math.inf and 0 <= deviation < math.inf and threads > 0):
        raise UsageError("expected 0 < min <= avg <= max, std from 0 on, threads from 1 on")
    implementation = store.name_id("ExternalImpl", algorithmId=algorithm, name=line["implementation"])
    timer = line["timer"] or "computation"
    store.execute(
        "INSERT OR REPLACE INTO ExternalTimer VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (platform, variants[0]["id"], implementation, algorithm, timer, threads, line["version"], *times),
    )


def _run(argv: list[str]) -> None:
    parser = with_store("import-external", __doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--platform", help="the machine they were measured on; default: this one")
    given = parser.parse_args(argv)
    with Store(given.store, create=False) as store:
        print(f"{import_external(store, given.file, given.platform)} times imported")


def main(argv: list[str]) -> int:
    """Import; returns the exit code."""
    return exit_code(lambda: _run(argv))

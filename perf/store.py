"""The result store: one SQLite file, opened, migrated and written here.

Every write is one transaction: what is in the file is finished, what is not there was not done. Errors of
SQLite (a full disk, a locked or damaged file) become one line. Reading is SQL: `Store.rows`, over the
views that `perf.schema` describes; what is missing is a view, too.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpop.common.errors import GpopError, UsageError
from perf.schema import MIGRATIONS, VERSION

DEFAULT_PATH = Path("perf.db")
LOCK_SECONDS = 10.0
MOST_RETRIES = 3

Row = sqlite3.Row


class StoreError(GpopError):
    """The store cannot be read or written."""


class Store:
    """An open result store.

    Parameters
    ----------
    path : path
        The SQLite file; made when ``create``.
    create : bool
        Whether a missing file is made; else it is an error.

    Examples
    --------
    >>> store = Store(":memory:")
    >>> store.name_id("Dataset", name="road networks")
    1
    >>> [row["name"] for row in store.rows("SELECT name FROM Dataset")]
    ['road networks']
    """

    def __init__(self, path: str | Path = DEFAULT_PATH, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise StoreError(f"{path}: there is no such store; python -m perf add makes one")
        with self._errors():
            self._db = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
            try:
                self._db.row_factory = Row
                self._migrate()
                self._db.execute("PRAGMA foreign_keys = ON")
            except BaseException:
                self._db.close()  # nobody else can
                raise

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of SQLite as one line that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from None

    def _migrate(self) -> None:
        """Bring the tables to this version, one migration at a time, each whole or not at all."""
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise StoreError(f"{self.path}: is a store of version {version}, expected at most {VERSION}")
        if version == 0 and self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise StoreError(f"{self.path}: is an SQLite file, but not a result store")
        self._db.execute("PRAGMA foreign_keys = OFF")  # tables are rebuilt; checked below
        for number in range(version, VERSION):
            try:
                # Another process may be migrating as well: the version is looked at again under the lock.
                self._db.execute("BEGIN IMMEDIATE")
                if self._db.execute("PRAGMA user_version").fetchone()[0] == number:
                    for statement in MIGRATIONS[number].split(";\n"):
                        self._db.execute(statement)
                    if self._db.execute("PRAGMA foreign_key_check").fetchone():
                        raise StoreError(f"{self.path}: has references to rows that do not exist")
                    self._db.execute(f"PRAGMA user_version = {number + 1}")
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes within, or none of them."""
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk ends the transaction by itself
                    self._db.execute("ROLLBACK")
                raise

    def rows(self, sql: str, values: Iterable[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """Rows of a query (columns by name)."""
        with self._errors():
            return self._db.execute(sql, values).fetchall()

    def execute(self, sql: str, values: Iterable[Any] | Mapping[str, Any] = ()) -> int:
        """One writing statement; the number of rows it changed."""
        with self._errors():
            return self._db.execute(sql, values).rowcount

    def find(self, table: str, **columns: Any) -> int | None:
        """Id of the row with these values, or None. Names of tables and columns are the code's own."""
        where = " AND ".join(f"{name} = :{name}" for name in columns)
        found = self.rows(f"SELECT id FROM {table} WHERE {where}", columns)
        return found[0]["id"] if found else None

    def insert(self, table: str, **columns: Any) -> int:
        """Add a row; its id. Breaking a rule of the table is an error."""
        names = ", ".join(columns)
        marks = ", ".join(f":{name}" for name in columns)
        with self._errors():
            return self._db.execute(f"INSERT INTO {table}({names}) VALUES({marks})", columns).lastrowid

    def insert_all(self, table: str, rows: list[dict[str, Any]]) -> None:
        """Add rows, all of the same columns."""
        if not rows:
            return
        names = tuple(rows[0])
        sql = f"INSERT INTO {table}({', '.join(names)}) VALUES({', '.join(f':{name}' for name in names)})"
        with self._errors():
            self._db.executemany(sql, rows)

    def name_id(self, table: str, *, also: Mapping[str, Any] | None = None, **columns: Any) -> int:
        """Id of the row with these values, which is added, with the values ``also``, if it is not there."""
        found = self.find(table, **columns)
        return self.insert(table, **columns, **(also or {})) if found is None else found

    def require(self, table: str, what: str, name: str) -> int:
        """Id of the row of this name, or a `UsageError` that lists the names there are."""
        found = self.find(table, name=name)
        if found is None:
            known = [row["name"] for row in self.rows(f"SELECT DISTINCT name FROM {table} ORDER BY name")]
            raise UsageError(f"{self.path}: no {what} {name!r}, expected one of {', '.join(known) or 'none'}")
        return found

    def complete_variants(self) -> None:
        """A variant for every graph and variant configuration whose algorithm runs on the graph's dataset."""
        self.execute("""
            INSERT OR IGNORE INTO Variant(graphId, variantConfigId, algorithmId)
            SELECT DISTINCT g.id, vc.id, vc.algorithmId FROM RunConfig rc
            JOIN Graph g ON g.datasetId = rc.datasetId
            JOIN VariantConfig vc ON vc.algorithmId = rc.algorithmId""")

    def missing(self, platform: str, version: str, retries: int = MOST_RETRIES) -> list[Row]:
        """Jobs without a run, of this platform and version of gpop, that have not failed too often."""
        return self.rows(
            "SELECT m.* FROM Missing m JOIN Platform p ON p.id = m.platformId "
            "WHERE p.name = ? AND p.available AND algorithmVersion = ? AND retryCount < ?",
            (platform, version, retries),
        )

    def record_run(self, job: Row, done: Mapping[str, Any]) -> bool:
        """Store what a worker measured for a job of `missing`, whole or not at all.

        ``done`` has ``version``, ``hash`` (None for floating point), ``fault`` (None when the answer is
        right), ``error``, ``totals`` {timer: seconds of each repeat}, ``steps`` {timer: per repeat, seconds
        of each step} and ``values`` {property: value of each step}. False if the run was there already.
        """
        with self.transaction():
            key = {"runConfigId": job["runConfigId"], "variantId": job["variantId"], "implId": job["implId"]}
            if self.find("Run", **key) is not None:
                return False
            fault = done["fault"]
            if fault is None and job["result"] is not None and done["hash"] != job["result"]:
                fault = "the hash of the answer is not that of the right one"
            run = self.insert(
                "Run", **key, algorithmId=job["algorithmId"], timestamp=now(), validated=fault is None,
                version=done["version"], fault=fault, error=done["error"],
            )  # fmt: skip
            for name, seconds in done["totals"].items():
                self.insert("TotalTimer", runId=run, name=name, **aggregate(seconds))
            for name, repeats in done["steps"].items():
                rows = []
                for step in range(max(map(len, repeats), default=0)):
                    seconds = [repeat[step] for repeat in repeats if step < len(repeat)]
                    key_of_step = {"runId": run, "variantId": job["variantId"], "stepId": step, "name": name}
                    rows.append({**key_of_step, "samples": len(seconds), **aggregate(seconds)})
                self.insert_all("StepTimer", rows)
            for name, values in done["values"].items():
                prop = self.name_id("PropertyName", property=name, also={"isStepProp": 1})
                names = ("runId", "propId", "stepId", "value")
                found = ((run, prop, step, value) for step, value in enumerate(values))
                self.insert_all("RunStepValue", [dict(zip(names, row, strict=True)) for row in found])
            self.execute(
                "DELETE FROM Attempt WHERE runConfigId = :runConfigId AND variantId = :variantId "
                "AND implId = :implId", key,
            )  # fmt: skip
        return True

    def record_failure(self, job: Row, message: str, times: int = 1) -> None:
        """Count a failed attempt at a job of `missing`, or so many."""
        with self.transaction():
            self.execute(
                "INSERT INTO Attempt VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "retryCount = retryCount + excluded.retryCount, message = excluded.message, "
                "timestamp = excluded.timestamp",
                (job["runConfigId"], job["variantId"], job["implId"], times, message, now()),
            )

    def record_variant(self, variant: int, algorithm: int, known: Mapping[str, Any]) -> None:
        """Store the right answer's hash and the step properties of a variant."""
        with self.transaction():
            steps = max(map(len, known["steps"].values()), default=0)
            self.execute(
                "UPDATE Variant SET result = ?, maxStepId = ?, propsStored = 1 WHERE id = ?",
                (known["hash"], max(steps - 1, 0), variant),
            )
            self.execute("DELETE FROM StepPropValue WHERE variantId = ?", (variant,))
            for name, values in known["steps"].items():
                prop = self.name_id("PropertyName", property=name, also={"isStepProp": 1})
                self.execute("INSERT OR IGNORE INTO StepProp VALUES(?, ?)", (prop, algorithm))
                for step, value in enumerate(values):
                    row = (variant, step, prop, algorithm, value)
                    self.execute("INSERT INTO StepPropValue VALUES(?, ?, ?, ?, ?)", row)

    def record_graph(self, graph: int, told: Mapping[str, Any]) -> None:
        """Store the hash and the properties of a graph."""
        with self.transaction():
            self.execute("UPDATE Graph SET hash = ? WHERE id = ?", (told["hash"], graph))
            self.execute("DELETE FROM GraphPropValue WHERE graphId = ?", (graph,))
            for name, value in told["properties"].items():
                prop = self.name_id("PropertyName", property=name, also={"isStepProp": 0})
                self.execute("INSERT INTO GraphPropValue VALUES(?, ?, ?)", (graph, prop, value))


def now() -> str:
    """The time, as stored: UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def flags_text(flags: Mapping[str, Any]) -> str:
    """Flags as stored: equal flags are equal texts.

    >>> flags_text({"mode": "sc", "interleave": False})
    '{"interleave": false, "mode": "sc"}'
    """
    return json.dumps(flags, sort_keys=True)


def aggregate(seconds: list[float]) -> dict[str, float]:
    """Columns of a timer from its repeats; the standard deviation of one repeat is 0.

    >>> aggregate([2.0, 1.0, 3.0])["medianTime"]
    2.0
    """
    return {
        "minTime": min(seconds),
        "avgTime": statistics.fmean(seconds),
        "maxTime": max(seconds),
        "stdDev": statistics.stdev(seconds) if len(seconds) > 1 else 0.0,
        "medianTime": statistics.median(seconds),
    }

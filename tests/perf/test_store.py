"""The result store: tables, rules, migrations, full disks and locks."""

from __future__ import annotations

import sqlite3

import pytest

from perf import schema, store
from perf.store import Store, StoreError

THESIS = {  # its tables and their columns
    "GlobalVars": "name value",
    "Platform": "id name prettyName flags available isDefault",
    "Dataset": "id name",
    "Graph": "id name path prettyName datasetId timestamp",
    "Algorithm": "id name prettyName",
    "Implementation": "id algorithmId name prettyName flags type timestamp",
    "VariantConfig": "id algorithmId name flags isDefault timestamp",
    "Variant": "id graphId variantConfigId algorithmId result maxStepId propsStored retryCount",
    "RunConfig": "id algorithmId platformId datasetId algorithmVersion repeats",
    "Run": "id runConfigId variantId implId algorithmId timestamp validated",
    "PropertyName": "id property isStepProp",
    "GraphPropValue": "graphId propId value",
    "StepProp": "propId algorithmId",
    "StepPropValue": "variantId stepId propId algorithmId value",
    "TotalTimer": "runId name minTime avgTime maxTime stdDev",
    "StepTimer": "runId variantId stepId name minTime avgTime maxTime stdDev",
    "ExternalImpl": "id algorithmId name prettyName",
    "ExternalTimer": "platformId variantId implId algorithmId name minTime avgTime maxTime stdDev",
}


def columns(path, table):
    with sqlite3.connect(path) as db:
        return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


@pytest.fixture
def first_version(tmp_path, monkeypatch):
    """Path of a store of version 1 with a run in it."""
    path = tmp_path / "old.db"
    monkeypatch.setattr(store, "VERSION", 1)
    with Store(path) as old:
        fill(old)
    monkeypatch.undo()
    return path


def fill(db):
    platform = db.insert("Platform", name="here")
    dataset = db.insert("Dataset", name="small")
    graph = db.insert("Graph", name="g", path="/g", datasetId=dataset, timestamp="t")
    for name in ("bfs", "cc"):
        algorithm = db.insert("Algorithm", name=name)
        config = db.insert("VariantConfig", algorithmId=algorithm, name="v", flags="{}", timestamp="t")
        db.insert("Variant", graphId=graph, variantConfigId=config, algorithmId=algorithm)
        db.insert(
            "Implementation", algorithmId=algorithm, name="gpop", flags="{}", type="Core", timestamp="t"
        )
    db.insert(
        "RunConfig", algorithmId=1, platformId=platform, datasetId=dataset, algorithmVersion="1", repeats=5
    )
    run = db.insert("Run", runConfigId=1, variantId=1, implId=1, algorithmId=1, timestamp="t", validated=1)
    db.insert("TotalTimer", runId=run, name="computation", minTime=1, avgTime=2, maxTime=3, stdDev=0.5)


def test_tables_of_the_thesis(first_version):
    for table, expected in THESIS.items():
        assert columns(first_version, table) == expected.split()


def test_an_older_store_is_migrated_and_keeps_its_rows(first_version):
    with Store(first_version) as migrated:
        assert migrated.rows("PRAGMA user_version")[0][0] == schema.VERSION == 3
        found = migrated.rows("SELECT * FROM Result")
        assert [(row["graph"], row["avgTime"], row["threads"]) for row in found] == [("g", 2.0, 1)]
        with pytest.raises(StoreError, match="FOREIGN KEY"):  # also on the tables that were rebuilt
            migrated.execute("UPDATE Run SET runConfigId = 99")
    for table, expected in THESIS.items():
        assert set(expected.split()) <= set(columns(first_version, table))


def test_a_migration_happens_whole_or_not_at_all(first_version, monkeypatch):
    broken = (schema.MIGRATIONS[0], schema.MIGRATIONS[1] + ";\nINSERT INTO NoSuchTable VALUES(1);\n")
    monkeypatch.setattr(store, "MIGRATIONS", broken)
    with pytest.raises(StoreError, match="NoSuchTable"):
        Store(first_version)
    assert "threads" not in columns(first_version, "RunConfig")
    monkeypatch.undo()
    Store(first_version).close()
    assert "threads" in columns(first_version, "RunConfig")


def test_a_newer_store_and_another_database_are_refused(tmp_path):
    newer = tmp_path / "newer.db"
    Store(newer).close()
    with sqlite3.connect(newer) as db:
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(StoreError, match=r"newer\.db: is a store of version 4, expected at most 3"):
        Store(newer)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE Customers(id)")
    with pytest.raises(StoreError, match="not a result store"):
        Store(other)
    text = tmp_path / "text.db"
    text.write_text("no database at all, but a text of some length\n" * 50)
    with pytest.raises(StoreError, match="not a database"):
        Store(text)


@pytest.mark.parametrize(
    "change",
    [
        {"algorithmId": 2},  # the variant and the implementation are BFS's
        {"variantId": 2},
        {"implId": 2},
        {"runConfigId": 7},
    ],
)
def test_references_must_fit_together(tmp_path, first_version, change):
    key = {"runConfigId": 1, "variantId": 1, "implId": 1, "algorithmId": 1, "timestamp": "t"}
    with Store(first_version) as db:
        db.execute("DELETE FROM TotalTimer")
        db.execute("DELETE FROM Run")
        with pytest.raises(StoreError, match="FOREIGN KEY"):
            db.insert("Run", **(key | change))
        db.insert("Run", **key)
        with pytest.raises(StoreError, match="UNIQUE"):
            db.insert("Run", **key)


def test_a_transaction_is_whole_or_nothing(tmp_path):
    with Store(tmp_path / "s.db") as db:
        with pytest.raises(ZeroDivisionError), db.transaction():
            db.insert("Dataset", name="half")
            raise ZeroDivisionError
        assert db.find("Dataset", name="half") is None
        db.insert("Dataset", name="whole")
    with Store(tmp_path / "s.db") as db:
        assert db.find("Dataset", name="whole") == 1


def test_a_full_disk_keeps_what_was_there(tmp_path):
    with Store(tmp_path / "s.db") as db:
        db.insert("Dataset", name="before")
        pages = db.rows("PRAGMA page_count")[0][0]
        db.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to meet SQLITE_FULL
        with pytest.raises(StoreError, match=r"s\.db: database or disk is full"), db.transaction():
            for number in range(10_000):
                db.insert("Dataset", name=f"{number:0500}")
        db.execute("PRAGMA max_page_count = 1000000")
        assert [row["name"] for row in db.rows("SELECT name FROM Dataset")] == ["before"]
        assert db.rows("PRAGMA integrity_check")[0][0] == "ok"


def test_a_locked_store_says_so(tmp_path, monkeypatch):
    path = tmp_path / "s.db"
    Store(path).close()
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="database is locked"):
        Store(path)
    other.execute("ROLLBACK")
    other.close()
    Store(path).close()

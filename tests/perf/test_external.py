"""Times of other programs from a CSV file: all or none, marked as external."""

from __future__ import annotations

import pytest

from gpop.common.errors import UsageError
from perf import register
from perf.external import COLUMNS, import_external
from perf.store import Store

HEADER = ",".join(COLUMNS)
GOOD = "bfs,g,hub,ligra,1.5,2,computation,0.1,0.2,0.3,0.01"


@pytest.fixture
def db(tmp_path):
    (tmp_path / "g.el").write_text("0 1\n")
    with Store(tmp_path / "s.db") as opened:
        register.register_graphs(opened, "d", [str(tmp_path / "g.el")])
        register.register_run_config(opened, "bfs", "d")
        yield opened


def take(db, *lines):
    path = db.path.with_name("times.csv")
    path.write_text("\n".join(lines) + "\n")
    return import_external(db, path)


def test_times_are_results_with_version_and_threads(db):
    assert take(db, HEADER, GOOD, GOOD.replace("ligra,1.5,2", "ligra,1.5,1").replace("hub", "")) == 2
    rows = db.rows("SELECT * FROM Result ORDER BY threads")
    assert [row["threads"] for row in rows] == [1, 2]
    for row in rows:
        assert (row["implementation"], row["version"], row["source"]) == ("ligra", "1.5", "external")
        assert (row["graph"], row["variant"], row["avgTime"]) == ("g", "hub", 0.2)
    take(db, HEADER, GOOD.replace("0.2", "0.25"))
    assert [row["avgTime"] for row in db.rows("SELECT * FROM Result ORDER BY threads")] == [0.2, 0.25]


@pytest.mark.parametrize("line, said", [
    (GOOD.replace("bfs", "bfz"), "no algorithm 'bfz'"),
    (GOOD.replace(",g,", ",h,"), "graph 'h'"),
    (GOOD.replace("hub", "leaf"), "variant 'leaf'"),
    (GOOD.replace("0.1,", "fast,"), "could not convert"),
    (GOOD.replace("0.1,", "0.5,"), "expected 0 < min <= avg <= max"),
    (GOOD.replace("0.3,", "inf,"), "expected 0 < min <= avg <= max"),
    (GOOD.replace(",2,", ",0,"), "threads from 1 on"),
    ("bfs,g,hub", "expected 11 columns"),
])  # fmt: skip
def test_a_bad_line_is_named_and_nothing_is_taken(db, line, said):
    with pytest.raises(UsageError, match=r"times\.csv, line 3: ") as caught:
        take(db, HEADER, GOOD, line)
    assert said in str(caught.value)
    assert db.rows("SELECT * FROM Result") == []
    assert db.rows("SELECT * FROM ExternalImpl") == []


def test_a_missing_column_is_named(db):
    with pytest.raises(UsageError, match="no column version"):
        take(db, HEADER.replace("version,", ""), GOOD)

"""Trees of other data sets and devices: cells are what the trees take, on logs that follow a rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpop.learn.train import train
from perf.__main__ import main
from perf.model_transfer import SHARES, across_devices, across_families, total
from perf.steps import Which, all_logs, read_log
from perf.store import Store
from tests.perf.small_log import FAMILIES, fill


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    with fill(tmp_path_factory.mktemp("stores") / "log.db") as store:
        return read_log(store, Which())


def cells(table):
    """Rows of a table by what they begin with."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:] for row in rows}


def elsewhere(log):
    """The same steps on a device on which sc and pull have changed places."""
    steps = replace(log.steps, seconds=log.steps.seconds[:, [0, 2, 1]])
    return log._replace(steps=steps, platform="other", target="gpu")


def test_families(log):
    found = cells(across_families(log.steps))
    road, web = (log.steps.where(log.steps.family == family) for family in FAMILIES)
    assert found["trained on"] == ["road", "web", "all others"]
    assert found["road"] == ["", f"{total(web, train(road)):.2f}", f"{total(web, train(road)):.2f}"]
    assert found["web"][1] == "" and found["auto"] == ["1.30"] * 3
    fixed = log.steps.best_fixed().sum() / log.steps.oracle.sum()
    assert found["best fixed"][-1] == f"{fixed:.2f}"


def test_devices(log):
    table, said = across_devices([log, elsewhere(log)])
    found = cells(table)
    names = found.pop("trained on")
    assert len(names) == 2 and names[1] == "gpu, other"
    rows = [row for name, row in found.items() if " of " in name]
    assert len(rows) == 2 * 2 * len(SHARES)
    own = [float(row[name.startswith("gpu")]) for name, row in found.items() if " of " in name]
    foreign = [float(row[not name.startswith("gpu")]) for name, row in found.items() if " of " in name]
    assert max(own) < 2 < min(foreign)  # the rule is learned, and is wrong on the other device
    assert f"take {min(foreign):.2f} to {max(foreign):.2f} of" in said
    assert f"0 of {len(rows)} are better than the best fixed" in said


def test_logs_of_several_stores_are_studied_together(log, tmp_path, capsys):
    paths = [tmp_path / "here.db", tmp_path / "there.db"]
    for path in paths:
        fill(path).close()
    with Store(paths[1]) as store:
        store.execute("UPDATE Platform SET name = 'other'")
        assert [each.platform for each in all_logs(store, Which(None, None))] == ["other"]
        assert all_logs(store, Which(None, "gpu")) == []
    assert main(["model-study", *map(str, paths)]) == 0
    out = capsys.readouterr().out
    assert out.count("## BFS, cpu, ") == 2 and "## BFS, trees of one log on the others" in out
    assert main(["model-study", str(paths[0]), "--app", "cc"]) == 2
    assert "no steps of these" in capsys.readouterr().err

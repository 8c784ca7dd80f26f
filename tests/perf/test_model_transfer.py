"""Trees of other data sets and devices: cells are what the trees take, on logs that follow a rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpop.learn.split import Split
from gpop.learn.train import train
from perf.__main__ import main
from perf.model_sizes import Totals, sentences, table, training_sizes
from perf.model_study import report
from perf.model_transfer import (
    SET_SHARES,
    SHARES,
    across_devices,
    across_families,
    across_sets,
    rival_of,
    total,
)  # fmt: skip
from perf.steps import Which, all_logs, read_log, whole_runs
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
    assert f"0 of {len(rows)} are not above the best fixed" in said
    # sc and pull have changed places, and so has their order.
    assert "cpu, " in said and "pull, sc, pc" in said and "sc, pull, pc" in said and "another order." in said


def test_devices_are_compared_by_the_strategies_that_both_have(log):
    other = log._replace(steps=log.steps.only({"pc", "sc"}), platform="other")
    table, said = across_devices([log, other])
    assert "pull" not in said and "the same order." in said
    two = log.steps.only({"pc", "sc"})
    fixed = two.best_fixed().sum() / two.oracle.sum()
    assert cells(table)["best fixed"] == [f"{fixed:.2f}"] * 2


def test_sets_are_files_and_generated_graphs(log):
    assert across_sets(log) is None  # all are generated
    firsts = {number: f"road-{number}" if number % 2 else f"file{number}" for number in log.graphs}
    mixed = log._replace(graphs=firsts)
    table, said = across_sets(mixed)
    found = cells(table)
    assert found["trained on"] == ["files", "generated graphs"]
    rows = {name: row for name, row in found.items() if " of " in name}
    assert len(rows) == 2 * 2 * len(SET_SHARES)
    made = np.isin(log.steps.graph, [number for number in log.graphs if number % 2])
    steps, other = log.steps.where(~made), log.steps.where(made)
    chosen = Split(steps=0.8).of(steps)
    tree = train(steps.where(chosen))
    expected = [f"{total(steps.where(~chosen), tree):.2f}", f"{total(other, tree):.2f}"]
    assert rows["files, 80% of steps"] == expected
    foreign = [float(row[1]) for name, row in rows.items() if name.startswith("files")]
    assert f"Trees of files take {min(foreign):.2f} to {max(foreign):.2f} of the oracle's time" in said
    assert said.count(f"{len(foreign)} of {len(foreign)} are not above best fixed") == 2


def test_training_sizes(log):
    found = training_sizes(log.steps)
    assert [*found] == ["graphs", "variants", "steps"] and all(10 in of or of for of in found.values())
    chosen = Split(steps=0.3).of(log.steps)
    tree = train(log.steps.where(chosen))
    assert found["steps"][30] == (total(log.steps.where(~chosen), tree), total(log.steps, tree))
    assert found["steps"][100].rest is None and found["steps"][100].whole == 1
    assert table(found).splitlines()[-1] == "| 100 % | - / 1.00 | - / 1.00 | - / 1.00 |"
    said = sentences({"steps": {10: Totals(9.0, 9.0), 20: Totals(1.0, 1.0)}}, log.steps)
    assert "2 trees by shares of steps: from 20 % on as good as best fixed" in said[0]
    assert ": never as good as" in sentences({"steps": {10: Totals(9.0, 9.0)}}, log.steps)[0]


def test_runs_that_are_one_sample_are_studied_by_graphs(log):
    whole = log._replace(steps=whole_runs(log.steps), algorithm="pagerank")
    assert len(whole.steps) == len(log.steps.variants)
    assert np.allclose(whole.steps.seconds, log.steps.per_variant(log.steps.seconds))
    assert [*training_sizes(whole.steps)] == ["graphs"]
    name, bar = rival_of(whole.steps)
    totals = whole.steps.seconds.sum(axis=0) / whole.steps.oracle.sum()
    assert bar == totals.min() and name.endswith(" everywhere")
    table, _ = across_devices([whole, elsewhere(whole)])
    assert all("of graphs" in name for name in cells(table) if " of " in name)
    out = report([whole])
    assert "## PageRank, cpu, " in out and f"{name} ({bar:.2f})" in out


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

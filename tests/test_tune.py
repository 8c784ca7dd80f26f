"""``python -m gpop.tune``: what it measures, trains and keeps; seconds are whatever they are."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gpop
from gpop import tune
from gpop.generate import generate
from gpop.model.features import OF_RUN
from gpop.model.trees import read_tree
from gpop.plan import tree_for
from tests.learn.test_learn import NAMES, made
from tests.test_json import valid


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two graphs, and a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tree_for.machine_tree.cache_clear()
    generate("rmat", scale=8, degree=8, seed=1).save(tmp_path / "rmat.bin")
    generate("road", width=9, height=9, seed=1, symmetrize=True).save(tmp_path / "road.bin")
    yield tmp_path
    tree_for.machine_tree.cache_clear()


@pytest.mark.slow
def test_it_measures_trains_and_keeps(folder, capsys):
    files = [str(folder / name) for name in ("rmat.bin", "road.bin")]
    code = tune.main([*files, "--seconds", "0", "--json", "--output", str(folder / "tree.json")])
    told = valid(capsys.readouterr().out, "tune")
    assert code == 0 and told["graphs"] == ["rmat", "road"] and told["rounds"] == 1
    assert told["not_kept"] is None
    assert {row["name"] for row in told["rows"]} == {"oracle", "best fixed", "tree", "auto", *NAMES}
    assert told["held_out"]["graphs"]["tree"] >= 1 <= told["held_out"]["steps"]["tree"]
    tree = read_tree(folder / "tree.json")
    kept = tree_for.machine_tree()
    assert kept.said() == tree.said() and tree.strategies == (*NAMES, "auto")
    assert bool(tree.about[tree_for.BETTER]) == told["taken_by_auto"]
    graph = gpop.load(files[0])
    source = int(np.argmax(graph.out_degree))
    found = gpop.bfs(graph, source, mode="tree")
    assert found.run.mode == "tree"
    assert np.array_equal(found.level, gpop.bfs(graph, source, mode="sc").level)


@pytest.mark.slow
def test_steps_begin_alike_in_all_modes(folder):
    graph = gpop.load(folder / "rmat.bin")
    measured = tune.measure([graph], seconds=0)
    trace = gpop.bfs(graph, 1, mode="sc").trace
    assert measured.of_run == tuple(trace.summary[name] for name in OF_RUN) == (4, 0, 1)
    assert (measured.steps.seconds > 0).all() and len(measured.steps.variants) == tune.ROOTS


def test_auto_takes_it_only_where_it_was_better():
    steps = made(variants=12)
    found = tune.tune(tune.Measured(steps, (4, 0, 1), 1, 1.0))
    assert found.better and found.tree.about[tree_for.BETTER] == [[4, 0, 1]]
    assert found.steps.total < found.steps.total_of("auto") and found.graphs is not None
    steps.others["auto"][:] = steps.oracle
    found = tune.tune(tune.Measured(steps, (4, 0, 1), 1, 1.0))
    assert not found.better and found.tree.about[tree_for.BETTER] == []
    assert "more than auto" in tune.gain(found.steps)


def test_a_tree_that_cannot_be_kept(folder, capsys, monkeypatch):
    pytest.importorskip("sklearn")
    (folder / "cache").write_text("no folder")
    monkeypatch.setattr(tune, "measure", lambda *_: tune.Measured(made(variants=12), (4, 0, 1), 1, 1.0))
    fault = f"{folder}/cache/gpop/{tree_for.KEPT}.json: cannot be written: Not a directory"
    words = [str(folder / "rmat.bin"), "--output", str(folder / "tree.json")]
    assert tune.main(words) == 0
    out = capsys.readouterr().out
    assert f"\nnot kept   {fault}\nwritten " in out and "\nkept" not in out
    assert tune.main([*words, "--json"]) == 0
    told = valid(capsys.readouterr().out, "tune")
    assert told["not_kept"] == fault and not told["taken_by_auto"]
    assert read_tree(folder / "tree.json").about[tree_for.BETTER]


def test_bad_input_is_one_line(folder, capsys, monkeypatch):
    gpop.Graph.from_edges([], [], n=3).save(folder / "empty.bin")
    assert tune.main([str(folder / "empty.bin")]) == 2
    assert "has no edges: expected a graph to search" in capsys.readouterr().err
    assert tune.main([str(folder / "rmat.bin"), "--seconds", "-1"]) == 2
    assert "--seconds -1: expected a number from 0 on" in capsys.readouterr().err
    monkeypatch.setattr(tune, "measure", None)  # known before
    assert tune.main([str(folder / "rmat.bin"), "--output", "nowhere/tree.json"]) == 2
    assert "'nowhere/tree.json': there is no directory nowhere" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    assert tune.main([str(folder / "rmat.bin")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert tree_for.machine_tree() is None

"""``python -m perf model`` and ``model-study``, on a log that follows a rule."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from gpop.common.errors import UsageError
from gpop.learn.evaluate import BEST_FIXED
from gpop.learn.split import Split
from gpop.learn.train import train
from gpop.model.features import FEATURES
from gpop.model.trees import read_tree
from perf import model_study
from perf.__main__ import main
from perf.models import model_named, training_set
from perf.steps import Which, read_log
from perf.store import Store
from tests.perf.small_log import GRAPHS, STEPS, fill


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("stores") / "log.db"
    fill(path).close()
    return path


@pytest.fixture
def path(filled, tmp_path):
    return Path(shutil.copy(filled, tmp_path))


def say(capsys, path, *argv):
    command, *rest = argv
    code = main([command, "--store", str(path), *map(str, rest)])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_log_is_read_as_it_was_stored(path):
    with Store(path) as store:
        log = read_log(store, Which())
    steps = log.steps
    assert (len(steps), len(steps.variants), log.left_out, log.threads) == (GRAPHS * STEPS, GRAPHS, 0, 2)
    assert steps.strategies == ("pc", "pull", "sc") and {*steps.others} == {"auto", "paper"}
    share = steps.features[:, FEATURES.index("edges rel")]
    assert np.array_equal(share < 0.3, steps.seconds.argmin(axis=1) == 2)
    assert np.allclose(steps.oracle, 1.05e-3) and np.allclose(steps.others["paper"], 1.68e-3)  # medians
    assert steps.step.tolist() == [*range(STEPS)] * GRAPHS and {*steps.family} == {"road", "web"}


def test_steps_that_begin_differently_are_left_out(path):
    with Store(path) as store:
        run = store.rows("SELECT runId FROM StepLog WHERE strategy = 'pc' LIMIT 1")[0]["runId"]
        frontier = store.rows("SELECT id FROM PropertyName WHERE property = 'frontier'")[0]["id"]
        store.execute(
            "UPDATE RunStepValue SET value = 99 WHERE runId = ? AND propId = ? AND stepId = 3",
            (run, frontier),
        )
        store.execute("DELETE FROM StepTimer WHERE runId = ? AND stepId = 5", (run,))
        log = read_log(store, Which())
    assert log.left_out == 2 and len(log.steps) == GRAPHS * STEPS - 2


def test_where_every_vertex_is_always_active_a_run_is_one_step(path):
    with Store(path) as store:
        single = read_log(store, Which()).steps
        store.execute("UPDATE Algorithm SET name = 'pagerank'")
        whole = read_log(store, Which("pagerank")).steps
    assert whole.variant.tolist() == single.variants.tolist() and {*whole.step} == {0}
    assert np.allclose(whole.seconds, single.per_variant(single.seconds))
    assert np.allclose(whole.others["auto"], single.per_variant(single.others["auto"]))
    assert np.array_equal(whole.features, single.features[::STEPS])


def test_what_was_measured_with_other_options_is_no_strategy(path):
    with Store(path) as store:
        before = len(store.rows("SELECT * FROM StepLog"))
        flags = '{"family": "gpop", "mode": "pc", "partition_size": 4096}'
        store.execute("UPDATE Implementation SET flags = ? WHERE name = 'gpop-pc'", (flags,))
        assert len(store.rows("SELECT * FROM StepLog")) < before
        assert read_log(store, Which()).steps.strategies == ("pull", "sc")


def test_what_the_log_does_not_have(path):
    with Store(path) as store:
        with pytest.raises(UsageError, match=r"log.db: no steps of sssp on target cpu: expected those of"):
            read_log(store, Which("sssp"))
        with pytest.raises(UsageError, match="no steps of bfs on target gpu"):
            read_log(store, Which(target="gpu"))
        store.execute("UPDATE RunConfig SET threads = 4 WHERE id = 1")
        with pytest.raises(UsageError, match="steps of several threads: expected one of 2, 4"):
            read_log(store, Which())
        assert read_log(store, Which(threads=4)).threads == 4
        store.execute("DELETE FROM GraphPropValue")
        with pytest.raises(UsageError, match="has no 'vertices': expected features"):
            read_log(store, Which(threads=4))


def test_a_model_is_trained_listed_shown_and_exported(path, capsys, tmp_path):
    code, out, _ = say(capsys, path, "model", "train", "half", "--step-percent", 50, "--seed", 7)
    assert code == 0 and out == f"half: 3 nodes, trained on {GRAPHS * STEPS // 2} steps\n"
    code, _, err = say(capsys, path, "model", "train", "half")
    assert code == 2 and "a model 'half' exists already" in err and err.count("\n") == 1
    assert "half" in say(capsys, path, "model", "list")[1]
    _, out, _ = say(capsys, path, "model", "query", "half")
    assert ["importance", "of", "edges", "rel", "1"] in [
        *map(str.split, out.splitlines())
    ] and "trained on, seed" in out
    _, out, _ = say(capsys, path, "model", "show", "half")
    assert out.splitlines()[0].startswith("edges rel <= 0.") and out.split()[-1] == "pull"
    assert say(capsys, path, "model", "export", "half", tmp_path / "tree.json")[0] == 0
    tree = read_tree(tmp_path / "tree.json")
    with Store(path) as store:
        model = model_named(store, "half")
        assert tree.said() == model.tree.said()
        seen, rest = training_set(store, model)
        chosen = Split(steps=0.5, seed=7).of(read_log(store, Which()).steps)
        assert (len(seen.steps), len(rest.steps)) == (chosen.sum(), (~chosen).sum())
        assert train(seen.steps, seed=7).said()["threshold"] == tree.said()["threshold"]


def test_what_is_measured_later_is_in_no_training_set_of_before(path, capsys):
    say(capsys, path, "model", "train", "before")
    with Store(path) as store:
        store.execute("UPDATE Run SET timestamp = '2999-01-01T00:00:00Z' WHERE variantId = 1")
        seen, rest = training_set(store, model_named(store, "before"))
        assert len(seen.steps) + len(rest.steps) == (GRAPHS - 1) * STEPS
        assert len(read_log(store, Which()).steps) == GRAPHS * STEPS


def test_tables_of_models(path, capsys):
    say(capsys, path, "model", "train", "some", "--graph-percent", 50)
    _, out, _ = say(capsys, path, "model", "validate", "some")
    with Store(path) as store:
        rest = training_set(store, model_named(store, "some"))[1].steps
    assert out.startswith(f"{len(rest)} steps of {GRAPHS} variants")
    assert "| oracle | 1.00 |" in out and "| auto | 1.30 |" in out and "| paper | 1.60 |" in out
    assert "The tree takes 1." in out.splitlines()[-1]
    _, out, _ = say(capsys, path, "model", "evaluate", "some")
    assert out.startswith(f"{GRAPHS * STEPS} steps of {GRAPHS} variants")
    say(capsys, path, "model", "train", "whole", "--step-percent", 100)
    _, out, _ = say(capsys, path, "model", "compare")
    assert "| whole | 1.00 |" in out and "| some | 1." in out
    _, out, _ = say(capsys, path, "model", "compare", "--relative-to", BEST_FIXED)
    with Store(path) as store:
        steps = read_log(store, Which()).steps
    ratio = steps.oracle.sum() / steps.best_fixed().sum()
    assert f"| whole | {ratio:.2f} |" in out and "| best fixed | 1.00 | 1.00 |" in out
    code, _, err = say(capsys, path, "model", "validate", "whole")
    assert code == 2 and "was trained on all steps" in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["validate", "none"], "no model 'none', expected one of none"),
        (["compare"], "there are no models"),
        (["train", "x", "--step-percent", "0"], "'0': expected a number above 0, at most 100"),
        (["train", "x", "--leaves", "1"], "--leaves 1: expected 2 or more"),
        (["train", "x", "--datasets", "moon"], "no dataset 'moon', expected one of road, web"),
    ],
)
def test_errors_are_one_line(path, capsys, argv, said):
    code, out, err = say(capsys, path, "model", *argv)
    assert code == 2 and said in err and err.count("\n") == 1 and not out


def test_the_study(path, capsys, tmp_path):
    out_file = tmp_path / "study.txt"
    assert main(["model-study", str(path), "--out", str(out_file)]) == 0
    out = capsys.readouterr().out
    assert out_file.read_text() == out
    with Store(path) as store:
        steps = read_log(store, Which()).steps
    predicted = model_study.held_out(steps, leaves=8)
    for seconds in predicted.values():
        assert (seconds >= steps.oracle).all()
    name = "tree, graphs held out"
    assert f"| {name} | {predicted[name].sum() / steps.oracle.sum():.2f} |" in out
    assert "| 100 % | - / 1.00 | - / 1.00 | - / 1.00 |" in out
    assert "| edges rel | 1.000 |" in out
    assert "worth a run" in out  # the rule is the same everywhere, and auto wastes more
    steps.others["auto"][:] = steps.oracle
    lines = {line.name: line for line in model_study.evaluate(steps, predicted=predicted)}
    said = model_study.verdict(lines, 1000, (BEST_FIXED, 2.0))
    assert said[-1].endswith("times the time of auto: auto stays analytical.")


def test_a_tree_that_was_run_is_beside_what_was_foretold(path):
    with Store(path) as store:
        log = read_log(store, Which())
    steps = log.steps
    assert model_study.mix_and_match(steps) == ({}, [])
    steps.others["gpop-mix"] = 1.1 * steps.oracle
    foretold, (said,) = model_study.mix_and_match(steps)
    tree = train(steps.where(Split().of(steps)))
    assert np.array_equal(foretold[model_study.PREDICTED], steps.predicted(tree))
    assert "takes 1.10 of the oracle's time; the log foretells 1.0" in said
    assert " It is better than best fixed (" in said
    out = model_study.section(log)
    assert said in out and f"| {model_study.PREDICTED} | 1.0" in out and "| gpop-mix | 1.10 |" in out
    steps.others["gpop-mix"] = 9 * steps.oracle
    assert "It is not better than" in model_study.mix_and_match(steps)[1][0]


def test_folds_are_of_one_size_and_whole_graphs_are_held_out(path):
    with Store(path) as store:
        steps = read_log(store, Which()).steps
    sizes = np.bincount(model_study.folds(steps))
    assert len(sizes) == model_study.FOLDS and np.ptp(sizes) <= 1

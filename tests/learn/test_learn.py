"""Splits, training, what trees predict in time, and the aggregates of the thesis, on steps made by a rule."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from gpop.common.errors import UsageError
from gpop.learn.evaluate import BEST_FIXED, ORACLE, evaluate, line_of, table
from gpop.learn.split import Split, without
from gpop.learn.steps import Steps
from gpop.learn.train import scikit_learn, train
from gpop.learn.validate import held_out_groups, held_out_steps
from gpop.model.features import ALWAYS_ALL, FEATURES
from gpop.model.trees import LEAF, NO_STRATEGY, digest_of, read_tree, stump, tree_of, write_tree

NAMES = ("sc", "pc", "pull")


def made(seed=0, variants=40, each=10):
    """Steps whose fastest strategy follows from two features, with noise in the others; ids are not dense."""
    rng = np.random.default_rng(seed)
    size = variants * each
    features = rng.random((size, len(FEATURES)))
    features[:, FEATURES.index("pulls")] = 1
    edges, visited = (features[:, FEATURES.index(name)] for name in ("edges rel", "visited rel"))
    fastest = np.where(edges < 0.2, 0, np.where(visited > 0.5, 2, 1))
    seconds = rng.uniform(2, 9, (size, len(NAMES)))
    seconds[np.arange(size), fastest] = 1.0
    variant = np.repeat(np.arange(variants) * 3 + 5, each)
    graph = variant // 12
    family = np.array([f"family {each % 4}" for each in graph])
    others = {"auto": rng.uniform(1, 3, size)}
    return Steps(NAMES, features, seconds, graph, variant, np.tile(np.arange(each), variants), family, others)


STEPS = made()


def test_a_split_is_exact_disjoint_and_seeded():
    split = Split(graphs=0.5, variants=0.8, steps=0.7, seed=3)
    chosen = split.of(STEPS)
    assert np.array_equal(chosen, split.of(STEPS))
    assert not np.array_equal(chosen, split._replace(seed=4).of(STEPS))
    graphs = np.unique(STEPS.graph[Split(graphs=0.5, steps=1, seed=3).of(STEPS)])
    variants = np.unique(STEPS.variant[Split(variants=0.8, steps=1, seed=3).of(STEPS)])
    assert len(graphs) == round(0.5 * len(np.unique(STEPS.graph)))
    assert len(variants) == round(0.8 * len(STEPS.variants))
    assert Split(steps=0.7, seed=3).of(STEPS).sum() == round(0.7 * len(STEPS))
    # A step is in it if, and only if, graph and variant and step were drawn.
    parts = [Split(**{name: share}, seed=3, **rest) for name, share, rest in (
        ("graphs", 0.5, {"steps": 1}), ("variants", 0.8, {"steps": 1}), ("steps", 0.7, {}),
    )]  # fmt: skip
    assert np.array_equal(chosen, np.all([part.of(STEPS) for part in parts], axis=0))


@pytest.mark.parametrize("share", [0, -1, 1.5])
def test_a_share_that_is_none(share):
    with pytest.raises(UsageError, match="share of variants .*: expected a number above 0 and at most 1"):
        Split(variants=share).of(STEPS)


def test_what_is_exported_predicts_what_scikit_learn_predicts():
    fitted = scikit_learn().DecisionTreeClassifier(random_state=1)
    fitted.fit(STEPS.features.astype(np.float32), STEPS.fastest)
    tree = train(STEPS, leaves=None, weighted=False, seed=1)
    samples = np.vstack([STEPS.features, made(seed=9).features])
    assert np.array_equal(tree.predict(samples), fitted.predict(samples.astype(np.float32)))
    found = dict(zip(tree.features, tree.importances, strict=True))
    assert sum(found.values()) == pytest.approx(1)
    assert max(found, key=found.get) in ("edges rel", "visited rel")


def test_training_is_repeatable_and_is_kept_by_its_file(tmp_path):
    tree = train(STEPS, seed=2, about={"who": "test"})
    assert tree.said() == train(STEPS, seed=2, about={"who": "test"}).said()
    write_tree(tree, tmp_path / "tree.json")
    assert (tmp_path / "tree.json").stat().st_size < 64 << 10
    found = read_tree(tmp_path / "tree.json")
    assert np.array_equal(found.predict(STEPS.features), tree.predict(STEPS.features))
    assert found.about == {"who": "test"}


def test_it_predicts_steps_that_it_has_not_seen():
    chosen = Split(steps=0.7).of(STEPS)
    tree, rest = train(STEPS.where(chosen)), STEPS.where(~chosen)
    lines = {line.name: line for line in evaluate(rest, {"tree": tree})}
    assert lines[ORACLE].total == 1
    assert lines["tree"].total < min(lines[name].total for name in (*NAMES, "auto", BEST_FIXED))


def test_a_step_weighs_what_a_wrong_choice_costs():
    # A hundred steps say sc by a hair, one that cannot be told from them says pull by a second.
    features = np.zeros((101, len(FEATURES)))
    seconds = np.tile([1e-6, 9e-6, 2e-6], (101, 1))
    seconds[-1] = 2.0, 3.0, 1.0
    ids = np.zeros(101, int)
    steps = Steps(NAMES, features, seconds, ids, ids, np.arange(101), np.array(["one"] * 101))
    assert NAMES[train(steps).predict(features[:1])[0]] == "pull"
    assert NAMES[train(steps, weighted=False).predict(features[:1])[0]] == "sc"


def test_where_every_vertex_is_always_active_degrees_are_looked_at():
    features = np.zeros((20, len(FEATURES)))
    features[:, FEATURES.index("in degree max")] = np.repeat([10, 900], 10)
    seconds = np.where(np.arange(20)[:, None] < 10, [1.0, 3, 2], [3.0, 2, 1])
    ids = np.arange(20)
    steps = Steps(NAMES, features, seconds, ids, ids, np.zeros(20, int), np.array(["one"] * 20))
    assert len(train(steps).left) == 1  # others would know the graphs again
    features[:, FEATURES.index("pulls")] = ALWAYS_ALL
    tree = train(steps)
    assert tree.features == ("in degree max",) and np.array_equal(tree.predict(features), seconds.argmin(1))


def test_leaves_that_cannot_tell_are_listed_and_keep_the_strategy():
    features = np.zeros((4, len(FEATURES)))
    features[:, FEATURES.index("edges rel")] = 0, 1, 1, 0
    seconds = np.array([[1.0, 2, 9], [1, 2, 9], [2, 1, 9], [1.0, 2, 9]])
    ids = np.array([7, 7, 7, 8])
    steps = Steps(NAMES, features, seconds, ids, ids, np.array([0, 1, 2, 0]), np.array(["one"] * 4))
    tree = train(steps, weighted=False)
    assert tree.sets == (((0, 1), 2),)
    assert tree.predict(features).tolist() == [0, NO_STRATEGY, NO_STRATEGY, 0]
    assert steps.predicted(tree).tolist() == [1, 1, 2, 1]  # sc goes on
    alone = steps.where(np.array([1, 2]))
    assert alone.predicted(tree).tolist() == [1, 2]  # nothing to go on with: the best over all
    assert tree_of(tree.said() | {"digest": digest_of(tree.said())}, "it").sets == tree.sets


def test_what_was_not_measured_is_left_to_auto():
    tree = stump("edges rel", 0.2, "sc", "edge-list")
    found = STEPS.predicted(tree)
    few = STEPS.features[:, FEATURES.index("edges rel")].astype(np.float32) <= 0.2
    assert np.array_equal(found[few], STEPS.seconds[few, 0])
    assert np.array_equal(found[~few], STEPS.others["auto"][~few])


def test_aggregates_of_the_worked_example():
    # Table 4.1 of the thesis: two variants, three implementations, optimum 100 and 100.
    optimum = np.array([100.0, 100.0])
    rows = {"A": (100, 300), "B": (150, 150), "C": (300, 100)}
    found = {name: line_of(name, np.array(each, float), optimum) for name, each in rows.items()}
    assert [(found[name].total, found[name].mean) for name in "ABC"] == [(2, 2), (1.5, 1.5), (2, 2)]


def test_shares_at_their_borders():
    line = line_of("x", np.array([2.0, 5.0, 20.0, 21.0]), np.ones(4))
    assert (line.within_2, line.above_5, line.above_20, line.worst) == (0, 0.5, 0.25, 21)
    assert table([line]).splitlines()[-1].startswith("| x | 12.00 | 12.00 | 0 % | 50 % | 25 % | 21.00 |")


def test_a_family_can_be_left_out():
    rest = without(STEPS, "family 1")
    assert {*STEPS.family[rest]} == {*STEPS.family} - {"family 1"}


def test_without_scikit_learn_it_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(UsageError, match=r"training needs scikit-learn \(pip install \"gpop\[tree\]\"\)"):
        train(STEPS)


def test_no_steps():
    with pytest.raises(UsageError, match="no steps to train on"):
        train(STEPS.where(np.zeros(len(STEPS), bool)))


def test_one_label_is_a_leaf():
    same = STEPS.where(STEPS.fastest == 0)
    tree = train(same)
    assert tree.left.tolist() == [LEAF] and json.dumps(tree.said())
    assert {*tree.predict(STEPS.features)} == {0}


def test_groups_are_predicted_by_the_others():
    found = held_out_groups(STEPS, STEPS.family)
    assert len(found.steps) == len(STEPS) and found.total < found.total_of("auto")
    family = STEPS.family == "family 2"
    tree = train(STEPS.where(~family))
    assert np.array_equal(found.predicted[family], STEPS.where(family).predicted(tree))


def test_steps_held_out_are_those_of_no_training_set():
    found = held_out_steps(STEPS, Split(steps=0.7, seed=5))
    chosen = Split(steps=0.7, seed=5).of(STEPS)
    assert np.array_equal(found.steps.seconds, STEPS.seconds[~chosen])


def test_of_one_group_nothing_can_be_held_out():
    with pytest.raises(UsageError, match="of one graph or family: expected several"):
        held_out_groups(STEPS, np.zeros(len(STEPS)))

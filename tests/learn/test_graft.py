"""Two trees below one node: each side predicts as its tree did, and a file has all of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpop.learn.graft import graft
from gpop.learn.train import BORDERS, PULLS, train
from gpop.model.features import ALWAYS_ALL, FEATURES
from gpop.model.trees import LEAF, read_tree, write_tree
from tests.learn.test_learn import STEPS
from tests.trees import random_tree

SAMPLES = np.random.default_rng(9).random((500, len(FEATURES)))


def test_each_side_is_asked_its_own(tmp_path):
    below, above = (random_tree(np.random.default_rng(seed), depth=3) for seed in (1, 2))
    above = replace(
        above, sets=(((1, 2), 5), ((0, 2), 7)), right=np.where(above.right == -1, -2, above.right)
    )
    tree = graft("edges rel", 0.4, below, above, 0.25)
    low = SAMPLES[:, FEATURES.index("edges rel")].astype(np.float32) <= 0.4
    expected = np.where(low, below.predict(SAMPLES), above.predict(SAMPLES))
    assert np.array_equal(tree.predict(SAMPLES), expected) and len(np.unique(expected)) > 2
    assert tree.sets == below.sets + above.sets
    said = {tree.sets[-1 - leaf] for leaf in tree.right[(tree.left == LEAF) & (tree.right < 0)]}
    assert said == {below.sets[0], above.sets[1]}
    write_tree(tree, tmp_path / "tree.json")
    assert read_tree(tmp_path / "tree.json").said() == tree.said()


def test_programs_that_pull_and_others_are_trained_apart():
    features = STEPS.features.copy()
    pulls = np.arange(len(STEPS)) % 2 == 0
    features[:, FEATURES.index(PULLS)] = pulls
    seconds = STEPS.seconds.copy()
    seconds[~pulls, 2] = np.inf
    steps = replace(STEPS, features=features, seconds=seconds)
    tree = train(steps)
    assert tree.features[tree.feature[0]] == PULLS and tree.threshold[0] == BORDERS[0]
    assert abs(sum(tree.importances) - 1) < 1e-9
    # Nobody who cannot pull comes to a leaf that says so, whatever the step.
    samples = SAMPLES.copy()
    samples[:, FEATURES.index(PULLS)] = 0
    assert 2 not in tree.predict(samples)
    samples[:, FEATURES.index(PULLS)] = 1
    alone = train(steps.where(pulls))
    assert np.array_equal(tree.predict(samples), alone.predict(samples)) and 2 in alone.predict(samples)


def test_programs_that_are_always_active_are_trained_apart_from_both():
    features = STEPS.features.copy()
    features[:, FEATURES.index(PULLS)] = np.arange(len(STEPS)) % 3
    kinds = features[:, FEATURES.index(PULLS)]
    seconds = STEPS.seconds.copy()
    seconds[kinds == 0, 2] = np.inf
    seconds[kinds == ALWAYS_ALL, 2] = 0.1
    steps = replace(STEPS, features=features, seconds=seconds)
    tree, samples = train(steps), SAMPLES.copy()
    for kind in range(ALWAYS_ALL + 1):
        samples[:, FEATURES.index(PULLS)] = kind
        alone = train(steps.where(kinds == kind)).predict(samples)
        assert np.array_equal(tree.predict(samples), alone)
        assert {*alone} == {2} if kind == ALWAYS_ALL else (2 in alone) == (kind == 1)

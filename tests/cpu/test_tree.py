"""``mode="tree"``: answers are the same whatever is predicted, and iterations take what the tree says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gpop
from gpop.common.errors import UsageError
from gpop.cpu.tree import walk
from gpop.generate import generate
from gpop.model.choosers import AUTO_PUSH
from gpop.model.models import MODELS
from gpop.model.trees import stump
from gpop.plan import tree_for
from gpop.plan.chosen import KEEP, chosen_of
from tests.programs import Rank, Smallest
from tests.trees import NAMES, expected_modes, mode_of, random_tree, taken

RMAT = generate("rmat", scale=10, degree=8, seed=11)
SOURCE = int(np.argmax(RMAT.out_degree))


@pytest.fixture
def asked(tmp_path):
    """The mode that asks for a tree."""
    return lambda tree: mode_of(tree, tmp_path)


@pytest.mark.parametrize("threads", [1, 2])
def test_random_trees_find_the_levels_and_are_followed(asked, threads):
    expected = gpop.bfs(RMAT, SOURCE, mode="sc", threads=threads)
    switched = set()
    for seed in range(6):
        tree = random_tree(np.random.default_rng(seed))
        found = gpop.bfs(RMAT, SOURCE, mode=asked(tree), threads=threads)
        assert np.array_equal(found.level, expected.level) and found.run.mode == "tree"
        for record, mode in zip(found.trace, expected_modes(tree, found.trace, RMAT), strict=True):
            if mode is not None:
                assert taken(record) == {mode}
                switched.add(mode)
    assert switched == {*NAMES}


def test_the_loop_walks_as_the_tree_predicts():
    rng = np.random.default_rng(5)
    tree = random_tree(rng, depth=6)
    chosen = chosen_of(tree, RMAT, (4, 0, 1), lambda mode: True)
    for _ in range(200):
        frontier, edges = rng.integers(1, RMAT.n), rng.integers(1, RMAT.m)
        visited = rng.integers(0, RMAT.n)
        numbers = map(np.float64, (RMAT.n, RMAT.m, frontier, edges, visited))
        way = walk(chosen, *numbers)
        choice = tree.predict(chosen.values[np.newaxis])[0]
        assert way == (KEEP if choice < 0 else choice)


def test_paths_with_priorities(asked):
    graph = generate("rmat", scale=10, degree=8, seed=12, weights=(1, 255))
    expected = gpop.sssp(graph, SOURCE, mode="sc", interleave=False)
    with pytest.warns(RuntimeWarning, match=r"SSSP: the tree may choose pull, which this run cannot take"):
        found = gpop.sssp(graph, SOURCE, mode=asked(stump("edges rel", 0.02, "pc", "pull")), interleave=False)
    assert np.array_equal(found.distance, expected.distance)
    few = [record for record in found.trace if record["active_edges"] <= 0.02 * graph.m]
    assert few and all(taken(record) == {"pc"} for record in few)


def test_labels_interleaved_and_not(asked):
    def labels(**options):
        program = Smallest(RMAT)
        program.label = np.arange(RMAT.n)
        run = gpop.run(program, **options)
        return program.label.tolist(), run

    expected, _ = labels(mode="sc")
    mode = asked(stump("visited rel", 0.5, "pc", "sc"))
    found, run = labels(mode=mode)
    assert found == expected
    visited = run.trace.features(RMAT)["visited rel"]
    assert [taken(record) for record in run.trace] == [
        {"pc"} if share <= 0.5 else {"sc"} for share in visited
    ]
    assert labels(mode=mode, interleave=True)[0] == expected


def test_a_tree_may_leave_an_iteration_to_the_model(asked):
    gpop.bfs(RMAT, SOURCE, mode="pull")  # builds in-edges, which the model counts from then on
    auto = gpop.bfs(RMAT, SOURCE, method="messages").trace
    assert {*map(frozenset, map(taken, auto))} > {frozenset({"pull"})}  # or the test would see nothing
    found = gpop.bfs(RMAT, SOURCE, mode=asked(stump("frontier rel", 0.5, "auto", "pull"))).trace
    assert [*map(taken, found)] == [*map(taken, auto)]
    paper = gpop.bfs(RMAT, SOURCE, mode="auto", model="paper").trace
    found = gpop.bfs(RMAT, SOURCE, mode=asked(stump("frontier rel", 0.5, "auto", "pc")), model="paper").trace
    assert [*map(taken, found)] == [*map(taken, paper)]


@pytest.mark.parametrize("way", NAMES)
def test_where_every_vertex_is_active_it_is_asked_once(asked, way):
    def ranks(mode):
        program = Rank(RMAT)
        run = gpop.run(program, iterations=3, mode=mode)
        return program.rank, run.mode

    found, mode = ranks(asked(stump("edges rel", 2.0, way, "sc")))
    assert mode == way
    assert np.allclose(found, ranks(way)[0], rtol=1e-6)


def test_a_strategy_that_the_run_cannot_take_is_left_to_the_model():
    tree = stump("edges rel", 0.1, "edge-list", "pull")
    chosen = chosen_of(tree, RMAT, (4, 0, 1), lambda mode: True)
    assert chosen.right.tolist() == [2, AUTO_PUSH, NAMES.index("pull")]


def test_what_is_known_before_a_run_is_asked_before_it(asked):
    """Programs that cannot pull do not come to where the tree says pull: nothing is missing."""
    weighted = generate("rmat", scale=8, degree=8, seed=12, weights=(1, 255))
    tree = stump("pulls", 0.5, "pc", "pull")
    for of_run, mode in (((4, 0, 0), "pc"), ((4, 0, 1), "pull")):
        assert chosen_of(tree, RMAT, of_run, lambda mode: True).right.tolist() == [NAMES.index(mode)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gpop.sssp(weighted, 0, mode=asked(tree), interleave=False)
    assert {frozenset(taken(record)) for record in found.trace} == {frozenset({"pc"})}
    assert taken(gpop.bfs(RMAT, SOURCE, mode=asked(tree)).trace[0]) == {"pull"}


def test_files_that_do_not_fit(tmp_path):
    with pytest.raises(UsageError, match=r"mode 'tree:': expected one of auto"):
        gpop.bfs(RMAT, SOURCE, mode="tree:")
    with pytest.raises(UsageError, match=r"tree .*nowhere.json: No such file"):
        gpop.bfs(RMAT, SOURCE, mode=f"tree:{tmp_path / 'nowhere.json'}")


def test_a_file_that_changes_is_read_again(asked, tmp_path):
    mode = asked(stump("edges rel", 2.0, "sc", "pc"))
    assert taken(gpop.bfs(RMAT, SOURCE, mode=mode).trace[0]) == {"sc"}
    asked(stump("edges rel", 2.0, "pull", "pc"))
    assert taken(gpop.bfs(RMAT, SOURCE, mode=mode).trace[0]) == {"pull"}


def test_the_tree_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tree_for.machine_tree.cache_clear()
    try:
        assert tree_for.tree_for("tree", MODELS[0], None) is tree_for.own_tree("cpu")
        tree = stump("edges rel", 2.0, "pull", "pc")
        tree_for.keep_tree(tree)
        assert taken(gpop.bfs(RMAT, SOURCE, mode="tree").trace[0]) == {"pull"}
        assert taken(gpop.bfs(RMAT, SOURCE, method="messages").trace[0]) != {"pull"}  # it was not better
        tree.about[tree_for.BETTER] = [[4, 0, 1]]
        tree_for.keep_tree(tree)
        assert taken(gpop.bfs(RMAT, SOURCE, method="messages").trace[0]) == {"pull"}
        assert taken(gpop.bfs(RMAT, SOURCE, model="paper").trace[0]) != {"pull"}
        assert tree_for.tree_for("auto", MODELS[0], 1.5) is None
        (tmp_path / "gpop" / f"{tree_for.KEPT}.json").write_text('{"cut')
        tree_for.machine_tree.cache_clear()
        assert tree_for.machine_tree() is None
    finally:
        tree_for.machine_tree.cache_clear()

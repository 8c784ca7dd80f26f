"""``perf steps`` and ``perf default-tree``: logs as files, several as one, and a tree of all."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace

import numpy as np
import pytest

from gpop.common.errors import UsageError
from gpop.learn.train import train
from gpop.model.features import ALWAYS_ALL, FEATURES, OF_GRAPH, OF_STEP, STEP_AT, step_feature
from gpop.model.trees import read_tree
from perf.__main__ import main
from perf.default_tree import ALL, totals
from perf.joined import joined
from perf.steps import Which, read_log
from perf.steps_file import name_of, read_file, write_log
from tests.perf.small_log import fill

PULLS = FEATURES.index("pulls")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Searches; features of a graph are the same in all its steps, and those of a step follow from counts."""
    with fill(tmp_path_factory.mktemp("stores") / "log.db") as store:
        found = read_log(store, Which())
    features = found.steps.features.copy()
    rng = np.random.default_rng(3)
    for variant in found.steps.variants:
        rows = found.steps.variant == variant
        features[rows, :STEP_AT] = features[rows][0, :STEP_AT]
        features[rows, :2] = rng.integers(100, 10_000, 2)
        features[rows, PULLS] = 1
        n, m = features[rows][0, :2]
        share = features[rows, FEATURES.index("edges rel")]
        counts = np.floor(share * n), np.floor(share * m), np.arange(rows.sum(), dtype=float)
        for which in range(len(OF_STEP)):
            features[rows, STEP_AT + which] = step_feature(which, n, m, *counts)
    return found._replace(steps=replace(found.steps, features=features))


def components(log):
    """The same steps of a program that cannot pull, and that sc is always the best for."""
    features = log.steps.features.copy()
    features[:, PULLS] = 0
    seconds = np.column_stack([np.full(len(log.steps), 3e-3), np.full(len(log.steps), 1e-3)])
    steps = replace(log.steps, strategies=("pc", "sc"), seconds=seconds, features=features)
    return log._replace(algorithm="cc", steps=steps)


def test_a_file_has_what_the_log_has(log, tmp_path):
    path = tmp_path / name_of(log.algorithm, log.target, log.platform, log.threads)
    write_log(log, path, "command   x")
    found = read_file(path)
    assert np.array_equal(found.steps.features, log.steps.features)
    assert np.allclose(found.steps.seconds, log.steps.seconds, rtol=1e-3)
    assert found.steps.strategies == log.steps.strategies
    assert {*found.steps.others} == {*log.steps.others}
    assert [*found.graphs.values()] == [log.graphs[each] for each in found.graphs]
    assert [*found.variants.values()] == [log.variants[each] for each in log.steps.variants.tolist()]
    for name in ("algorithm", "target", "platform", "threads", "version", "left_out"):
        assert getattr(found, name) == getattr(log, name)


def test_what_is_no_file_of_steps(log, tmp_path):
    path = tmp_path / "log.json.xz"

    def refused(match):
        with pytest.raises(UsageError, match=match) as raised:
            read_file(path)
        assert "\n" not in str(raised.value)

    refused("No such file")
    write_log(log, path, "command   x")
    whole = path.read_bytes()
    for cut in (b"", whole[: len(whole) // 2], b"text", lzma.compress(b"[1]")):
        path.write_bytes(cut)
        refused("is no log of steps, or cut short")
    said = json.loads(lzma.decompress(whole))
    path.write_bytes(lzma.compress(json.dumps(said | {"features": [*OF_GRAPH][1:]}).encode()))
    refused("has other features than this gpop")


def test_one_tree_for_programs_that_pull_and_that_do_not(log):
    steps, algorithms = joined([log, components(log)])
    assert steps.strategies == ("pc", "pull", "sc") and len(steps) == 2 * len(log.steps)
    assert len(np.unique(steps.graph)) == len(np.unique(log.steps.graph))  # the same graphs
    assert len(steps.variants) == 2 * len(log.steps.variants)
    tree = train(steps)
    assert np.array_equal(steps.predicted(tree), steps.oracle)
    assert PULLS in tree.places[tree.left >= 0]
    found = totals(steps, algorithms)
    assert found["tree, graphs held out"]["cc"] == 1.0 <= found["auto"][ALL]


def test_what_cannot_be_taken_is_auto_s(log):
    both = joined([log, components(log)])[0]
    always = train(log.steps.where(log.steps.fastest == log.steps.strategies.index("pull")))
    seconds = both.predicted(always)
    assert np.isfinite(seconds).all()
    rest = ~np.isfinite(both.seconds[:, both.strategies.index("pull")])
    assert np.array_equal(seconds[rest], both.others["auto"][rest])


def test_the_command(log, tmp_path, capsys):
    paths = [tmp_path / f"{each.algorithm}.json.xz" for each in (log, components(log))]
    for path, each in zip(paths, (log, components(log)), strict=True):
        write_log(each, path, "command   x")
    out = tmp_path / "tree.json"
    assert main(["default-tree", *map(str, paths), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "| tree, graphs held out | 1.00 | 1.00 | 1.00 |" in said
    tree = read_tree(out)
    assert tree.about["target"] == "cpu" and [each["algorithm"] for each in tree.about["logs"]] == [
        "bfs",
        "cc",
    ]
    steps = log.steps
    seconds = np.column_stack([steps.seconds, np.full(len(steps), 1e-9)])  # the fastest, but only by its name
    by_name = replace(steps, strategies=(*steps.strategies, "edge-list"), seconds=seconds)
    write_log(log._replace(steps=by_name), paths[0], "command   x")
    assert main(["default-tree", *map(str, paths), "--out", str(out)]) == 0
    assert "edge-list" not in read_tree(out).strategies
    # Its bytes are others if the machine is said to be another, as when its cores have moved apart.
    ends = [text.splitlines()[-1].split(",")[0] for text in (said, capsys.readouterr().out)]
    assert ends == ["5 nodes", "5 nodes"]
    features = steps.features.copy()
    features[:, PULLS] = ALWAYS_ALL
    always = log._replace(algorithm="pagerank", steps=replace(by_name, features=features))
    write_log(always, paths[0], "command   x")
    assert main(["default-tree", *map(str, paths), "--out", str(out)]) == 0
    tree = read_tree(out)
    assert {tree.strategies[i] for i in tree.predict(features)} == {"edge-list"}
    features[:, PULLS] = 0
    assert {tree.strategies[i] for i in tree.predict(features)} == {"sc"}
    write_log(log._replace(target="gpu"), paths[1], "command   x")
    assert main(["default-tree", *map(str, paths)]) == 2
    assert "logs of targets cpu and gpu" in capsys.readouterr().err


def test_files_from_a_store(log, tmp_path, capsys):
    with fill(tmp_path / "log.db") as store:
        count = len(read_log(store, Which()).steps)
    assert main(["steps", "--store", str(tmp_path / "log.db"), "--folder", str(tmp_path / "out")]) == 0
    (path,) = (tmp_path / "out").iterdir()
    assert len(read_file(path).steps) == count and f"{count} steps" in capsys.readouterr().out

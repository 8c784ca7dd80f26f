"""``mode="tree:FILE"`` on a GPU: the loop on the device takes what the tree says, as the CPU's does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpop
from gpop.common.errors import UsageError
from gpop.generate import generate
from gpop.gpu import calibrate, engine
from gpop.gpu.engine import GpuEngine
from gpop.model.trees import stump
from tests.gpu.emulator import emulated
from tests.gpu.test_levels import levels_run
from tests.programs import Rank
from tests.trees import NAMES, expected_modes, mode_of, random_tree, taken

RMAT = generate("rmat", scale=7, degree=4, seed=11, symmetrize=True, weights=(1, 9))
LADDER = generate("grid", width=30, height=2)


def follows(tree, graph, folder, partition_size=32, **options):
    """The modes that a search on the device takes, which are those of the tree; levels are right."""
    expected = gpop.bfs(graph, 0, mode="sc", threads=1)
    options |= {"target": "gpu", "ratio": 1.0, "partition_size": partition_size}
    found = gpop.bfs(graph, 0, mode=mode_of(tree, folder), **options)
    assert np.array_equal(found.level, expected.level) and found.run.mode == "tree"
    modes = expected_modes(tree, found.trace, graph)
    for record, mode in zip(found.trace, modes, strict=True):
        assert mode is None or taken(record) == {mode}
    return modes


@pytest.mark.parametrize("rows", [1, None])
def test_random_trees_are_followed(tmp_path, rows, monkeypatch):
    """In iterations of all kinds, and in runs of levels, which a tree ends; with the host looking on, too."""
    options = {"callback": lambda record: None} if rows else {}
    begun, switched, left = levels_run(monkeypatch), set(), 0
    with emulated():
        for seed in range(8):
            for graph in (RMAT, LADDER):
                modes = follows(random_tree(np.random.default_rng(seed)), graph, tmp_path, **options)
                switched |= {*modes}
                left += graph is LADDER and len({*modes}) > 1
    assert switched >= {"sc", "pc", "pull"} and left > 2
    assert any(begun)


def test_the_host_is_not_asked(tmp_path, monkeypatch):
    """One launch for a run that changes its mode, as for auto: the tree is walked on the device."""
    launches = []
    launch = GpuEngine._launch
    monkeypatch.setattr(engine, "SLICE_NS", 1 << 62)
    monkeypatch.setattr(GpuEngine, "_launch", lambda self, of: (launches.append(of), launch(self, of)))
    with emulated():
        modes = follows(replace(stump("edges rel", 0.1, *NAMES[:2]), strategies=NAMES), RMAT, tmp_path)
    assert {*modes} == {*NAMES[:2]} and len(launches) == 1


def test_what_a_run_cannot_take_is_left_to_the_model_and_said(tmp_path):
    options = {"target": "gpu", "ratio": 1.0, "partition_size": 32}
    with emulated():
        tree = stump("edges rel", 0.1, "edge-list", "pull")
        with pytest.warns(RuntimeWarning, match="BFS: the tree may choose edge-list, which this run cannot"):
            found = gpop.bfs(RMAT, 0, mode=mode_of(tree, tmp_path), **options)
        auto = gpop.bfs(RMAT, 0, mode="auto", **options)
    assert np.array_equal(found.level, auto.level)
    for record, other in zip(found.trace, auto.trace, strict=True):
        share = record["active_edges"] / RMAT.m
        assert taken(record) == ({"pull"} if share > 0.1 else taken(other))


@pytest.mark.slow
def test_programs_that_nobody_asks(tmp_path):
    """Without needsFunc there is no pull; distances are right all the same."""
    expected = gpop.sssp(RMAT, 0, threads=1)
    with emulated(), pytest.warns(RuntimeWarning, match="SSSP: the tree may choose pull"):
        found = gpop.sssp(
            RMAT, 0, target="gpu", ratio=1.0, partition_size=32,
            mode=mode_of(random_tree(np.random.default_rng(2)), tmp_path),
        )  # fmt: skip
    assert np.array_equal(found.distance, expected.distance)


@pytest.mark.slow
@pytest.mark.parametrize("way", [*NAMES, "hyb", "vertex-pull-warp:8-32"])
def test_where_every_vertex_is_active_it_is_asked_once(tmp_path, way):
    def ranks(**options):
        program = Rank(RMAT)
        run = gpop.run(program, iterations=3, partition_size=32, **options)
        return program.rank, run.mode

    tree = stump("edges rel", 2.0, way, "edge-list")
    with emulated():
        found, mode = ranks(target="gpu", mode=mode_of(tree, tmp_path))
    assert mode == way
    assert np.allclose(found, ranks()[0], rtol=1e-5)


def test_what_wants_all_edges_is_none_where_they_are_streamed(tmp_path, monkeypatch):
    tree = stump("edges rel", 2.0, "hyb", "pc")
    program = Rank(RMAT)
    options = {"target": "gpu", "iterations": 3, "partition_size": 32}
    streamed = {"residency": "stream", "device_memory": 10_000_000}
    monkeypatch.setattr(calibrate, "link_cost", lambda engine_of: 40.0)
    with emulated(), pytest.warns(RuntimeWarning, match="Rank: the tree may choose hyb, which this run"):
        run = gpop.run(program, mode=mode_of(tree, tmp_path), **options, **streamed)
    assert run.mode == "pc"
    alone = Rank(RMAT)
    gpop.run(alone, iterations=3, partition_size=32)
    assert np.allclose(program.rank, alone.rank, rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        ("{", "is no JSON, or cut short"),
        ('{"kind": "recipe"}', "is no decision tree of gpop"),
        ('{"kind": "gpop decision tree", "format": 1}', "is not as it was written"),
    ],
)
def test_files_that_are_none(tmp_path, text, said):
    path = tmp_path / "tree.json"
    if text is not None:
        path.write_text(text)
    with emulated(), pytest.raises(UsageError, match=said) as raised:
        gpop.bfs(RMAT, 0, target="gpu", mode=f"tree:{path}")
    assert "\n" not in str(raised.value)

"""Checkpoints of a run alone: it goes on where it was ended, and refuses what is not its own."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gpop
from gpop.common.errors import UsageError
from tests import programs
from tests.programs import random_graph


class Ended(Exception):
    """Stands for whatever ends a run."""


GRAPH = random_graph(5, 301, 1500)


def drift(folder, *, end: int | None = None, every: int | None = 3, graph=GRAPH, **options):
    """Twelve iterations, or an exception in one of them."""
    program = programs.Drift(graph)
    program.mass = np.random.default_rng(2).random(graph.n)
    program.threshold = 1e-3

    def callback(record):
        if record["iteration"] == end:
            raise Ended

    how = {"iterations": 12, "mode": "sc", "partition_size": 8}
    if folder is not None:
        how["checkpoint"] = gpop.Checkpoint(folder, iterations=every, **options)
    return program.mass, gpop.run(program, **how, callback=callback)


def test_a_run_goes_on_to_the_same_bits(tmp_path):
    expected, whole = drift(None)
    with pytest.raises(Ended):
        drift(tmp_path, end=7)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["checkpoint.json", "iteration-6"]
    mass, run = drift(tmp_path)
    assert np.array_equal(mass, expected)
    assert (run.iterations, len(run.trace)) == (12, 6)
    assert np.array_equal(run.frontier, whole.frontier)
    assert [*tmp_path.iterdir()] == []  # it is over


def test_after_so_many_seconds(tmp_path):
    with pytest.raises(Ended):
        drift(tmp_path, end=2, every=None, seconds=1e-9)
    assert json.loads((tmp_path / "checkpoint.json").read_text())["iteration"] == 2


def test_what_is_refused(tmp_path):
    with pytest.raises(Ended):
        drift(tmp_path, end=7)
    with pytest.raises(UsageError, match="of another run .Drift, 301 vertices, 1500 edges.: expected"):
        drift(tmp_path, graph=random_graph(6, 302, 1500))
    path = tmp_path / "iteration-6" / "rank-0.npz"
    path.write_bytes(path.read_bytes()[1:])
    with pytest.raises(UsageError, match="rank-0.npz: missing or cut short: expected"):
        drift(tmp_path)
    with pytest.raises(UsageError, match="checkpoint iterations = 0"):
        gpop.Checkpoint(tmp_path, iterations=0)
    with pytest.raises(UsageError, match="checkpoint seconds = -1"):
        gpop.Checkpoint(tmp_path, seconds=-1)
    with pytest.raises(UsageError, match="target 'python': expected 'cpu'"):
        gpop.bfs(GRAPH, 0, target="python", checkpoint=gpop.Checkpoint(tmp_path))
    with pytest.raises(UsageError, match="checkpoint 'folder': expected a gpop.Checkpoint"):
        gpop.bfs(GRAPH, 0, checkpoint="folder")
    with pytest.raises(UsageError, match="tracks what it touches"):
        gpop.nibble(GRAPH, 0, checkpoint=gpop.Checkpoint(tmp_path))


def test_a_damaged_index_is_one_line(tmp_path):
    (tmp_path / "checkpoint.json").write_text('{"program": ')
    ring = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])
    with pytest.raises(gpop.UsageError, match=r"checkpoint\.json: not as it was written"):
        gpop.bfs(ring, 0, checkpoint=gpop.Checkpoint(tmp_path))

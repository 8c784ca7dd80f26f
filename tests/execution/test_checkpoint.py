"""Checkpoints of a run alone: it goes on where it was ended, and refuses what is not its own."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import gpop
from gpop.apps.pagerank_programs import ConvergingPageRank
from gpop.apps.sssp import SSSP
from gpop.common.errors import UsageError
from gpop.generate import generate
from gpop.program import values
from tests import programs
from tests.programs import random_graph


class Ended(Exception):
    """Stands for whatever ends a run."""


GRAPH = random_graph(5, 301, 1500)


def drift(folder, *, end: int | None = None, every: int | None = 3, graph=GRAPH, iterations=12, **options):
    """Twelve iterations, or an exception in one of them."""
    program = programs.Drift(graph)
    program.mass = np.random.default_rng(2).random(graph.n)
    program.threshold = 1e-3

    def callback(record):
        if record["iteration"] == end:
            raise Ended

    how = {"iterations": iterations, "mode": "sc", "partition_size": 8}
    if folder is not None:
        how["checkpoint"] = gpop.Checkpoint(folder, iterations=every, **options)
    return program.mass, gpop.run(program, **how, callback=callback)


def test_a_run_goes_on_to_the_same_bits(tmp_path):
    expected, whole = drift(None)
    with pytest.raises(Ended):
        drift(tmp_path, end=7)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["checkpoint.json", "iteration-6"]
    (tmp_path / "iteration-3").mkdir()  # what one that was killed while it wrote has left
    (tmp_path / "iteration-3" / ".rank-0.npz.k2_w").touch()
    mass, run = drift(tmp_path)
    assert np.array_equal(mass, expected)
    assert (run.iterations, len(run.trace)) == (12, 6)
    assert np.array_equal(run.frontier, whole.frontier)
    assert [*tmp_path.iterdir()] == []  # it is over


def test_folders_of_others_stay(tmp_path):
    """In a folder of results, say: all that began with iteration- had been removed."""
    kept = tmp_path / "iteration-3" / "figure.svg", tmp_path / "iteration-last" / "rank-0.npz"
    for path in kept:
        path.parent.mkdir()
        path.touch()
    with pytest.raises(Ended):
        drift(tmp_path, end=7)
    drift(tmp_path)
    assert all(path.exists() for path in kept)


def test_one_that_says_nothing_of_lists_is_gone_on_from(tmp_path):
    """As earlier ones did."""
    with pytest.raises(Ended):
        drift(tmp_path, end=7)
    index = tmp_path / "checkpoint.json"
    said = json.loads(index.read_text())
    assert said.pop("series") == {} and said.pop("own")
    index.write_text(json.dumps(said))
    assert drift(tmp_path)[1].iterations == 12


def test_after_so_many_seconds(tmp_path):
    with pytest.raises(Ended):
        drift(tmp_path, end=2, every=None, seconds=1e-9)
    assert json.loads((tmp_path / "checkpoint.json").read_text())["iteration"] == 2


def test_what_is_refused(tmp_path):
    with pytest.raises(Ended):
        drift(tmp_path, end=7)
    with pytest.raises(UsageError, match="of another run .Drift, 301 vertices, 1500 edges.: expected"):
        drift(tmp_path, graph=random_graph(6, 302, 1500))
    with pytest.raises(UsageError, match="checkpoint.json: of iteration 6: expected 5 at most"):
        drift(tmp_path, iterations=5)
    index = tmp_path / "checkpoint.json"
    whole = index.read_text()
    index.write_text(whole.replace('"files": [', '"files": [4, '))
    with pytest.raises(UsageError, match="checkpoint.json: not as it was written"):
        drift(tmp_path)
    index.write_text(whole)
    path = tmp_path / "iteration-6" / "rank-0.npz"
    held = path.read_bytes()
    path.write_bytes(held[:600] + bytes([held[600] ^ 1]) + held[601:])
    with pytest.raises(UsageError, match="rank-0.npz: damaged: expected what was written"):
        drift(tmp_path)
    path.write_bytes(held[1:])
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


def distances(folder, source, graph, delta=8, bound=None, end=None):
    """Shortest paths by a program, ended in an iteration or not."""
    program = SSSP(graph)
    program.distance[source], program.delta = 0, delta
    if bound is not None:
        program.distance[:9] = np.minimum(program.distance[:9], bound)

    def callback(record):
        if record["iteration"] == end:
            raise Ended

    gpop.run(program, [source], checkpoint=gpop.Checkpoint(folder, iterations=1), callback=callback)
    return program.distance


def test_a_run_that_began_otherwise_does_not_go_on(tmp_path):
    """The next source of a loop would have the distances of the one before, and say nothing."""
    graph, heavier = (generate("grid", width=9, height=9, weights=(1, most)) for most in (9, 11))
    moved = np.array(graph.indptr)  # the edge of a vertex is another's; all destinations are as they were
    moved[40] += 1
    other = gpop.Graph.from_csr(moved, graph.indices, graph.weights)
    with pytest.raises(Ended):
        distances(tmp_path, 0, graph, end=3)
    for given, said in [
        ((3, graph), "frontier and parameters"),
        ((0, graph, 9), "frontier and parameters"),
        ((0, graph, 8, 5), "fields and edges"),
        ((0, heavier), "fields and edges"),
        ((0, other), "fields and edges"),
    ]:
        with pytest.raises(UsageError, match=f"of another run .*: expected the same {said}, or an empty"):
            distances(tmp_path, *given)
    assert np.array_equal(distances(tmp_path, 0, graph), gpop.sssp(graph, 0).distance)


def test_what_nobody_has_set_is_nothing_to_tell_a_run_by(tmp_path, monkeypatch):
    """PageRank until it has converged, whose field of changes is whatever was in that memory before."""
    numbers = itertools.count()
    monkeypatch.setattr(values, "unset", lambda length, dtype: np.full(length, next(numbers), dtype))

    def callback(record):
        if record["iteration"] == 4:
            raise Ended

    how = {"tolerance": 1e-4, "checkpoint": gpop.Checkpoint(tmp_path, iterations=3)}
    with pytest.raises(Ended):
        gpop.pagerank(GRAPH, **how, callback=callback)
    assert np.array_equal(gpop.pagerank(GRAPH, **how).rank, gpop.pagerank(GRAPH, tolerance=1e-4).rank)


def test_what_a_callback_sets_goes_on(tmp_path):
    """Here a field that the functions read alone, which checkpoints had left out."""

    def ranks(end=None, **kept):
        program = ConvergingPageRank(GRAPH)
        program.share = program.per_edge = 1

        def callback(record):
            if record["iteration"] == end:
                raise Ended
            program.per_edge *= 0.5

        gpop.run(program, iterations=12, callback=callback, **kept)
        return program.per_edge

    kept = {"checkpoint": gpop.Checkpoint(tmp_path, iterations=3)}
    with pytest.raises(Ended):
        ranks(end=7, **kept)
    assert np.array_equal(ranks(**kept), ranks())


def test_a_damaged_index_is_one_line(tmp_path):
    ring = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])
    for text in ('{"program": ', "{}", "[]"):
        (tmp_path / "checkpoint.json").write_text(text)
        with pytest.raises(gpop.UsageError, match=r"checkpoint\.json: not as it was written"):
            gpop.bfs(ring, 0, checkpoint=gpop.Checkpoint(tmp_path))

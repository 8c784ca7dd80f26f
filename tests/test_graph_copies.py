"""Copies and pickles of graphs: what travels, and that what arrives works."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.apps.pagerank_programs import PageRank

DATA = Path(__file__).resolve().parents[1] / "data"


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle 2": lambda graph: pickle.loads(pickle.dumps(graph, 2)),
    "pickle": lambda graph: pickle.loads(pickle.dumps(graph, pickle.HIGHEST_PROTOCOL)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", ["road.bin", "lesmis.bin", "karate.bin"])
def test_a_copy_after_a_run_gives_the_same_answers(name, way):
    graph = gpop.load(DATA / name)
    graph.original_ids = np.arange(graph.n, dtype=np.int64) + 7
    asked = {
        "bfs": lambda graph: gpop.bfs(graph, 0).level,
        "pagerank": lambda graph: gpop.pagerank(graph, iterations=5, mode="pull").rank,
        "components": lambda graph: gpop.connected_components(graph).label,
        "reordered": lambda graph: gpop.bfs(graph, 0, reorder="degree").level,
        "nibble": lambda graph: gpop.nibble(graph, [0]).probability,
        "vertex": lambda graph: graph.vertex_of(9),
        "turned": lambda graph: graph.reverse().indices,
    }
    expected = {what: ask(graph) for what, ask in asked.items()}
    twin = COPIES[way](graph)
    assert (twin.n, twin.m, twin.name) == (graph.n, graph.m, graph.name)
    assert twin.kept() == [] and len(graph.kept()) > 5
    assert twin.facts.file == graph.facts.file
    for what, ask in asked.items():
        assert np.array_equal(ask(twin), expected[what]), what
    assert twin.store.lock is not graph.store.lock


def test_a_pickle_has_the_graph_and_nothing_that_was_built_for_it():
    graph = gpop.load(DATA / "road.bin")
    before = len(pickle.dumps(graph))
    gpop.bfs(graph, 0)
    graph.reverse()
    assert len(pickle.dumps(graph)) < before + 1000


def test_a_mapped_graph_travels_as_arrays(tmp_path, monkeypatch):
    path = tmp_path / "mapped.bin"
    gpop.load(DATA / "road.bin").save(path)
    monkeypatch.setattr("gpop.io.binary_csr._must_be_mapped", lambda *arguments: True)
    graph = gpop.load(path)
    assert graph.indices.base is not None
    expected = gpop.bfs(graph, 0).level
    data = pickle.dumps(graph)
    path.unlink()
    assert np.array_equal(gpop.bfs(pickle.loads(data), 0).level, expected)


def test_functions_programs_and_results_are_pickled():
    graph = gpop.load(DATA / "karate.bin")
    found = gpop.bfs(graph, 0)
    assert np.array_equal(pickle.loads(pickle.dumps(found)).level, found.level)
    program = PageRank(graph)
    program.share = 0.5
    gpop.run(program, iterations=1)
    twin = pickle.loads(pickle.dumps(program))
    assert np.array_equal(twin.share, program.share)
    assert gpop.run(twin, iterations=1).iterations == 1
    for name in ("bfs", "sssp", "pagerank", "connected_components", "triangle_count", "nibble"):
        function = getattr(gpop, name)
        assert pickle.loads(pickle.dumps(function)) is function


def test_processes_share_the_work():
    """What `multiprocessing` and joblib do: the function and the graph travel to new processes."""
    graph = gpop.load(DATA / "karate.bin")
    expected = [gpop.bfs(graph, source).level for source in range(2)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap(gpop.bfs, [(graph, source) for source in range(2)])
    assert all(np.array_equal(a.level, b) for a, b in zip(found, expected, strict=True))

"""Runs that one block does again: nobody sees what comes of a class that has changed."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import gpop
from gpop.cpu import again
from gpop.gpu.one_block import OneBlock
from tests.gpu.edited import GPU, Hops, check_app, check_interrupted, check_program, hops_of, watched
from tests.gpu.emulator import emulated
from tests.programs import random_graph


@pytest.fixture
def blocks(monkeypatch) -> list[bool]:
    return watched(monkeypatch, OneBlock, "run")


@pytest.mark.parametrize("on_device", [False, True])
def test_a_function_that_was_edited_is_noticed(on_device, blocks, monkeypatch):
    """Before fields of the device are written, and before others are seen, whose run is thrown away."""
    with emulated():
        check_program(on_device, blocks, monkeypatch)


def test_an_app_whose_function_was_edited(blocks, monkeypatch):
    with emulated():
        check_app(blocks, monkeypatch)


def test_what_fails_while_the_block_works_leaves_it_done(monkeypatch):
    with emulated():
        check_interrupted(monkeypatch)


def test_results_are_those_of_their_own_run():
    """Whenever they are looked at, and whoever writes into others."""
    graph = random_graph(5, 34, 150, weights=True)
    sources = (3, 8, 3, 20)
    levels = [gpop.bfs(graph, source).level for source in sources]
    ranks = gpop.pagerank(graph, iterations=4).rank
    with emulated():
        gpop.bfs(graph, 0, **GPU)
        found = [gpop.bfs(graph, source, **GPU) for source in sources]
        ranked = [gpop.pagerank(graph, iterations=4, **GPU) for _ in range(3)]
        ended = [hops_of(graph, source=source) for source in sources]
    found[1].level[:] = found[1].parent[:] = 7
    for i in (0, 2, 3):
        assert np.array_equal(found[i].level, levels[i])
        program = ended[i][1]
        assert np.array_equal(program.hops, levels[i])
        assert np.array_equal(program.heard, np.where(levels[i] > 0, levels[i] - 1, -1))
        assert program.heard.flags.writeable
        assert found[i].run.iterations == len(found[i].trace) == levels[i].max() + 1
    for each in ranked:
        assert np.allclose(each.rank, ranks, rtol=1e-5) and each.iterations == 4 and each.converged is None
    assert all(np.allclose(each.rank, ranks, rtol=1e-5) for each in ranked)  # once, whoever looks again


def test_threads_that_search_a_graph_at_once():
    graph = random_graph(5, 34, 150)
    wanted = {source: gpop.bfs(graph, source).level for source in range(6)}
    wrong = []

    def search(first):
        for i in range(30):
            source = (first + i) % 6
            run, program = hops_of(graph, source=source)
            if not np.array_equal(gpop.bfs(graph, source, **GPU).level, wanted[source]):
                wrong.append(source)
            if not np.array_equal(program.hops, wanted[source]) or len(run.trace) != run.iterations:
                wrong.append(source)

    with emulated():
        search(0)
        threads = [threading.Thread(target=search, args=(first,)) for first in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert wrong == []


def test_a_run_keeps_neither_program_nor_graph():
    """Nor what is on the device: nobody has looked at it, and all of it is in a copy."""
    with emulated():
        graph = random_graph(5, 34, 150)
        for _ in range(3):
            run, program = hops_of(graph)
        first = gpop.run(Hops(random_graph(5, 34, 150)), [3], **GPU)
        [engine] = [
            each.value.engine for each in graph.store._noted.values() if hasattr(each.value, "engine")
        ]
        gone = [*map(weakref.ref, (graph, program, graph.store, engine, engine.exchange))]
        gc.collect()
        gc.disable()
        try:
            del graph, program, engine
            assert [each() for each in gone] == [None] * 5
        finally:
            gc.enable()
    again = pickle.loads(pickle.dumps(run))
    assert again.iterations == run.iterations == len(again.trace) > 0
    assert again.converged and again.frontier.size == 0 and again.touched is None and again.part is None
    assert {**vars(first)}.keys() <= {*dir(run)}


def test_a_field_that_nobody_has_looked_at_goes_on_from_where_it_was():
    """A second run of the same program takes up what the first has left in its answer."""
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    with emulated():
        for _ in range(2):
            program = Hops(graph)
            program.hops[0] = 0
            gpop.run(program, [0], iterations=1, **GPU)
        gpop.run(program, [1], iterations=1, **GPU)
        assert program.hops.tolist() == [0, 1, 2, -1] and "heard" not in program._fields.made
        gpop.run(program, [2], **GPU)
        assert program.hops.tolist() == [0, 1, 2, 3]
        assert program.heard.tolist() == [-1, 0, 0, 0]


def test_what_a_device_has_left_is_taken_up_by_a_run_on_the_cpu_like_an_earlier_one(monkeypatch):
    """Which would have its fields filled in the loop: these are fetched."""
    monkeypatch.setattr(again, "MANY", 0)
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    with emulated():
        for target in ("cpu", "gpu") * 2:
            program = Hops(graph)
            program.hops[0] = 0
            gpop.run(program, [0], iterations=1, target=target)
        assert "heard" not in program._fields.made
        gpop.run(program, [1], iterations=1, target="cpu")
    assert program.hops.tolist() == [0, 1, 2, -1] and program.heard.tolist() == [-1, 0, 0, -1]

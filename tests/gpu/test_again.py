"""Runs that all blocks do again, of fields that do not travel with Control: results are made while the device
is at work, and nobody sees what comes of a class that has changed."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import exchange, limits
from gpop.gpu.again import RestingEngine
from gpop.gpu.fields import DeviceFields
from tests.gpu.edited import GPU, Hops, check_app, check_interrupted, check_program, hops_of, watched
from tests.gpu.emulator import emulated
from tests.programs import random_graph


@pytest.fixture(autouse=True)
def large_fields(monkeypatch):
    monkeypatch.setattr(exchange, "SMALL", 0)
    monkeypatch.setattr(limits, "ONE_BLOCK", 0)
    with emulated():
        yield


class Sums(gpop.Program):
    all_active = True
    total = gpop.VertexField(np.int64, 1)

    def scatterFunc(self, node):
        return self.total[node]

    def gatherFunc(self, value, node):
        self.total[node] += value
        return True


@pytest.fixture
def runs(monkeypatch) -> list[bool]:
    return watched(monkeypatch, RestingEngine, "again")


@pytest.mark.parametrize("on_device", [False, True])
def test_a_function_that_was_edited_is_noticed(on_device, runs, monkeypatch):
    check_program(on_device, runs, monkeypatch)


def test_an_app_whose_function_was_edited(runs, monkeypatch):
    """That is found out while the device is at work, whose run is thrown away."""
    check_app(runs, monkeypatch)


def test_what_an_earlier_run_has_left_is_not_written_by_functions_that_were_edited(monkeypatch):
    """A run goes on in these arrays; what was thrown away would be in them."""
    graph = random_graph(5, 34, 150)
    found = {}
    for target in ("gpu", "cpu"):
        for _ in range(2):
            program = Sums(graph)
            gpop.run(program, iterations=1, target=target)
        with monkeypatch.context() as patch:
            patch.setattr(Sums, "scatterFunc", lambda self, node: np.int64(3) * self.total[node])
            gpop.run(program, iterations=1, target=target)
        found[target] = program.total
    assert np.array_equal(found["gpu"], found["cpu"])


def test_what_fails_while_the_device_works_leaves_it_done(monkeypatch):
    check_interrupted(monkeypatch)


def test_a_program_whose_run_was_broken_off_has_its_fields_as_they_were(monkeypatch):
    graph = random_graph(5, 34, 150)
    hops_of(graph)
    with monkeypatch.context() as patch:
        patch.setattr(RestingEngine, "_end", lambda self: 1 / 0)
        program = Hops(graph)
        with pytest.raises(ZeroDivisionError):
            gpop.run(program, [3], **GPU)
    assert np.all(program.hops == -1) and np.all(program.heard == -1)
    assert np.array_equal(hops_of(graph)[1].hops, gpop.bfs(graph, 3).level)


def test_what_breaks_off_at_the_very_end_leaves_nothing_to_the_next_run(monkeypatch):
    graph = random_graph(5, 34, 150)
    wanted, others = gpop.bfs(graph, 3).level, gpop.bfs(graph, 8).level
    heard = [hops_of(graph)[1] for _ in range(2)][1].heard
    forget = DeviceFields.forget

    def interrupted(self):
        if len(self):  # arrays of a run that is over
            raise KeyboardInterrupt
        forget(self)

    program = Hops(graph)
    program.hops[3] = 0
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(DeviceFields, "forget", interrupted)
        gpop.run(program, [3], **GPU)
    assert np.array_equal(hops_of(graph, source=8)[1].hops, others)
    assert np.array_equal(program.hops, wanted) and np.array_equal(program.heard, heard)


def test_results_are_those_of_their_own_run():
    graph = random_graph(5, 34, 150)
    sources = (3, 8, 3, 20)
    gpop.bfs(graph, 0, **GPU)
    found = [gpop.bfs(graph, source, **GPU) for source in sources]
    ended = [hops_of(graph, source=source)[1] for source in sources]
    for source, result, program in zip(sources, found, ended, strict=True):
        wanted = gpop.bfs(graph, source).level
        assert np.array_equal(result.level, wanted) and np.array_equal(program.hops, wanted)
        assert result.run.iterations == len(result.trace) == wanted.max() + 1
        assert program.heard.flags.writeable

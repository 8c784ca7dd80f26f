"""Connected components: weak ones, also of directed graphs."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import gpop
from gpop.apps import cc
from gpop.apps.cc import METHODS, verify
from gpop.generate import generate
from gpop.graph.kept import Kind
from tests.apps import reference
from tests.gpu.emulator import emulated


def directed() -> gpop.Graph:
    return gpop.Graph.from_edges([3, 1, 4], [2, 2, 5], n=7)


def test_for_labels_a_directed_graph_is_made_symmetric_once():
    graph = directed()
    result = gpop.connected_components(graph, "labels")
    assert result.label.tolist() == [0, 1, 1, 1, 4, 4, 6]
    assert (result.count, result.symmetrized) == (4, True)
    kept = graph.store.get(Kind.SYMMETRIC)
    gpop.connected_components(graph, "labels")
    assert graph.store.get(Kind.SYMMETRIC) is kept


def test_afforest_takes_a_directed_graph_as_it_is():
    graph = directed()
    result = gpop.connected_components(graph, "afforest")
    assert result.label.tolist() == [0, 1, 1, 1, 4, 4, 6]
    assert (result.count, result.symmetrized) == (4, True)
    assert not graph.store.has(Kind.SYMMETRIC)


@pytest.mark.parametrize("method", METHODS)
def test_a_symmetric_graph_is_used_as_it_is(method):
    grid = generate("grid", width=5, height=4)
    result = gpop.connected_components(grid, method)
    assert (result.count, result.symmetrized) == (1, False)
    assert not result.label.any()


def test_auto_is_afforest_unless_an_option_is_for_messages():
    def chosen(method="auto", **options):
        summary = gpop.connected_components(directed(), method, **options).trace.summary
        return summary["method"], summary["reason"]

    assert chosen()[0] == "afforest"
    assert "of 256 sampled vertices were in one tree" in chosen()[1]
    assert chosen(threads=1, partition_size=2, progress=False, mode="auto", ratio=None)[0] == "afforest"
    assert chosen("labels") == ("labels", "as asked")
    assert chosen(mode="sc") == ("labels", "mode is for messages")
    assert chosen(interleave=False) == ("labels", "interleave is for messages")
    assert chosen(iterations=3, callback=lambda record: False)[1] == "iterations, callback are for messages"
    assert chosen("afforest")[1].startswith("as asked; ")


def test_auto_is_afforest_on_a_gpu_too():
    graph = directed()
    with emulated():
        found = gpop.connected_components(graph, target="gpu")
        assert found.label.tolist() == [0, 1, 1, 1, 4, 4, 6]
        assert (found.count, found.symmetrized, found.run.target) == (4, True, "gpu")
        assert found.trace.summary["method"] == "afforest"
        assert found.trace.summary["phases"] == ["hook", "join", "compress", "sample", "rest", "flatten"]
        assert not graph.store.has(Kind.SYMMETRIC)


@pytest.mark.slow
def test_on_a_gpu_a_mode_is_for_labels():
    with emulated():
        found = gpop.connected_components(directed(), target="gpu", mode="sc", interleave=False)
    assert found.trace.summary["reason"] == "interleave, mode are for messages"
    assert found.label.tolist() == [0, 1, 1, 1, 4, 4, 6]


@pytest.mark.slow
def test_on_a_gpu_partitions_are_for_labels():
    with emulated():
        found = gpop.connected_components(directed(), target="gpu", ratio=1.0, partition_size=2)
        with pytest.raises(gpop.UsageError, match="partition_size means nothing to afforest"):
            gpop.connected_components(directed(), "afforest", target="gpu", partition_size=2)
    assert found.trace.summary["reason"] == "ratio, partition_size are for messages"


def test_a_graph_that_does_not_fit_the_gpu_is_labelled_by_messages(monkeypatch):
    sent = gpop.connected_components(directed(), "labels")
    reasons = []
    monkeypatch.setattr(cc, "_by_labels", lambda *given: reasons.append(given[1]) or sent)
    with emulated():
        monkeypatch.setattr(sys.modules["cupy"].cuda.runtime, "memGetInfo", lambda: (8, 8))
        found = gpop.connected_components(directed(), target="gpu")
        with pytest.raises(gpop.NotEnoughMemory, match="^components of .* on the device"):
            gpop.connected_components(directed(), "afforest", target="gpu")
    assert found.label.tolist() == [0, 1, 1, 1, 4, 4, 6]
    assert len(reasons) == 1 and reasons[0].startswith("afforest does not fit the device: components of ")


def test_what_afforest_refuses():
    with pytest.raises(gpop.UsageError, match="mode means nothing to afforest: it sends no messages"):
        gpop.connected_components(directed(), "afforest", mode="pc")
    with pytest.raises(gpop.UsageError, match="method 'fast': expected one of auto, labels, afforest"):
        gpop.connected_components(directed(), "fast")
    with pytest.raises(gpop.UsageError, match=r"^connected_components .* 'thread' \(did you mean threads"):
        gpop.connected_components(directed(), thread=2)


def test_the_trace_of_afforest_has_its_phases():
    result = gpop.connected_components(generate("grid", width=40, height=40), threads=1)
    trace = result.trace
    assert trace.summary["phases"] == ["hook", "join", "sample", "compress", "rest", "compare", "flatten"]
    assert trace.column("active_edges").tolist() == [1600, 0, 0, 0, 0, 0, 0]
    assert 0 < trace.seconds <= result.run.seconds


@pytest.mark.parametrize("method", ["labels", "afforest"])
def test_many_components(method):
    rng = np.random.default_rng(3)
    graph = gpop.Graph.from_edges(*rng.integers(0, 2000, (2, 1200)), n=2000)
    result = gpop.connected_components(graph, method, partition_size=64)
    assert np.array_equal(result.label, reference.smallest_labels(graph))
    assert verify(graph, result) is None


def test_labels_without_interleaving():
    rng = np.random.default_rng(3)
    graph = gpop.Graph.from_edges(*rng.integers(0, 2000, (2, 1200)), n=2000)
    result = gpop.connected_components(graph, interleave=False, partition_size=64)
    assert np.array_equal(result.label, reference.smallest_labels(graph))
    assert verify(graph, result) is None


def test_verify_sees_faults():
    graph = gpop.Graph.from_edges([0, 3], [1, 4], n=5)
    result = gpop.connected_components(graph)
    wrong = result.label.copy()
    wrong[4] = 4
    assert "1 labels are not the smallest" in verify(graph, replace(result, label=wrong))
    assert "SciPy finds 3" in verify(graph, replace(result, count=2))

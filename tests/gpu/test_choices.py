"""Which strategy of the GPU is chosen: by a run, and by its partitions as the model in Python says."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import again, choices, engine, traits
from gpop.gpu.choices import traits_of
from gpop.gpu.engine import GpuEngine
from gpop.gpu.preparing import emitted_of
from gpop.graph.graph import Graph
from gpop.model import choosers, gpu_bytes
from gpop.model.choosers import divides, prefers_bins
from gpop.model.gpu_sizes import Part
from gpop.model.strategies import MODES, PC, PULL, SC
from gpop.plan.plan import decide
from tests.gpu.cases import CASES, started
from tests.gpu.emulator import emulated
from tests.gpu.test_bottom_up import Reached
from tests.programs import Smallest, random_graph


def test_partitions_are_enough_for_the_multiprocessors(monkeypatch):
    """And as large as bins allow beyond that; where nothing is binned they are small."""
    many, bits = Graph.from_edges([0], [1], n=1 << 20), {}
    with emulated():
        for multiprocessors in (1, 132):
            device = choices.current_device()._replace(multiprocessors=multiprocessors)
            monkeypatch.setattr(choices, "current_device", lambda device=device: device)
            for mode in ("pc", "sc"):
                plan = decide(Smallest(many), target="gpu", mode=mode)
                bits[multiprocessors, mode] = traits_of(plan, emitted_of(plan), None).bits
    assert bits == {(1, "pc"): 15, (132, "pc"): 14, (1, "sc"): 12, (132, "sc"): 12}


def test_few_edges_go_without_bins(monkeypatch):
    """Unless partitions are spoken of."""
    graph, names = random_graph(6, 70, 300), {}
    with emulated():
        for most in (299, 300):
            monkeypatch.setattr(choosers, "MOST_WITHOUT_BINS", most)
            for size in (None, 32):
                plan = decide(Smallest(graph), target="gpu", partition_size=size, interleave=True)
                chosen = traits_of(plan, emitted_of(plan), None).strategies
                names[most, size] = [strategy.name for strategy in chosen if strategy.mode == PC]
    assert names.pop((300, None)) == []
    assert all(each == ["bins-combined"] for each in names.values()) and len(names) == 3


def test_more_edges_go_without_bins_where_levels_are_many(monkeypatch):
    """A mesh; on a small world, as near but of few levels, it is as anywhere else."""
    for most in ("MOST_WITHOUT_BINS", "MOST_ONLY_PUSHED", "MOST_SWEPT"):
        monkeypatch.setattr(choosers, most, 0)
    names = []
    with emulated():
        for graph in (generate("grid", width=16, height=100), generate("small_world", vertices=400)):
            for plan in (
                decide(Smallest(graph), target="gpu", interleave=True),
                decide(Reached(graph), target="gpu"),
            ):
                names.append({each.mode for each in traits_of(plan, emitted_of(plan), None).strategies})
    assert names == [{SC}, {SC}, {SC, PC}, {SC, PULL}]


@pytest.mark.parametrize("mode, column", [("sc", "sc"), ("pc", "pc"), ("pull", "pull"), ("edge-list", "sc")])
def test_partitions_count_for_the_mode_of_their_strategy(mode, column):
    case, graph = CASES["Smallest"], random_graph(6, 70, 300)
    with emulated():
        trace = gpop.run(started(case, graph), mode=mode, target="gpu", partition_size=32).trace
    for each in MODES:
        assert (trace.column(each.column).sum() > 0) == (each.name == column)


@pytest.mark.parametrize(
    "ratio, shares, divided",
    [(0.0, (0.9, 0.02), False), (1.6, (0.9, 0.02), True), (3.0, (0.9, 0.02), True), (1e9, (0.9, 0.02), False),
     (1.6, (0.6, 0.4), False)],
)  # fmt: skip
def test_partitions_choose_as_the_model_in_python_says(ratio, shares, divided, monkeypatch):
    """Partitions of which very different shares are active; above what one block does alone."""
    graph, size = random_graph(8, 2048, 60_000), 64
    rng = np.random.default_rng(2)
    share = np.repeat(np.where(rng.random(graph.n // size) < 0.5, *shares), size)
    share[::size] = 1  # every partition has something to send
    frontier = np.flatnonzero(rng.random(graph.n) < share)
    found = {}

    class Watching(engine.GpuEngine):
        def iterate(self):
            found["sizes"] = traits.device_sizes(self.ready.emitted, self.traits, False)
            found["messages"] = np.array(self.layout["messages"])
            found["segments"] = np.array(self.layout["segments"])
            return super().iterate()

    monkeypatch.setattr(again, "RestingEngine", Watching)
    with emulated():
        program = Smallest(graph)
        program.label = np.arange(graph.n)
        run = gpop.run(
            program, frontier, iterations=1, mode="auto", ratio=ratio, partition_size=size, target="gpu"
        )
    k, tails = graph.n // size, np.repeat(np.arange(graph.n), graph.out_degree) // size
    bins = np.unique(np.stack([tails, graph.indices // size]), axis=1)  # each is one segment: they are small
    assert np.array_equal(found["segments"][:k], np.bincount(bins[0], minlength=k))
    dense, moved, vertices, edges = 0, 0.0, 0, 0
    cost = idle = 0.0
    alone = np.zeros(2)
    for p in range(graph.n // size):
        own = np.arange(p * size, (p + 1) * size)
        active = np.intersect1d(own, frontier)
        part = Part(
            len(active), int(graph.out_degree[active].sum()), size, int(graph.out_degree[own].sum()),
            int(found["messages"][p]), int(found["segments"][p]),
        )  # fmt: skip
        pushed, binned = (f(part, found["sizes"]) for f in (gpu_bytes.push_bytes, gpu_bytes.combined_bytes))
        chosen = prefers_bins(part.edges, pushed, binned, ratio)
        dense += chosen
        moved += binned if chosen else pushed
        idle += 0 if chosen else gpu_bytes.combined_idle_bytes(part, found["sizes"])
        cost += binned / ratio if chosen else pushed
        alone += pushed, binned / max(ratio, 1e-9)
        vertices, edges = vertices + len(active), edges + part.active_edges
    record = run.trace[0]
    if dense and not divides(cost + idle / ratio, *alone):
        all_binned = prefers_bins(1, *alone, 1.0)
        dense, idle = all_binned * (graph.n // size), 0
        moved = alone[1] * ratio
    assert (record["partitions_pc"], record["partitions_sc"]) == (dense, graph.n // size - dense)
    assert (record["frontier"], record["active_edges"]) == (vertices, edges)
    assert divided == (0 < dense < graph.n // size)
    if dense:
        assert record["bytes"] == int(moved + idle)


def test_a_ratio_belongs_to_one_model(tmp_path, monkeypatch):
    """Bytes counted otherwise: what was measured before is not taken."""
    from gpop.gpu import calibrate

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "gpop").mkdir()
    kept = tmp_path / "gpop" / "devices.json"
    kept.write_text(json.dumps({"emulator": 9.0}))
    with emulated():
        monkeypatch.setattr(calibrate, "_ratios", {})
        monkeypatch.setattr(calibrate, "measure_ratio", lambda engine_of: 1.5)
        assert calibrate.device_ratio(GpuEngine) == 1.5
        monkeypatch.setattr(calibrate, "measure_ratio", lambda engine_of: pytest.fail("measured again"))
        assert calibrate.device_ratio(GpuEngine) == 1.5
        monkeypatch.setattr(calibrate, "_model", lambda: "other")
        monkeypatch.setattr(calibrate, "measure_ratio", lambda engine_of: 2.5)
        assert calibrate.device_ratio(GpuEngine) == 2.5

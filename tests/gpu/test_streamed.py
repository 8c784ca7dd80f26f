"""Runs whose edges are streamed, on the emulator: answers, the budget, what comes over the link."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import again, calibrate, choices, engine, limits, streaming
from gpop.gpu.streamed_graph import StreamedGraph, away_between
from gpop.graph.kept import Kind
from tests.gpu.asking import only_pages
from tests.gpu.cases import CASES, check, expected, graph_of, in_plain_python
from tests.gpu.emulator import emulated
from tests.gpu.foreign import FOREIGN
from tests.gpu.test_moved import CountingModule, LowestWeighted, Sums, SumsEverywhere, graph_for

PAGE = 1024
"""Bytes: the small graphs of the tests have many pages, too."""

SIZE = 256
PLENTY = 10_000_000


gpop_run = gpop.run


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(limits, "PAGE_BYTES", PAGE)
    monkeypatch.setattr(calibrate, "link_cost", lambda engine_of: 40.0)


def stream_with(patch, budget):
    """``target="gpu"`` streams; the callers of `gpop.run` know nothing of it."""
    run, options = gpop_run, {"residency": "stream", "device_memory": budget}
    patch.setattr(gpop, "run", lambda *given, **asked: run(*given, **asked, **options))


def half(link):
    """The budget with which half of the pages stay away, of a run that had room for all."""
    return (link["peak_bytes"] - link["resident_bytes"] // 2 + streaming.SLACK) * 64 // 63 + 1024


# Minima and sums that are folded, marks, owners of two fields, weights, needy vertices, no frontier.
PROGRAMS = ("Smallest", "MarkedSums", "Changes", "WeightedSumsCombined", "Distance", "Colours", "Countdown")


def ways():
    for name in PROGRAMS:
        for mode in ("sc", "pc", "auto", "pull"):
            kept = (name, mode) in (("Smallest", "auto"), ("WeightedSumsCombined", "pc"))
            yield pytest.param(name, mode, marks=[] if kept else pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FOREIGN if name.endswith("Combined")])
def test_runs_that_cancel_and_other_foreign_folds(name, monkeypatch):
    """Sums that count arrivals mark vertices whose runs add up to nothing, folded at once as well."""
    case, graph = FOREIGN[name], graph_of("big")
    wanted = in_plain_python(case, graph)
    stream_with(monkeypatch, PLENTY)
    with emulated():
        check(case, graph, wanted, "pc", SIZE, "declared")


@pytest.mark.parametrize("name, mode", [*ways()])
def test_answers_are_those_of_a_run_in_memory(name, mode, monkeypatch):
    """With room for all edges, and for half of them; nothing is allocated beyond the budget."""
    wanted, links, graph = expected(name, "big"), [], graph_of("big")
    only_pages(monkeypatch)
    with emulated():
        for budget in (PLENTY, None):
            stream_with(monkeypatch, budget or half(links[0]))
            run = check(CASES[name], graph, wanted, mode, SIZE, "declared")
            links.append(run.trace.summary["link"])
    whole, partly = links
    assert sum(whole["bytes"]) == whole["away_bytes"] == 0
    assert set(whole["hits"]) == {1.0}
    assert len(partly["bytes"]) == len(partly["hits"]) == run.iterations
    assert 0.2 < partly["away_bytes"] / whole["resident_bytes"] < 0.8
    assert sum(partly["bytes"]) > 0
    assert partly["peak_bytes"] <= partly["budget"]
    assert partly["peak_bytes"] < whole["peak_bytes"]
    graph.drop("device")
    graph.drop("pinned")


class Watching(engine.GpuEngine):
    """Counts what kernels read of pinned memory."""

    def iterate(self):
        library, pinned = self.ready.module.library, list(self.layout.pinned.values())
        library.counting_clear()
        for array in pinned:
            nbytes = array.nbytes - self._filled(array)
            library.counting_array(ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(nbytes))
        for phase in ("PushLines::gather", "BinsFolded::scatter"):
            library.counting_phase(phase.encode())
        records = super().iterate()
        Watching.read = sum(self._distinct(library, p, a) for p in range(2) for a in range(len(pinned)))
        return records

    def _filled(self, array):
        """Bytes behind the last element."""
        name = next(name for name, each in self.layout.pinned.items() if each is array)
        return array.nbytes - len(self.layout._host(name)) * array.itemsize

    @staticmethod
    def _distinct(library, phase, array):
        result = np.zeros(3, np.int64)
        library.counting_result(phase, array, ctypes.c_void_p(result.ctypes.data))
        return int(result[2])


@pytest.mark.parametrize(
    "cls, mode, all_of_it",
    [
        (SumsEverywhere, "pc", True),
        pytest.param(LowestWeighted, "pc", True, marks=pytest.mark.slow),
        pytest.param(LowestWeighted, "sc", True, marks=pytest.mark.slow),
        pytest.param(Sums, "sc", False, marks=pytest.mark.slow),
    ],
)
def test_predicted_bytes_come_over_the_link(cls, mode, all_of_it, monkeypatch):
    """Exactly where everything is read; of single vertices no more than sectors around their edges."""
    graph = graph_for(cls.applyWeight is not gpop.Program.applyWeight)
    frontier = None if all_of_it else np.arange(0, graph.n, 5)
    only_pages(monkeypatch)
    monkeypatch.setattr(again, "RestingEngine", Watching)
    budget = PLENTY
    with emulated(CountingModule):
        for _ in range(2):
            run = gpop.run(
                cls(graph), frontier, iterations=1, mode=mode, target="gpu", ratio=1.0, partition_size=64,
                residency="stream", device_memory=budget,
            )  # fmt: skip
            (predicted,) = run.trace.summary["link"]["bytes"]
            assert (Watching.read > 0) == (budget != PLENTY)
            assert Watching.read == predicted if all_of_it else Watching.read <= predicted
            budget = half(run.trace.summary["link"])
    assert run.trace.summary["link"]["away_bytes"] > 0


@pytest.mark.slow
def test_partitions_that_send_bring_their_own_bins(monkeypatch):
    """One of five sends, with most of the edges; at the ends of its bins some ids of others come along."""
    random = np.random.default_rng(4)
    tails = np.concatenate([random.integers(64, 128, 3000), random.integers(0, 320, 900)])
    graph = gpop.Graph.from_edges(tails, random.integers(0, 320, tails.size), n=320)
    only_pages(monkeypatch)
    monkeypatch.setattr(again, "RestingEngine", Watching)
    budget = PLENTY
    with emulated(CountingModule):
        for _ in range(2):
            run = gpop.run(
                Sums(graph), np.arange(64, 128), iterations=1, mode="pc", target="gpu", ratio=1.0,
                partition_size=64, residency="stream", device_memory=budget,
            )  # fmt: skip
            link = run.trace.summary["link"]
            budget = half(link)
    assert run.trace[0]["partitions_pc"] == 1
    assert link["bytes"][0] == pytest.approx(Watching.read, abs=5 * 64)
    assert link["bytes"][0] > link["away_bytes"] / 2


def test_runs_in_memory_and_streamed_ones_take_turns(monkeypatch):
    """A run in memory is prepared anew when a streamed one has dropped its arrays."""
    graph, known, found = graph_of("big"), engine.noted, []

    def noted(plan):
        found.append(known(plan))
        return found[-1]

    run_again, done = again.RestingEngine.again, []

    def watched(self, *given):
        left = run_again(self, *given)
        done.append(left is not None)
        return left

    monkeypatch.setattr(engine, "noted", noted)
    monkeypatch.setattr(again.RestingEngine, "again", watched)
    wanted = gpop.bfs(graph, 0).level
    with emulated():
        for _ in range(3):
            for options in ({}, {}, {"residency": "stream", "device_memory": PLENTY}):
                run = gpop.bfs(graph, 0, target="gpu", ratio=1.0, partition_size=SIZE, **options)
                assert np.array_equal(run.level, wanted)
    # The second one is done by the engine of the first, and asks for nothing.
    assert found == [None, None] * 3 and done == [True] * 3


def test_without_a_budget_it_is_what_was_free_at_first(monkeypatch):
    """A run that finds less free, since the one before is on the device, has the same budget and layout.

    On another device it is what is free there.
    """
    graph, links = graph_of("big"), []
    with emulated():
        runtime = streaming.cupy().cuda.runtime
        gpop.bfs(graph, 0, target="gpu", ratio=1.0, partition_size=SIZE)
        for free in (PLENTY, PLENTY // 2):
            monkeypatch.setattr(runtime, "memGetInfo", lambda free=free: (free, 1 << 40))
            run = gpop.bfs(graph, 0, target="gpu", ratio=1.0, partition_size=SIZE, residency="stream").run
            links.append(run.trace.summary["link"])
        monkeypatch.setattr(streaming.cupy().cuda, "Device", lambda: SimpleNamespace(id=1))
        monkeypatch.setattr(runtime, "memGetInfo", lambda: (1600, 1 << 40))
        assert streaming._everything(graph) == 1500
    assert [link["budget"] for link in links] == [PLENTY // 16 * 15] * 2


@pytest.mark.parametrize(
    "name, mode",
    [("WeightedSumsCombined", "pc"), pytest.param("Smallest", "auto", marks=pytest.mark.slow)],
)
def test_with_room_for_all_a_run_is_that_in_memory(name, mode, monkeypatch):
    """Its strategies on whole arrays, within the budget; a second run finds them there."""
    graph, wanted = graph_of("big"), expected(name, "big")
    with emulated():
        in_memory = check(CASES[name], graph, wanted, mode, SIZE, "declared")
        stream_with(monkeypatch, PLENTY)
        for _ in range(2):
            run = check(CASES[name], graph, wanted, mode, SIZE, "declared")
            link = run.trace.summary["link"]
            assert link["away_bytes"] == sum(link["bytes"]) == 0 < link["resident_bytes"]
            assert link["peak_bytes"] <= PLENTY
            bytes_of = [each.trace.column("bytes").sum() for each in (run, in_memory)]
            assert bytes_of[0] == bytes_of[1]
    layouts = [entry.value for key, entry in graph.store._entries.items() if key[0] is Kind.DEVICE]
    assert not any(isinstance(layout, StreamedGraph) for layout in layouts)
    graph.drop("device")


def test_bins_are_those_of_the_strategy_that_streams(monkeypatch):
    """In memory the vertices of this run would ask; its partitions send by the bins of the reversed graph."""
    monkeypatch.setattr(choices, "prefers_rows", lambda *given: True)
    graph, budget = graph_for(False), PLENTY
    assert not graph.equals_reverse()
    wanted = Sums(graph)
    gpop.run(wanted, iterations=1, mode="sc")
    strategies = []
    with emulated():
        for _ in range(2):
            program = SumsEverywhere(graph)
            run = gpop.run(
                program, iterations=1, target="gpu", partition_size=64, residency="stream",
                device_memory=budget,
            )  # fmt: skip
            np.testing.assert_allclose(program.heard, wanted.heard)
            strategies.append(run.trace[0]["partitions_pull"])
            budget = half(run.trace.summary["link"])
    assert strategies == [-(-graph.n // 64), 0]
    assert run.trace.summary["link"]["away_bytes"] > 0


def test_hot_pages_are_on_the_device():
    """Those of vertices of one edge, each of which would be a read; a hub has whole lines."""
    n, m = 2000, 1000
    hub = np.full(m, 1500)
    graph = gpop.Graph.from_edges(
        np.concatenate([np.arange(n), hub]), np.concatenate([np.arange(n)[::-1], np.arange(m)]), n=n
    )
    with emulated():
        budget = PLENTY
        for _ in range(2):
            run = gpop.run(
                Sums(graph), [0], iterations=1, mode="sc", target="gpu", partition_size=SIZE,
                residency="stream", device_memory=budget,
            )  # fmt: skip
            budget = half(run.trace.summary["link"])
    (layout,) = [entry.value for key, entry in graph.store._entries.items() if key[0] is Kind.DEVICE]
    away, page = layout.away["indices"], PAGE // 4
    first, last = graph.indptr[1500:1501], graph.indptr[1501:1502]
    assert away_between(away, page, first, last)[0] > m - 2 * page
    assert away.sum() == pytest.approx(len(away) / 2, abs=2)


@pytest.mark.slow
def test_paths_over_the_link_have_narrow_buckets():
    """Hardly an edge is read twice; with room for all nothing changes."""
    graph = generate("rmat", scale=11, degree=16, seed=3, weights=(1, 255)).symmetrize()
    options, little = {"target": "gpu", "residency": "stream"}, 110 * graph.n
    with emulated():
        inside = gpop.sssp(graph, 0, target="gpu", method="messages")
        whole = gpop.sssp(graph, 0, **options, device_memory=PLENTY)
        wide, narrow = (
            gpop.sssp(graph, 0, **options, device_memory=little, delta=delta) for delta in (np.inf, None)
        )
    read = [sum(found.trace.summary["link"]["bytes"]) for found in (whole, narrow, wide)]
    assert 0 == read[0] < 1.5 * read[1] < read[2]
    assert whole.run.iterations == inside.run.iterations
    assert wide.run.iterations < narrow.run.iterations
    assert narrow.trace.column("active_edges").sum() < 1.2 * graph.m
    for found in (whole, narrow, wide):
        assert np.array_equal(found.distance, inside.distance)


def test_offsets_of_pages_that_are_away():
    away = np.array([False, True, False, True])
    marks = np.repeat(away, 8)
    first = np.array([0, 3, 8, 15, 7])
    last = np.array([32, 9, 16, 25, 7])
    found = away_between(away, 8, first, last)
    assert found.tolist() == [int(marks[a:b].sum()) for a, b in zip(first, last, strict=True)]


def crowded():
    """Many edges for few vertices."""
    number = np.arange(200_000)
    return gpop.Graph.from_edges(number % 499, number * 7 // 13 % 500, n=500)


def test_auto_streams_what_does_not_fit():
    graph = crowded()

    def told(**options):
        options["partition_size"] = SIZE
        run = gpop.run(Sums(graph), [0], iterations=1, target="gpu", mode="sc", **options)
        return run.trace.summary

    with emulated():
        assert "residency" not in told()
        assert "residency" not in told(device_memory="10MB")
        whole = told(residency="stream", device_memory="10MB")["link"]
        assert whole["away_bytes"] == 0
        budget = half(whole)
        link = told(device_memory=budget)["link"]
        assert link["away_bytes"] > 0
        assert link["peak_bytes"] <= budget < graph.indices.nbytes
        with pytest.raises(gpop.NotEnoughMemory, match=r"needs .* of device memory, .* are given$"):
            told(residency="device", device_memory=budget)
        with pytest.raises(
            gpop.NotEnoughMemory, match="of device memory without its edges, 9.0 KB are given$"
        ):
            told(residency="stream", device_memory=9000)


@pytest.mark.parametrize(
    "options, said",
    [
        (
            {"residency": "disk", "target": "gpu"},
            "target 'gpu': residency 'disk': expected one of auto, device, stream",
        ),
        (
            {"residency": "stream"},
            "target 'cpu': residency 'stream': expected one of auto, memory, mapped",
        ),
        ({"device_memory": "1GB"}, "device_memory = '1GB': target 'cpu': expected 'gpu'"),
        (
            {"device_memory": "1XB", "target": "gpu"},
            "device_memory = '1XB': expected bytes, such as 4000000000 or '4GB'",
        ),
        (
            {"residency": "stream", "target": "gpu", "mode": "edge-list"},
            "mode 'edge-list' wants all edges on the device: expected residency 'device', not 'stream'",
        ),
    ],
)
def test_what_cannot_be_is_one_line(options, said):
    with emulated(), pytest.raises(gpop.UsageError) as error:
        gpop.run(Sums(crowded()), [0], iterations=1, **options)
    assert str(error.value) == said

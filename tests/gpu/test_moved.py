"""The bytes that the model predicts for a strategy of the GPU are those that its kernels move (counting.cpp).

A stream's bytes count once per phase, random accesses each time, as gpop/model/gpu_bytes.py says; of an
atomic the read counts.
"""

from __future__ import annotations

import ctypes
from contextlib import nullcontext

import numpy as np
import pytest

import gpop
from gpop.gpu import again, engine
from gpop.gpu.device_graph import PADDING
from gpop.model.strategies import STRATEGIES
from tests.gpu.asking import asking, never_alone, only_pages
from tests.gpu.emulator import emulated
from tests.gpu.host_kernels import Module
from tests.gpu.moved_programs import (
    Everywhere,
    Harmless,
    Heard,
    Live,
    LiveWeighted,
    Lowest,
    LowestEverywhere,
    LowestWeighted,
    Needy,
    NeedyLive,
    Short,
    Sums,
    SumsEverywhere,
    Weighted,
)
from tests.programs import random_graph

SIZE, N = 64, 320
STREAM, EACH = "a byte once", "each time"
SCATTER = {"list": STREAM, "vertex_value": STREAM}
PUSHED = {
    "list": STREAM, "indptr": EACH, "indices": STREAM, "weights": STREAM, "vertex_value": STREAM,
    "cell": EACH, "folded": EACH,
}  # fmt: skip
ASKED = {
    "in_indptr": STREAM, "in_indices": STREAM, "in_weights": STREAM, "frontier_bits": EACH,
    "vertex_value": EACH,
}  # fmt: skip
BY_TARGET = {"vertex_value": EACH, "frontier_bits": EACH, "cell": EACH, "folded": EACH}
BY_SOURCE = BY_TARGET | {"vertex_value": STREAM, "frontier_bits": STREAM}
PHASES = {
    "push": {
        "scatter_list": SCATTER,
        "push_light": PUSHED,
    },
    "push-lines": {"scatter_list": SCATTER, "PushLines::gather": PUSHED},
    "levels": {
        "LevelWork<0>::walk": {"entries": STREAM, "indices": STREAM, "weights": STREAM, "cell": EACH},
    },
    "vertex-push": {"scatter_list": SCATTER, "VertexPush::gather": PUSHED},
    "vertex-push-warp": {"scatter_list": SCATTER, "VertexPushWarp::gather": PUSHED},
    "edge-list": {
        "scatter_list": SCATTER,
        "EdgeList::gather": BY_SOURCE | {"edge_source": STREAM, "indices": STREAM, "weights": STREAM},
    },
    "struct-edge-list": {
        "scatter_list": SCATTER,
        "StructEdgeList::gather": BY_SOURCE | {"edge": STREAM, "weighted_edge": STREAM},
    },
    "reverse-edge-list": {
        "scatter_list": SCATTER,
        "ReverseEdgeList::gather": BY_TARGET | {
            "in_indices": STREAM, "edge_target": STREAM, "in_weights": STREAM,
        },
    },
    "reverse-struct-edge-list": {
        "scatter_list": SCATTER,
        "ReverseStructEdgeList::gather": BY_TARGET | {
            "reverse_edge": STREAM, "weighted_reverse_edge": STREAM,
        },
    },
    "owner": {
        "scatter_list": SCATTER,
        "Owner::gather": ASKED,
    },
    "bottom-up": {
        "scatter_list": SCATTER,
        "BottomUp::gather": ASKED | {"cell": STREAM},
    },
    "rows": {"Rows::scatter": SCATTER, "Rows::walk": ASKED},
    "vertex-pull": {"scatter_list": SCATTER, "VertexPull::gather": ASKED},
    "vertex-pull-warp": {"scatter_list": SCATTER, "VertexPullWarp::gather": ASKED},
    "hyb": {
        "scatter_list": SCATTER,
        "Hyb::gather": {
            "ell_source": STREAM, "ell_weight": STREAM, "coo_row": STREAM, "coo_source": STREAM,
            "coo_weight": STREAM, "frontier_bits": EACH, "vertex_value": EACH,
        },
    },
    "bins": {
        "scatter_rows": {"sources": STREAM, "values": STREAM, "sent": STREAM},
        "gather_columns": {
            "segment": STREAM, "ids": STREAM, "id_weights": STREAM, "values": STREAM, "sent": STREAM,
            "cell": EACH,
        },
    },
    "bins-combined": {
        "BinsCombined::scatter": {"segment": STREAM, "ids": STREAM, "id_weights": STREAM, "partials": STREAM},
        "gather_rows": {"sources": STREAM, "partials": STREAM, "folded": EACH},
    },
    "bins-folded": {
        "BinsFolded::scatter": {
            "segment": STREAM, "ids": STREAM, "id_weights": STREAM, "sources": STREAM, "folded": EACH,
        },
    },
}  # fmt: skip
"""What each phase does with the arrays that carry messages; ``cell`` is the field that gatherFunc writes."""


class CountingModule(Module):
    watchers = ("counting.cpp",)


class CountingEngine(engine.GpuEngine):
    """Counts the arrays of the run while the loop runs."""

    def iterate(self):
        library = self.ready.module.library
        library.counting_clear()
        arrays = {
            name: (array, array.nbytes - PADDING * array.itemsize)
            for name, array in self.layout.arrays.items()
        }
        for name in getattr(self.layout, "pinned", ()):  # streamed, with room for all pages
            pages = self.layout.arrays[f"{name} here"]
            arrays[name] = pages, len(self.layout._host(name)) * self.layout.pinned[name].itemsize
        for name in self.space.shapes:
            array = self.space[name]
            room = PADDING * array.itemsize if name in ("values", "sent", "partials") and array.size else 0
            arrays[name] = array, array.nbytes - room
        cell = self.fields[self.ready.emitted.written[0]]
        arrays["cell"] = cell, cell.nbytes
        for array, nbytes in arrays.values():
            library.counting_array(ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(nbytes))
        phases = [name for strategy in self.traits.strategies for name in PHASES[strategy.name]]
        for name in phases:
            library.counting_phase(name.encode())
        records = super().iterate()
        CountingEngine.moved = {
            (phase, name): result
            for p, phase in enumerate(phases)
            for a, name in enumerate(arrays)
            if any(result := self._result(library, p, a))
        }
        CountingEngine.strategies = [strategy.name for strategy in self.traits.strategies]
        return records

    @staticmethod
    def _result(library, phase, array):
        result = np.zeros(3, np.int64)
        library.counting_result(phase, array, ctypes.c_void_p(result.ctypes.data))
        return tuple(int(value) for value in result)


def graph_for(weighted):
    """Every vertex has in-edges, so each one is folded; none is heavy."""
    graph, n = random_graph(41, N, 2500), np.arange(N)
    tails = np.concatenate([np.repeat(n, graph.out_degree), n])
    heads = np.concatenate([graph.indices, n[::-1]])
    weights = (np.arange(tails.size) % 50 + 1).astype(np.uint32) if weighted else None
    return gpop.Graph.from_edges(tails, heads, weights, n=N)


def moved(strategy, all_active, counted):
    """Bytes that the phases of a strategy moved; adds the names of those phases to ``counted``."""
    total = 0
    for (phase, name), (read, _, distinct) in CountingEngine.moved.items():
        how = PHASES[strategy].get(phase, {}).get(name)
        if all_active and name == "indptr":
            how = STREAM
        if how is not None:
            total += distinct if how is STREAM else read
            counted.add(phase)
    return total


CASES = [
    *[
        (cls, "sc", "push")
        for cls in (Heard, Weighted, Live, Everywhere, Short, Lowest, Sums, SumsEverywhere)
    ],
    *[(cls, "sc", "push-lines") for cls in (Heard, Weighted, Everywhere, Sums)],
    *[(cls, "sc", "levels") for cls in (Live, LiveWeighted)],
    *[(cls, "edge-list", "edge-list") for cls in (Heard, Weighted, Live, Everywhere, Sums)],
    *[
        (cls, name, name)
        for name in (
            "vertex-push",
            "vertex-push-warp",
            "struct-edge-list",
            "reverse-edge-list",
            "reverse-struct-edge-list",
            "vertex-pull",
            "vertex-pull-warp",
        )
        for cls in (Weighted, Live, Everywhere, Sums)
        if name not in ("vertex-pull", "vertex-pull-warp") or cls is not Live
    ],
    *[(cls, "hyb", "hyb") for cls in (Weighted, LowestWeighted, Sums, SumsEverywhere)],
    *[(cls, "pull", "owner") for cls in (Heard, Weighted, Everywhere, Sums)],
    *[(cls, "pull", "rows") for cls in (SumsEverywhere, LowestEverywhere)],
    *[(cls, "pc", "bins") for cls in (Heard, Harmless, Weighted, Everywhere, Short)],
    *[
        (cls, "pc", name)
        for name in ("bins-combined", "bins-folded")
        for cls in (Lowest, LowestWeighted, Sums, SumsEverywhere)
    ],
]


QUICK = {Weighted, LowestWeighted, LiveWeighted, LowestEverywhere}
"""Each strategy, with weights where it can have some."""


@pytest.mark.parametrize(
    "cls, mode, strategy",
    [case if case[0] in QUICK else pytest.param(*case, marks=pytest.mark.slow) for case in CASES],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_predicted_bytes_are_moved(cls, mode, strategy, monkeypatch):
    graph = graph_for(cls.applyWeight is not gpop.Program.applyWeight)
    streamed = (
        {"residency": "stream", "device_memory": "1MB"} if strategy in ("bins-folded", "push-lines") else {}
    )
    # A run without messages is not folded.
    every_vertex = cls.all_active or strategy in ("bins-combined", "bins-folded")
    frontier = None if every_vertex else np.arange(0, graph.n, 3)
    monkeypatch.setattr(again, "RestingEngine", CountingEngine)
    only_pages(monkeypatch)
    with emulated(CountingModule), never_alone() if strategy == "push" else nullcontext():
        run = gpop.run(
            cls(graph), frontier, iterations=1, mode=mode, target="gpu", ratio=1.0, partition_size=SIZE,
            **streamed,
        )  # fmt: skip
    assert CountingEngine.strategies == (
        ["push", "levels"] if issubclass(cls, Live) and mode == "sc" else [strategy]
    )
    counted: set[str] = set()
    total = moved(strategy, cls.all_active, counted)
    # Of offsets that are read as a stream there is one more than vertices.
    walked = PHASES[strategy].values()
    offsets = 8 if ASKED in walked or (PUSHED in walked and cls.all_active) else 0
    assert counted == set(PHASES[strategy]) - ({"scatter_list"} if cls is Live else set())
    assert total - offsets == run.trace[0]["bytes"], CountingEngine.moved


def with_silent() -> tuple[gpop.Graph, np.ndarray]:
    """A graph, and those of its vertices that no edge leads to or from."""
    graph, silent = graph_for(False), np.arange(N) < N // 3
    tails = np.repeat(np.arange(N), graph.out_degree)
    edges = ~silent[tails] & ~silent[graph.indices]
    return gpop.Graph.from_edges(tails[edges], graph.indices[edges], n=N), silent


@pytest.mark.parametrize("cls", [Needy, pytest.param(NeedyLive, marks=pytest.mark.slow)])
def test_predicted_bytes_of_asking_are_moved(cls, monkeypatch):
    """By all that want messages, of a frontier without edges: so every in-edge is looked at, in vain."""
    graph, silent = with_silent()
    program = cls(graph)
    program.low = ~silent
    monkeypatch.setattr(again, "RestingEngine", CountingEngine)
    with emulated(CountingModule), asking():
        run = gpop.run(
            program, np.flatnonzero(silent), iterations=1, target="gpu", ratio=1.0, partition_size=SIZE
        )
    assert moved("bottom-up", False, set()) - 8 == run.trace[0]["bytes"], CountingEngine.moved
    assert run.trace[0]["active_edges"] == 0


def test_who_has_no_in_edges_does_not_look_for_them(monkeypatch):
    """They want messages like all others; a bit says that there is nobody to ask."""
    graph, silent = with_silent()
    program = Needy(graph)
    program.low = 1
    monkeypatch.setattr(again, "RestingEngine", CountingEngine)
    with emulated(CountingModule), asking():
        gpop.run(program, np.flatnonzero(silent), iterations=1, target="gpu", ratio=1.0, partition_size=SIZE)
    asking_ones = np.flatnonzero(graph.reverse().out_degree)
    offsets = np.union1d(asking_ones, asking_ones + 1)
    assert CountingEngine.moved["BottomUp::gather", "in_indptr"][2] == 8 * len(offsets) < 8 * graph.n


def test_every_strategy_is_counted():
    ours = {strategy.name for strategy in STRATEGIES if strategy.target == "gpu"}
    assert {strategy for _, _, strategy in CASES} | {"bottom-up"} == ours == set(PHASES)

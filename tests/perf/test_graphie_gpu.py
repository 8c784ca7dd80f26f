"""Graphie's runtime on the emulator, and on a device where there is one."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse as scipy_sparse
from scipy.sparse import csgraph

from perf import graphie_gpu
from perf.graphie import cut, rename_for_memory, rename_for_partitions
from perf.graphie_gpu import FAR, Runtime
from tests.gpu.emulator import WARP, emulated
from tests.programs import random_graph
from tests.quick import quick

PLACES = [pytest.param("emulator"), pytest.param("device", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("app", quick(["bfs", "sssp", "cc"], "sssp"))
def test_answers_and_transfers(app, place, monkeypatch):
    graph = random_graph(8, 300, 1200, weights=True).symmetrize()
    lengths = scipy_sparse.csr_array((graph.weights.astype(float), graph.indices, graph.indptr))
    renamed = rename_for_memory(graph)
    source, transfers, active = 3, {}, {}
    start = int(np.flatnonzero(renamed.new_to_old == source)[0])
    if place == "emulator":
        monkeypatch.setattr(graphie_gpu, "BLOCK", WARP)
        monkeypatch.setattr(graphie_gpu, "OPTIONS", ())
    for size, streams in ((10, 1), (100, 4), (10**6, 2)):
        parts = cut(renamed, size)
        ids = rename_for_partitions(renamed, parts)
        with emulated() if place == "emulator" else nullcontext():
            runtime = Runtime(renamed, parts, ids, streams)
            for options in ({}, {"reuse": False}, {"only_active": False}):
                found = runtime.run(app, start, **options)
                transfers[size, *options] = sum(found.transferred)
                active[size, *options] = sum(found.active)
                assert all(
                    sent <= active for sent, active in zip(found.transferred, found.active, strict=True)
                )
                values = np.empty(graph.n, np.int64)
                values[renamed.new_to_old] = found.values
                if app == "cc":
                    _, wanted = csgraph.connected_components(lengths, directed=False)
                    pairs = {*zip(values.tolist(), wanted.tolist(), strict=True)}
                    assert len(pairs) == len({*values.tolist()}) == len({*wanted.tolist()})
                else:
                    wanted = csgraph.dijkstra(lengths, indices=source, unweighted=app == "bfs")
                    reached = values < FAR
                    assert np.array_equal(reached, np.isfinite(wanted))
                    assert np.array_equal(values[reached], wanted[reached])
    assert transfers[10**6,] == 1  # what fits is transferred once
    assert 0 < transfers[100,] < active[100,]
    assert transfers[100, "reuse"] == active[100, "reuse"]

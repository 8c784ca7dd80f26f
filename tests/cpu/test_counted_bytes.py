"""Bytes as the model says are those of the accesses that are counted, and decide the mode of a partition."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.model.bytes import CURSOR_BYTES, PROBE_BYTES, Sizes, pc_bytes, sc_bytes
from gpop.model.choosers import prefers_pc
from gpop.model.models import MODEL_NAMES, model_of
from tests.counted import BITS, RMAT, Expected, count, mostly_inside, smallest
from tests.programs import Distance, random_graph
from tests.quick import quick


def sizes_of(graph, value, weighted=False):
    narrow = 0 if not weighted else (1 if graph.weights.max() < 256 else 4)
    return Sizes(
        offset=8, edge=4 + narrow, id=2, source=2, value=value, weight=narrow,
        probe=PROBE_BYTES, cursor=CURSOR_BYTES,
    )  # fmt: skip


def programs():
    weighted = random_graph(3, 400, 3000, weights=True)

    def distances():
        program = Distance(weighted)
        program.distance[:20] = 0
        return program

    return {"unweighted": (smallest, sizes_of(RMAT, 4)), "weighted": (distances, sizes_of(weighted, 8, True))}


@pytest.mark.parametrize("name", quick(["unweighted", "weighted"], "weighted"))
def test_partition_centric_bytes(name):
    """Every access that the model counts happened, to the byte, over a whole run."""
    make, sizes = programs()[name]
    run = count(make(), mode="pc")
    counters, k = run.counters, run.partitions
    accessed = (
        run.trace.column("partitions_pc").sum() * k * sizes.offset
        + counters["messages_pc"] * (sizes.source + sizes.value)  # scatter: read a source, write a value
        + counters["messages_gathered"] * sizes.value
        + counters["ids_gathered"] * (sizes.id + sizes.weight)
    )
    assert run.iterations > 2
    assert run.trace.column("bytes").sum() == accessed
    written = counters["messages_pc"] * sizes.value
    assert written == run.trace.column("messages").sum() * sizes.value  # values only, no ids


@pytest.mark.parametrize("name", ["unweighted", "weighted"])
def test_source_centric_bytes(name):
    """With every vertex active the approximation r*E_a is exact, and so are the bytes."""
    make, sizes = programs()[name]
    program = make()
    run = count(program, mode="sc", iterations=1)
    counters = run.counters
    accessed = (
        program.graph.n * sizes.offset
        + counters["edges_scattered"] * (sizes.edge + sizes.id + sizes.weight)
        + counters["messages_sc"] * sizes.value
        + counters["messages_gathered"] * sizes.value
        + counters["ids_gathered"] * (sizes.id + sizes.weight)
    )
    assert run.trace[0]["bytes"] == accessed
    expected = Expected(program.graph, np.arange(program.graph.n))
    assert accessed == sc_bytes(program.graph.n, expected.edges, expected.messages, sizes)


class Model:
    """The decision of every partition, computed from the graph."""

    def __init__(self, frontier, ratio, mode="auto", model="engine"):
        sizes = model_of(model).sizes(sizes_of(RMAT, 4))
        self.modes, self.bytes = [], 0.0
        for p in np.unique(np.asarray(frontier) >> BITS):
            active = np.unique([v for v in frontier if v >> BITS == p])
            edges = int(RMAT.out_degree[active].sum())
            row = Expected(RMAT, np.array([p << BITS]))
            arguments = (active.size, edges, row.all_edges, row.all_messages, row.k)
            dense = mode == "pc" or (mode == "auto" and prefers_pc(*arguments, sizes, ratio))
            self.modes.append(dense)
            if dense:
                self.bytes += pc_bytes(row.all_edges, row.all_messages, row.k, sizes)
            else:
                approximate = edges * row.all_messages / max(row.all_edges, 1)
                self.bytes += sc_bytes(active.size, edges, approximate, sizes)


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_the_model_decides_for_every_partition(name):
    """Partitions in each mode, and predicted bytes, by the formula; more PC with a larger ratio."""
    frontier = np.unique(np.random.default_rng(2).choice(1024, 330, replace=False))
    chosen = []
    for ratio in (0.0, 0.3, 0.8, 1.0, 1.3, 2.0, 3.0, 5.0, 1e9, np.inf):
        run = count(smallest(), frontier, iterations=1, ratio=ratio, model=name)
        model = Model(frontier.tolist(), ratio, model=name)
        assert run.trace[0]["partitions_pc"] == sum(model.modes), ratio
        assert run.trace[0]["partitions_sc"] == len(model.modes) - sum(model.modes), ratio
        assert run.trace[0]["bytes"] == pytest.approx(model.bytes, abs=1), ratio
        chosen.append(sum(model.modes))
    assert chosen == sorted(chosen)
    assert chosen[0] == 0
    assert (
        chosen[-1] == chosen[-2] == sum(RMAT.out_degree[p << BITS : (p + 1) << BITS].any() for p in range(32))
    )
    assert any(0 < number < 32 for number in chosen[1:-2])


@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_predicted_bytes_of_a_forced_mode(mode):
    frontier = np.random.default_rng(3).choice(1024, 40, replace=False)
    run = count(smallest(), frontier, mode=mode, iterations=1)
    assert run.trace[0]["bytes"] == pytest.approx(Model(frontier.tolist(), 2.0, mode).bytes, abs=1)


def test_the_model_knows_that_edges_inside_a_local_partition_need_no_bins():
    """Vertices with 6 edges in their partition and 2 to others: the choice, and the bytes, by the formula."""
    graph, rng = mostly_inside(), np.random.default_rng(8)
    frontier = np.unique(rng.choice(1024, 200, replace=False))
    sizes, differs = sizes_of(graph, 4), False
    for ratio in (0.5, 1.0, 1.5, 2.0, 3.0):
        dense, moved = 0, 0.0
        for p in np.unique(frontier >> BITS):
            heads = graph.indices[graph.indptr[p << BITS] : graph.indptr[(p + 1) << BITS]] >> BITS
            row = Expected(graph, np.array([p << BITS]))
            own = int((heads == p).sum())
            active = frontier[frontier >> BITS == p]
            edges = int(graph.out_degree[active].sum())
            counts = (active.size, edges, row.all_edges, row.all_messages, row.k, sizes, ratio)
            # Of each vertex, one message goes to its own partition.
            direct = prefers_pc(*counts, own, 1 << BITS)
            differs |= direct != prefers_pc(*counts)
            dense += direct
            share = edges / row.all_edges
            moved += (
                pc_bytes(row.all_edges, row.all_messages, row.k, sizes)
                if direct
                else sc_bytes(active.size, edges, share * (row.all_messages - 32), sizes, share * own)
            )
        run = count(smallest(graph), frontier, iterations=1, ratio=ratio)
        assert run.trace[0]["partitions_pc"] == dense, ratio
        assert run.trace[0]["bytes"] == pytest.approx(moved, abs=1), ratio
    assert differs

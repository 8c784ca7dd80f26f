"""Graphie's renamings: the paper's example to the last id, and what holds on any graph."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as scipy_sparse
from scipy.sparse import csgraph

import gpop
from perf.graphie import Ids, cut, rename_for_memory, rename_for_partitions
from perf.graphie_traffic import FAR, run, table
from tests.programs import random_graph
from tests.quick import quick

# Figures 2 and 3 of the paper.
TAILS = [0, 0, 0, 6, 1, 1, 7, 6, 5, 2, 6, 7, 7, 0, 6, 7]
HEADS = [1, 2, 3, 2, 4, 0, 2, 0, 1, 3, 3, 6, 4, 6, 4, 5]


def example():
    renamed = rename_for_memory(gpop.Graph.from_edges(TAILS, HEADS, n=8))
    parts = cut(renamed, 4)
    return renamed, parts, rename_for_partitions(renamed, parts)


def test_the_example_of_the_paper():
    renamed, parts, ids = example()
    assert renamed.new_to_old.tolist() == [0, 1, 2, 5, 6, 7, 3, 4]
    lists = [part.tolist() for part in np.split(renamed.heads, renamed.indptr[1:-1])]
    assert lists == [[1, 2, 4, 6], [0, 7], [6], [1], [0, 2, 6, 7], [2, 3, 4, 7]]
    assert parts.of_source.tolist() == [0, 1, 1, 1, 2, 3]
    assert ids.most == 3
    assert ids.before.tolist() == [0, 2, 2, 4, 6]
    assert ids.ids.tolist() == [0, 3, 4, 5, 6, 9, 12, 13]
    written = ids.ids[[1]]  # what edge (5, 3) of the figure writes to
    assert (written - ids.offset(written)).tolist() == [1]
    assert ids.partition(written).tolist() == [1]


def test_the_papers_own_test_for_sources_fails_here():
    """``id < OV``: the vertices with ids 6 and 9 are sources, OV is 6, and both would be misplaced."""
    renamed, _, ids = example()
    late = np.array([6, 9])
    assert ids.partition(late).tolist() == [2, 3]
    assert (late - ids.offset(late)).tolist() == [4, 5]
    published = np.where(late < renamed.sources, ids.offset(late), ids.before[-1])
    assert (late - published).tolist() == [0, 3]


GRAPHS = {
    "random": random_graph(5, 300, 2000),
    "hub": gpop.Graph.from_edges(np.zeros(500, int), np.arange(500), n=500),
    "hub among others": gpop.Graph.from_edges(
        np.append(np.full(200, 7), np.arange(40)), np.append(np.arange(200), np.arange(40) + 1), n=200
    ),
    "no edges": gpop.Graph.from_edges([], [], n=5),
    "one way": gpop.Graph.from_edges([1, 3, 5], [0, 2, 4], n=6),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("size", [1, 16, 100])
def test_ids_lead_to_vertices_and_partitions(name, size):
    graph = GRAPHS[name]
    renamed = rename_for_memory(graph)
    parts = cut(renamed, size)
    ids: Ids = rename_for_partitions(renamed, parts)
    assert sorted(renamed.new_to_old.tolist()) == list(range(graph.n))
    assert len(np.unique(ids.ids)) == graph.n
    assert (ids.ids - ids.offset(ids.ids)).tolist() == list(range(graph.n))
    assert ids.partition(ids.ids)[: renamed.sources].tolist() == parts.of_source.tolist()
    assert np.all(ids.partition(ids.ids)[renamed.sources :] == -1)
    assert parts.first[-1] == graph.m
    assert np.all(np.diff(parts.first) <= size)
    # Every edge lies in its source's partition, or in one that continues it.
    of_edge = np.searchsorted(parts.first, np.arange(graph.m), side="right") - 1
    source = np.repeat(np.arange(renamed.sources), np.diff(renamed.indptr))
    begins = parts.of_source[source]
    assert np.all((of_edge >= begins) & (of_edge <= begins + parts.continued[begins]))


def test_ids_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("perf.graphie.MOST_ID", 12)
    with pytest.raises(gpop.UsageError, match="ids beyond 12"):
        example()


@pytest.mark.parametrize("app", quick(["bfs", "sssp", "cc"], "bfs"))
def test_every_way_gives_the_answers_of_scipy(app):
    graph = random_graph(8, 400, 1500, weights=True).symmetrize()
    renamed = rename_for_memory(graph)
    source = 3
    start = int(np.flatnonzero(renamed.new_to_old == source)[0])
    lengths = scipy_sparse.csr_array((graph.weights.astype(float), graph.indices, graph.indptr))
    if app == "cc":
        _, wanted = csgraph.connected_components(lengths, directed=False)
    else:
        wanted = csgraph.dijkstra(lengths, indices=source, unweighted=app == "bfs")
    moved = {}
    for size in (20, 10**6):
        parts = cut(renamed, size)
        for name, options in (("both", {}), ("OPT1", {"reuse": False}), ("all", {"only_active": False})):
            found = run(renamed, parts, app, start, 4, **options)
            moved[size, name] = found
            assert 0 < found.fresh <= found.processed >= found.edges
            assert all(sent <= active for sent, active in zip(found.transferred, found.active, strict=True))
            values = np.empty(graph.n, np.int64)
            values[renamed.new_to_old] = found.values
            if app == "cc":
                pairs = {*zip(values.tolist(), wanted.tolist(), strict=True)}
                assert len(pairs) == len({*values.tolist()}) == len({*wanted.tolist()})
            else:
                reached = values < FAR
                assert np.array_equal(values[reached], wanted[reached])
                assert np.array_equal(reached, np.isfinite(wanted))
    assert sum(moved[20, "both"].transferred) < sum(moved[20, "OPT1"].transferred)
    assert sum(moved[20, "both"].active) <= sum(moved[20, "all"].active)
    assert sum(moved[10**6, "both"].transferred) == 1  # what fits is transferred once
    parts = cut(renamed, 20)
    in_memory = run(renamed, parts, app, start, parts.count)
    assert np.array_equal(in_memory.values, moved[20, "both"].values)
    bulk = run(renamed, parts, app, start, 4, bulk=True)
    assert np.array_equal(bulk.values, in_memory.values)
    assert bulk.steps >= in_memory.steps
    if app == "bfs":  # a level per step, and one in which nothing is new
        assert bulk.steps == 1 + int(wanted[np.isfinite(wanted)].max())
        assert bulk.fresh == graph.out_degree[np.isfinite(wanted)].sum()
    assert parts.count / 2 < sum(in_memory.transferred) <= parts.count


def test_the_table_has_every_step_and_what_is_saved():
    lines = table(random_graph(8, 400, 1500).symmetrize(), ["bfs"], 0.25)
    assert not [line for line in lines if "WRONG" in line]
    rows = {line[2:14].strip(): line[14:].split() for line in lines if not line.startswith("bfs")}
    of_steps = [line for line in lines if ", active " in line or ", transferred " in line]
    steps = {line[:26].strip(): [int(each) for each in line[26:].split()] for line in of_steps}
    for name in ("both", "in memory"):
        active, sent = (steps[f"{name}, {which}"] for which in ("active", "transferred"))
        assert [len(active), sum(active), sum(sent)] == [int(each) for each in rows[name][:3]]
        assert all(few <= many for few, many in zip(sent, active, strict=True))
    less = {line.split()[0]: int(line.split()[2]) for line in lines if " of the bytes " in line}
    everything = float(rows["everything"][3])
    for name, percent in less.items():
        assert percent == pytest.approx(100 * (1 - float(rows[name][3]) / everything), abs=1)
    said = [line.split("paper: ")[1].split(" of")[0] for line in lines if "paper" in line]
    assert said == ["22-27 %", "28-38 %", "61 %"]

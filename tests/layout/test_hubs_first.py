"""Hubs first: which graphs, and that runs over such blocks are right, repeatable and always the same way."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.common.parallel import worker_count
from gpop.cpu import layouts, preparation, trying
from gpop.cpu.sums import SUM_BYTES
from gpop.generate import generate
from gpop.graph.kept import Kind
from gpop.layout import edge_blocks, hubs_first
from gpop.layout.edge_block_kernels import FIRST, FOURS, SOURCE, WINDOW
from gpop.layout.edge_block_plan import plan_blocks


@pytest.fixture
def built(monkeypatch):
    """Blocks that are built."""
    found, build = [], edge_blocks.build_blocks

    def noting(*arguments):
        found.append(build(*arguments))
        return found[-1]

    monkeypatch.setattr(edge_blocks, "build_blocks", noting)
    return found


@pytest.fixture
def hubs(monkeypatch):
    """A graph on which hubs go first, in several source blocks, windows and units."""
    monkeypatch.setattr(preparation, "has_hub", lambda graph: True)
    monkeypatch.setattr(edge_blocks, "SMALL_EDGES", 0)
    monkeypatch.setattr(edge_blocks, "WIDEST_HUBS_FIRST", 7)
    monkeypatch.setattr(edge_blocks, "l2_cache_bytes", lambda: 1 << 12)
    graph = generate("rmat", scale=10, degree=8, seed=4, weights=(1, 9), permute=True)
    graph.facts.hubs_first = True
    return graph


@pytest.mark.parametrize("symmetric", [True, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_ranks_are_those_of_messages(hubs, built, weighted, symmetric, monkeypatch):
    """Slots go by a sample of the in-edges where nobody knows that they are the out-edges."""
    monkeypatch.setattr(hubs_first, "EACH", 1)
    hubs.facts.symmetric = symmetric  # which here it is not: any slots are right
    expected = gpop.pagerank(hubs, iterations=8, mode="pc", weighted=weighted)
    found = [gpop.pagerank(hubs, iterations=8, weighted=weighted, threads=threads) for threads in (1, 2, 3)]
    np.testing.assert_allclose(found[0].rank, expected.rank, rtol=2e-7)
    assert len({each.rank.tobytes() for each in found}) == 1
    assert found[0].run.mode == "pull" and expected.run.mode == "pc"
    layout = built[-1]
    assert layout.place.size and min(len(set(layout.blocks[:, column])) for column in (SOURCE, WINDOW)) > 2


def test_until_it_has_converged_and_from_some_vertices(hubs):
    for call in (
        lambda **options: gpop.pagerank(hubs, tolerance=1e-4, **options),
        lambda **options: gpop.personalized_pagerank(hubs, seeds=[3, 5], **options),
    ):
        expected, found = call(mode="pc"), call()
        assert found.run.mode == "pull" and found.iterations == expected.iterations
        np.testing.assert_allclose(found.rank, expected.rank, rtol=1e-6, atol=1e-12)


def test_the_first_call_has_them_and_no_call_tries_messages(hubs, monkeypatch):
    """Else the last digits of a later one might be others."""
    monkeypatch.setattr(trying, "is_shipped", lambda: False)
    monkeypatch.setattr(edge_blocks.Plan, "gain", lambda plan, threads, costs: -1.0)
    runs = [gpop.pagerank(hubs, iterations=1).run for _ in range(3)]
    in_order = (hubs, worker_count(), SUM_BYTES, 4, None)
    edge_blocks.blocks_of(*in_order, weighted=False, forced=True)  # for some other program
    assert edge_blocks.plan_of(*in_order) is not None
    hubs.drop("workspace")  # with what was decided
    runs += [gpop.pagerank(hubs, iterations=30).run for _ in range(30)]
    assert {run.mode for run in runs} == {"pull"}
    assert not hubs.store.get(Kind.TIMES)


def test_who_minds_the_order_has_that_of_ids(hubs, built):
    """Ranks in float64 are added up as they come; who says how wide partitions are has those."""
    for options in ({"dtype": np.float64}, {"partition_size": 64}):
        expected = gpop.pagerank(hubs, iterations=8, mode="pc", **options)
        found = gpop.pagerank(hubs, iterations=8, mode="pull", **options)
        assert found.rank.tobytes() == expected.rank.tobytes()
        assert built and not any(layout.place.size for layout in built), options


def test_every_edge_once_in_the_order_of_groups(hubs):
    old = hubs_first.hubs_first(hubs.out_degree)
    layout = edge_blocks.build_blocks(hubs, plan_blocks(hubs, 7, 6, hubs.m // 5, 2, old=old), 2)
    windows = np.unique(layout.blocks[:, WINDOW])
    window_of = windows[np.searchsorted(windows, np.arange(hubs.n), side="right") - 1]
    vertex = {int(window_of[v]) + int(layout.slot[v]): v for v in range(hubs.n)}
    assert len(vertex) == hubs.n
    found = []
    for row in layout.blocks:
        piece = at = row[FIRST]
        for number, length in zip(row[FOURS:], (4, 2, 1), strict=True):
            for _ in range(number):
                target = vertex[int(row[WINDOW]) + int(layout.targets[piece])]
                for edge in range(at, at + length):
                    found.append((target, int(row[SOURCE] + layout.refs[edge]), int(layout.weights[edge])))
                at, piece = at + length, piece + 1
    sources = layout.place[np.repeat(np.arange(hubs.n), np.diff(hubs.indptr))]
    expected = zip(hubs.indices.tolist(), sources.tolist(), hubs.weights.tolist(), strict=True)
    assert sorted(found) == sorted(expected)
    in_order = sorted(found, key=lambda each: each[0])  # stable: as they come
    assert [each[:2] for each in in_order] == sorted(each[:2] for each in found)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [({"kind": "rmat"}, True), ({"kind": "rmat", "permute": True}, True), ({"kind": "uniform"}, False)],
)
def test_where_hubs_read_less(kind, expected, monkeypatch):
    graph = generate(**kind, scale=17, degree=8, seed=3)
    assert hubs_first.go_first(graph) is expected
    monkeypatch.setattr(hubs_first, "_read_less", None)
    assert hubs_first.go_first(graph) is expected  # known
    small = generate("rmat", scale=16, degree=8, seed=3)
    assert not hubs_first.go_first(small)


def test_what_is_on_disk_is_in_the_order_of_ids(hubs, tmp_path, monkeypatch):
    monkeypatch.setattr(layouts, "go_first", lambda graph: pytest.fail("asked"))
    hubs.save(tmp_path / "hubs.mapped")
    opened = gpop.load(tmp_path / "hubs.mapped")
    opened.facts.hubs_first = True
    assert gpop.pagerank(opened, iterations=2, mode="pull").run.mode == "pull"
    with pytest.raises(pytest.fail.Exception):
        gpop.pagerank(hubs, iterations=2)

"""Pull: the same results as the other modes, from as few in-edges as needed, chosen where it pays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop
from gpop.apps.bfs import BFS, verify
from gpop.cpu import choose_mode, layouts
from gpop.generate import generate
from gpop.graph.kept import Kind
from gpop.layout.in_edges import kept_in_edges
from gpop.model.bytes import CURSOR_BYTES, PROBE_BYTES, Sizes, edges_looked_at, pull_bytes
from gpop.model.choosers import AUTO, AUTO_PUSH
from gpop.model.strategies import PC, PULL, SC
from tests.conftest import SEED
from tests.programs import Colours, Drift, Rank, interpret, random_graph

MODES = [{"mode": "sc"}, {"mode": "pc"}, {"mode": "auto"}, {"ratio": 1e9}, {"mode": "pull"}]
SOCIAL = generate("rmat", scale=11, seed=5).symmetrize()


@st.composite
def cases(draw):
    n = draw(st.integers(1, 70))
    vertices = st.integers(0, n - 1)
    tails, heads = np.array(
        draw(st.lists(st.tuples(vertices, vertices), max_size=200)), np.int64
    ).reshape(-1, 2).T  # fmt: skip
    masks = draw(st.lists(st.integers(0, 15), min_size=n, max_size=n))
    return gpop.Graph.from_edges(tails, heads, n=n), draw(st.lists(vertices, max_size=n)), masks


@pytest.mark.slow
@settings(max_examples=60)
@given(case=cases(), size=st.sampled_from([1, 4, 64]), iterations=st.sampled_from([1, 2, 100]))
def test_all_modes_agree(case, size, iterations):
    graph, frontier, masks = case
    expected = Colours(graph)
    expected.mask = masks
    wanted = interpret(expected, frontier, iterations)
    for options in MODES:
        program = Colours(graph)
        program.mask = masks
        run = gpop.run(program, frontier, iterations=iterations, partition_size=size, threads=2, **options)
        assert np.array_equal(program.mask, expected.mask), options
        assert sorted(run.frontier.tolist()) == sorted(wanted["frontier"]), options
        assert run.iterations == wanted["iterations"], options


def searched(graph, source, **options):
    program = BFS(graph)
    program.parent[source], program.level[source] = source, 0
    return program, gpop.run(program, [source], **options)


@pytest.mark.parametrize("partition_size", [1, 8, 32, 64, 512])
def test_partitions_that_share_words_of_the_bitmap(partition_size):
    """On a team of threads, each word is written by one."""
    expected, _ = searched(SOCIAL, 1, mode="sc", threads=1)
    for threads in (1, 4, 4, 4):
        program, run = searched(SOCIAL, 1, mode="pull", threads=threads, partition_size=partition_size)
        assert np.array_equal(program.level, expected.level)
        assert run.trace.column("partitions_sc").sum() == run.trace.column("partitions_pc").sum() == 0


@pytest.mark.slow
def test_messages_come_in_ascending_order_of_their_sources():
    """Like in PC, so that sums of floats have the same last bits."""
    for make, frontier, iterations in ((Rank, None, 3), (Drift, np.arange(0, 500, 3), 3)):
        results = []
        for mode in ("pc", "pull"):
            program = make(random_graph(3, 500, 9000))
            for name in ("rank", "mass"):
                program._fields.get(name, np.empty(0))[:] = 1
            gpop.run(program, frontier, iterations=iterations, mode=mode, partition_size=64, threads=2)
            results.append([array.tobytes() for array in program._fields.values()])
        assert results[0] == results[1]


def test_a_vertex_looks_no_further_than_its_first_parent():
    # 0 -> 1..100 -> 101, and 101 -> 102
    graph = gpop.Graph.from_edges([0] * 100 + [*range(1, 101), 101], [*range(1, 101), *[101] * 100, 102])
    program, run = searched(graph, 0, mode="pull", partition_size=64, counters=True)
    assert program.level.tolist() == [0] + [1] * 100 + [2, 3]
    assert run.counters["messages_pulled"] == 102
    #  1..100 look at 1 edge each, 101 at 100 inactive ones and at 102's one; then 1 + 1; then 1; then none
    assert run.counters["edges_pulled"] == (100 + 100 + 1) + (1 + 1) + 1
    assert run.trace.column("messages").tolist() == [100, 1, 1, 0]
    assert run.trace.column("partitions_pull").tolist() == [2, 1, 1, 0]


def test_auto_pulls_where_much_is_active():
    program, run = searched(SOCIAL, 1)
    pulled = run.trace.column("partitions_pull")
    pushed = run.trace.column("partitions_sc") + run.trace.column("partitions_pc")
    assert pushed[0] == 1
    assert pulled[0] == 0
    assert pulled.max() > 0
    assert not np.any(pulled * pushed)
    levels, _ = searched(SOCIAL, 1, mode="pc")
    assert np.array_equal(program.level, levels.level)


@pytest.mark.parametrize("far", [False, True])
def test_vertices_that_are_far_apart_are_asked_for_sooner(far):
    """One in 25 is active, with an edge into its partition or anywhere; others, not seen, have more."""
    n, active = 1 << 14, np.arange(1, 1 << 14, 25)
    others = 1 + (np.random.default_rng(SEED).permutation(active) if far else active)
    tails = np.concatenate([np.zeros_like(active), active, np.repeat(active + 2, 16)])
    graph = gpop.Graph.from_edges(tails, np.concatenate([active, others, np.repeat(others, 16)]), n=n)
    _, run = searched(graph, 0, partition_size=512, ratio=2.0)
    assert run.trace.column("frontier").tolist() == [1, active.size, active.size]
    assert run.trace.column("partitions_pull")[1] == (32 if far else 0)


@pytest.mark.parametrize("mode, ratio", [("pull", 2.0), ("auto", 2.0), ("auto", 4.0), ("auto", 1e9)])
def test_the_estimate_of_needy_vertices(mode, ratio):
    """All that were never in the frontier, and after a pull those that want messages still: by the bytes."""
    into = SOCIAL.reverse()
    degrees = into.out_degree.astype(np.int64)
    program, run = searched(SOCIAL, 1, mode=mode, ratio=ratio)
    sizes = Sizes(offset=8, edge=4, id=2, source=2, value=4, weight=0, probe=PROBE_BYTES, cursor=CURSOR_BYTES)
    needy, needy_edges, pulls, pulled = np.count_nonzero(degrees), SOCIAL.m, 0, False
    for record in run.trace:
        if not pulled:
            needy, needy_edges = needy - record["frontier"], needy_edges - record["active_edges"]
        pulled = record["partitions_pull"] > 0
        if pulled:
            looked_at = edges_looked_at(record["active_edges"], needy, needy_edges)
            expected = pull_bytes(SOCIAL.n, record["frontier"], looked_at, sizes)
            assert record["bytes"] == pytest.approx(expected, abs=1), record
            left = ((program.level < 0) | (program.level > record["iteration"] + 1)) & (degrees > 0)
            needy, needy_edges = int(left.sum()), int(degrees[left].sum())
            pulls += 1
    assert pulls > 1


def test_in_edges_are_found_when_wanted():
    both_ways = gpop.Graph(SOCIAL.indptr, SOCIAL.indices)
    searched(both_ways, 1, mode="sc")
    searched(both_ways, 1, iterations=1)
    assert kept_in_edges(both_ways, False).indices.size == 0
    first, again = (searched(both_ways, 1)[1].prepare_seconds for _ in range(2))
    assert first > again == 0
    assert kept_in_edges(both_ways, False).indices is SOCIAL.indices
    assert not both_ways.store.has(Kind.REVERSE)

    one_way = random_graph(4, 400, 8000)
    program, run = searched(one_way, 0)
    assert run.trace.column("partitions_pull").max() > 0
    assert kept_in_edges(one_way, False).indices is one_way.reverse().indices
    result = gpop.bfs(one_way, 0)
    assert np.array_equal(result.level, program.level)
    assert verify(one_way, result, 0) is None


def test_without_memory_for_in_edges(monkeypatch):
    def refuse(graph, weighted):
        raise gpop.NotEnoughMemory("in-edges need 1 GB")

    graph = gpop.Graph(SOCIAL.indptr, SOCIAL.indices)
    monkeypatch.setattr(layouts, "in_edges", refuse)
    program, run = searched(graph, 1)
    assert run.trace.column("partitions_pull").sum() == 0
    assert np.array_equal(program.level, searched(SOCIAL, 1, mode="sc")[0].level)
    with pytest.raises(gpop.NotEnoughMemory):
        searched(graph, 1, mode="pull")


def test_a_callback_sees_every_iteration_once():
    records = []
    _, run = searched(gpop.Graph(SOCIAL.indptr, SOCIAL.indices), 1, callback=records.append)
    assert [record["iteration"] for record in records] == list(range(run.iterations))


@pytest.mark.slow
def test_the_workspace_is_left_clean():
    """Runs on a graph share it: a dense program first, then one with a frontier."""
    graph = random_graph(7, 80, 400)
    gpop.run(Rank(graph), iterations=2, mode="pull", partition_size=8)
    for mode in ("pull", "sc"):
        program, expected = Colours(graph), Colours(graph)
        program.mask[3], expected.mask[3] = 5, 5
        gpop.run(program, [3], mode=mode, partition_size=8, iterations=2)
        interpret(expected, [3], 2)
        assert np.array_equal(program.mask, expected.mask)


def test_nothing_is_interleaved_where_nothing_is_sent():
    graph = random_graph(6, 60, 300)
    program, expected = Colours(graph), Colours(graph)
    program.mask[:4] = expected.mask[:4] = 1, 2, 4, 8
    run = gpop.run(program, range(4), mode="pull", interleave=True)
    interpret(expected, range(4))
    assert np.array_equal(program.mask, expected.mask)
    assert not run.interleave


def test_what_a_pull_would_take_is_not_asked_where_few_are_active(monkeypatch):
    """It costs a power, in each of the thousand iterations of a road."""
    monkeypatch.setattr(choose_mode, "edges_looked_at", None)
    for forced, edges in ((AUTO, 9), (AUTO_PUSH, 999), (SC, 999), (PC, 999)):
        given = forced, 2.0, 0, 1000, 3, edges, 500, 64 * 10, None, None, None
        assert choose_mode.choose_pull(*given) == (False, 0.0)
    for forced in AUTO, PULL:
        with pytest.raises(TypeError):
            choose_mode.choose_pull(forced, 2.0, 0, 1000, 3, 10, 500, 64 * 10, None, None, None)

"""Work follows the active edges: what the engine counts is what graph and frontier make necessary."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps.sssp import SSSP
from gpop.generate import generate
from tests.counted import BITS, RMAT, Expected, count, frontiers, mostly_inside, smallest
from tests.programs import Colours, Rank, Smallest, interpret
from tests.quick import slow


@pytest.mark.parametrize("name", frontiers())
@pytest.mark.parametrize("threads", [1, 4])
def test_source_centric_touches_active_edges_only(name, threads):
    frontier = frontiers()[name]
    expected = Expected(RMAT, frontier)
    run = count(smallest(), frontier, mode="sc", iterations=1, threads=threads)
    assert run.counters == {
        "edges_scattered": expected.edges,
        "messages_sc": expected.messages,
        "messages_pc": 0,
        "ids_gathered": expected.edges,
        "messages_gathered": expected.messages,
        "bins_probed": expected.bins,
        "bins_filled": expected.bins,
        "ids_interleaved": 0,
        "vertices_scattered": np.count_nonzero(RMAT.out_degree[np.unique(frontier)]),
        "intra_edges": 0,
        "edges_pulled": 0,
        "messages_pulled": 0,
        "bucket_steps": 0,
        "waiting_read": 0,
    }
    assert run.trace[0]["messages"] == expected.messages


@pytest.mark.parametrize("name", frontiers())
@pytest.mark.parametrize("threads", [1, 4])
def test_messages_that_need_no_bin_are_counted_too(name, threads):
    """Edges inside a local partition are delivered at once: messages, but no ids and no bins."""
    graph, frontier = mostly_inside(), frontiers()[name]
    expected = Expected(graph, frontier)
    run = count(smallest(graph), frontier, mode="sc", iterations=1, threads=threads)
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    own = np.isin(tails, frontier) & (tails >> BITS == graph.indices >> BITS)
    counters = run.counters
    assert counters["edges_scattered"] == expected.edges
    assert counters["intra_edges"] == own.sum() > 0
    assert counters["ids_gathered"] == expected.edges - own.sum()
    assert counters["messages_sc"] == run.trace[0]["messages"] == expected.messages
    assert counters["messages_gathered"] == expected.messages - np.unique(tails[own]).size
    assert counters["bins_filled"] == expected.bins - np.unique(tails[own] >> BITS).size


@pytest.mark.parametrize("name", frontiers())
@pytest.mark.parametrize("threads", [1, 4])
def test_partition_centric_touches_the_rows_of_active_partitions(name, threads):
    frontier = frontiers()[name]
    expected = Expected(RMAT, frontier)
    run = count(smallest(), frontier, mode="pc", iterations=1, threads=threads)
    counters = run.counters
    assert counters["edges_scattered"] == counters["messages_sc"] == counters["intra_edges"] == 0
    assert counters["messages_pc"] == counters["messages_gathered"] == expected.all_messages
    assert counters["ids_gathered"] == expected.all_edges
    assert counters["bins_probed"] == counters["bins_filled"] == expected.all_bins


def test_one_vertex_probes_its_own_bins():
    """At most as many bins as the vertex has neighbouring partitions, not k or k*k."""
    for v in (0, 17, 200, int(np.argmax(RMAT.out_degree))):
        neighbours = RMAT.indices[RMAT.indptr[v] : RMAT.indptr[v + 1]]
        run = count(smallest(), [v], mode="sc", iterations=1)
        assert run.partitions == 32
        assert run.counters["bins_probed"] == np.unique(neighbours >> BITS).size <= RMAT.out_degree[v]


@pytest.mark.parametrize("threads", [1, 4])
def test_all_iterations_of_a_run(threads):
    program, frontier = smallest(), None
    total = dict.fromkeys(("edges", "messages", "bins"), 0)
    while frontier is None or frontier:
        expected = Expected(RMAT, np.arange(1024) if frontier is None else np.array(sorted(frontier)))
        for name in total:
            total[name] += getattr(expected, name)
        frontier = interpret(program, frontier, iterations=1)["frontier"]
    run = count(smallest(), mode="sc", threads=threads)
    counters = run.counters
    assert counters["edges_scattered"] == run.trace.column("active_edges").sum() == total["edges"]
    assert counters["messages_sc"] == run.trace.column("messages").sum() == total["messages"]
    assert counters["bins_probed"] == counters["bins_filled"] == total["bins"]


@pytest.mark.slow
def test_no_bin_is_listed_twice_under_many_threads():
    """Stress of the two-level list: enough edges to keep a team busy, other frontiers every time."""
    graph = generate("rmat", scale=12, degree=8, seed=5)
    rng = np.random.default_rng(1)
    for round_ in range(60):
        frontier = rng.choice(graph.n, graph.n // 2, replace=False)
        expected = Expected(graph, frontier, bits=6)
        mode = ("sc", "pc")[round_ % 2]
        options = {"iterations": 1, "partition_size": 64, "threads": 8, "mode": mode}
        counters = count(smallest(graph), frontier, **options).counters
        assert counters["bins_probed"] == (expected.bins if mode == "sc" else expected.all_bins)
        assert counters["ids_gathered"] == (expected.edges if mode == "sc" else expected.all_edges)


@pytest.mark.slow
def test_interleaving_shows_in_its_own_counters():
    chain = generate("chain", vertices=256)
    plain = count(smallest(chain), mode="sc").counters
    assert plain["ids_interleaved"] == 0
    # most edges stay in their partition: those are delivered without bins, once for each scatter
    assert plain["intra_edges"] + plain["ids_gathered"] == plain["edges_scattered"]
    assert plain["intra_edges"] > 9 * plain["ids_gathered"]
    mixed = count(smallest(chain), interleave=True).counters
    assert mixed["intra_edges"] > 0
    sparse = count(smallest(), interleave=True).counters
    assert sparse["ids_interleaved"] > 0


def test_dense_program_reads_every_bin_once_an_iteration():
    program = Rank(RMAT)
    program.eps = -1
    run = count(program, iterations=3)
    expected = Expected(RMAT, np.arange(RMAT.n))
    assert run.counters["messages_pc"] == run.counters["messages_gathered"] == 3 * expected.messages
    assert run.counters["ids_gathered"] == 3 * RMAT.m
    assert run.counters["bins_probed"] == run.counters["bins_filled"] == 3 * expected.bins
    assert run.trace.column("partitions_sc").sum() == 0  # PageRank is always partition-centric
    assert run.trace.column("partitions_pc").tolist() == [32] * 3


# --- a larger graph around the same work -------------------------------------------------------


def embedded(times):
    """The same 1024 vertices, then ``times`` as many in other partitions with edges of their own."""
    rest = generate("rmat", scale=10, degree=8, seed=12)
    tails = np.repeat(np.arange(RMAT.n), np.diff(RMAT.indptr))
    more = np.repeat(np.arange(rest.n), np.diff(rest.indptr))
    return gpop.Graph.from_edges(
        np.concatenate([tails] + [more + 1024 * i for i in range(1, times)]),
        np.concatenate([RMAT.indices] + [rest.indices.astype(np.int64) + 1024 * i for i in range(1, times)]),
        n=1024 * times,
    )


@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_ten_times_the_graph_is_the_same_work(mode):
    runs = []
    for times in (1, 10):
        program = Smallest(embedded(times))
        program.label = np.resize(np.random.default_rng(1).permutation(1024), 1024 * times)
        runs.append(count(program, [3, 100], mode=mode, iterations=4))
    small, large = runs
    assert large.partitions == 10 * small.partitions
    assert large.counters == small.counters
    assert large.counters["bins_probed"] > 100
    for column in ("frontier", "active_edges", "partitions_sc", "partitions_pc", "messages"):
        assert large.trace.column(column).tolist() == small.trace.column(column).tolist()


# --- pull and priorities -----------------------------------------------------------------------


def coloured(graph, seed=5):
    """Each vertex has some of four colours, a fifth of them all four: those want no messages."""
    program, rng = Colours(graph), np.random.default_rng(seed)
    program.mask = np.where(rng.random(graph.n) < 0.2, 15, rng.integers(0, 15, graph.n))
    return program


@pytest.mark.parametrize("name", frontiers())
@pytest.mark.parametrize("threads", [1, 4])
def test_pull_looks_at_in_edges_until_a_vertex_wants_no_more(name, threads):
    frontier, program, into = frontiers()[name], coloured(RMAT), RMAT.reverse()
    before, looked_at, heard = program.mask.copy(), 0, 0
    for v in range(RMAT.n):
        mask = before[v]
        for u in into.indices[into.indptr[v] : into.indptr[v + 1]]:
            if mask == 15:
                break
            looked_at += 1
            if u in frontier:
                heard += 1
                mask |= before[u]
    run = count(program, frontier, mode="pull", iterations=1, threads=threads)
    assert {name: number for name, number in run.counters.items() if number} == {
        name: number for name, number in (("edges_pulled", looked_at), ("messages_pulled", heard)) if number
    }
    assert run.trace[0]["messages"] == heard


def test_ten_times_the_graph_is_the_same_work_for_pull_where_it_wants_nothing():
    """Auto pulls a large frontier; what it looks at is what the needy vertices ask for."""
    runs = []
    for times in (1, 10):
        program = Colours(embedded(times))
        program.mask = 15
        program.mask[:1024] = np.random.default_rng(1).integers(0, 15, 1024)
        runs.append(count(program, np.arange(1024), mode="pull", iterations=3))
    small, large = runs
    assert large.partitions == 10 * small.partitions
    assert large.counters == small.counters
    assert large.counters["edges_pulled"] > 1000


def shortest(graph, source=3, delta=20, **options):
    program = SSSP(graph)
    program.distance[source], program.delta = 0, delta
    return count(program, [source], mode="sc", **options)


@pytest.mark.slow
def test_ten_times_the_graph_is_the_same_work_with_priorities():
    runs = []
    for times in (1, 10):
        graph = embedded(times)
        weights = np.resize(np.random.default_rng(3).integers(1, 100, RMAT.m), graph.m).astype(np.uint32)
        runs.append(shortest(gpop.Graph(graph.indptr, graph.indices, weights)))
    small, large = runs
    steps = [run.counters.pop("bucket_steps") for run in runs]
    assert large.partitions == 10 * small.partitions
    assert large.counters == small.counters
    assert large.counters["waiting_read"] > 100
    assert (
        0 < steps[0] <= steps[1] <= 2 * steps[0]
    )  # the tournament is higher by 4 rounds, not 10 times larger
    for column in ("frontier", "active_edges", "messages"):
        assert large.trace.column(column).tolist() == small.trace.column(column).tolist()


@pytest.mark.parametrize("partitions", slow([1, 2, 16, 256, 4096], 4096))
def test_a_bucket_of_one_vertex_asks_no_other_partition(partitions):
    """A walk of one vertex a bucket from partition to partition: rounds of the tournament, not k."""
    n, length = 8192, 500
    walk = np.random.default_rng(6).permutation(n)[: length + 1]
    graph = gpop.Graph.from_edges(walk[:-1], walk[1:], np.full(length, 7, np.uint32), n=n)
    run = shortest(graph, walk[0], 7, partition_size=n // partitions)
    assert (run.iterations, run.partitions) == (length + 1, partitions)
    assert run.trace.column("frontier").tolist() == [1] * (length + 1)
    assert run.counters["waiting_read"] == length + 1
    rounds = partitions.bit_length() - 1
    # to wait, to be admitted, and to be found: a leaf and two nodes a round
    assert run.counters["bucket_steps"] <= (length + 1) * (2 * (rounds + 1) + 2 * rounds + 1)


@pytest.mark.slow
def test_partitions_that_wait_for_a_later_bucket_are_not_asked():
    """A star leaves a vertex waiting in each of 1023 partitions, behind a long path of near ones."""
    length, leaves = 200, 1023
    near, far = np.arange(length + 1), 256 + 256 * np.arange(leaves)
    tails, heads = np.r_[near[:-1], np.zeros(leaves, np.int64)], np.r_[near[1:], far]
    weights = np.r_[np.ones(length), np.full(leaves, 10**6)].astype(np.uint32)
    graph = gpop.Graph.from_edges(tails, heads, weights, n=256 * (leaves + 1))
    path = shortest(graph, 0, 1, partition_size=256, iterations=length + 1).counters
    rest = shortest(graph, 0, 1, partition_size=256)
    assert rest.iterations == length + 2
    assert rest.trace[-1]["frontier"] == leaves
    assert path["waiting_read"] == length + 1
    assert rest.counters["waiting_read"] == length + 1 + leaves
    # each leaf is given a place once, in 11 steps; then a bucket of the path takes 43 at most
    assert path["bucket_steps"] <= 11 * leaves + 43 * (length + 1)

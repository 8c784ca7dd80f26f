"""The interleaved step: every message arrives exactly once, and none that leaves a partition is lost.

What threads do at the same time is replayed on one thread, partition by partition in a given order, or seen
in the code that is generated; what a partition does with its own edges is the same in every run.
"""

from __future__ import annotations

import re
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import gpop
from gpop.common.inlined import KERNEL
from gpop.cpu import active, kept_workspace, workspace
from gpop.cpu.interleave import make_gather_published
from gpop.cpu.layouts import sizes_of
from gpop.cpu.program_kernels import ProgramKernels
from gpop.cpu.traits import NEVER, Traits
from gpop.cpu.workspace_tables import Needs
from gpop.generate import generate
from gpop.layout.in_edges import NO_WEIGHTS
from gpop.layout.kept_bins import bins_of
from gpop.model.asked import code_of
from gpop.plan.hidden import MASK_NONE
from gpop.program.lowering import lower
from gpop.program.state import make_state
from tests.programs import Smallest
from tests.quick import quick


class Arrivals(gpop.Program):
    """How many messages a vertex gets, in all and from larger ones; nobody becomes active."""

    arrived = gpop.VertexField(np.int64)
    ids = gpop.VertexField(np.int64)
    inactive_message = gpop.HARMLESS

    def scatterFunc(self, node):
        return np.int64(node)

    def gatherFunc(self, value, node):
        self.arrived[node] += 1
        self.ids[node] += value
        return False


RMAT = generate("rmat", scale=12, degree=8, seed=7)


def own_and_other_edges():
    """Partitions of 16 with most edges inside (an interleaved step applies them), and such with few."""
    rng = np.random.default_rng(3)
    tails = np.repeat(np.arange(512), 6)
    heads = rng.integers(0, 512, tails.size)
    inside = (tails < 256) & (rng.random(tails.size) < 0.8)
    heads[inside] = (tails[inside] & ~15) + (heads[inside] & 15)
    return gpop.Graph.from_edges(tails, heads, n=512)


def check_arrivals(program):
    graph = program.graph
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    assert np.array_equal(program.arrived, np.bincount(graph.indices, minlength=graph.n))
    assert np.array_equal(program.ids, np.bincount(graph.indices, tails, minlength=graph.n).astype(np.int64))


@pytest.mark.parametrize("mode", quick(["sc", "pc", "auto"], "auto"))
@pytest.mark.parametrize("graph, size", [(RMAT, 64), (own_and_other_edges(), 16)], ids=["rmat", "local"])
def test_every_message_arrives_once(graph, size, mode):
    for threads in [1] + [2, 3, 4] * 10:
        program = Arrivals(graph)
        gpop.run(program, mode=mode, interleave=True, iterations=1, partition_size=size, threads=threads)
        check_arrivals(program)


@pytest.fixture(scope="module")
def iterate():
    """One iteration of `Arrivals`, its partitions scattered one at a time, in any order and by any thread."""
    traits = Traits(None, False, MASK_NONE, None, True, NEVER, False, False, False)
    kernels = ProgramKernels(lower(Arrivals), traits, "step_by_step")
    scatter, gather = kernels.scatter_and_gather()

    @njit(**KERNEL)
    def steps(order, owners, threads, forced, sizes, layout, space, state):
        for i in range(order.size):
            scatter(order[i], owners[i], threads, forced, 2.0, sizes, layout, space, state, 0)
        size = active.list_messages(order.size, True, layout, space)
        for i in range(size):
            gather(space.gather_list[i], 0, threads, layout, space, state)
        return active.list_active(size, space)

    def run(graph, bits, threads, mode, order, owners):
        program = Arrivals(graph)
        layout = bins_of(graph, bits, 1)[0]._replace(weights=NO_WEIGHTS, id_weights=NO_WEIGHTS)
        needs = Needs(**dict.fromkeys(Needs._fields, False))
        needs = needs._replace(sc=True, frontier=True, interleave=True)
        space = kept_workspace.workspace_of(graph.store, layout, needs, np.dtype(np.int64), threads)
        assert active.load_all(active.lists_of(layout, space))[0] == order.size
        state = make_state(program, lower(Arrivals))
        sizes = sizes_of(layout, space, traits)
        left = steps(order, owners, threads, code_of(mode), sizes, layout, space, state)
        assert left == (0, 0, 0)
        assert (space.head[: threads * order.size] == workspace.NONE).all()
        assert (space.consumed[: threads * order.size] == workspace.NONE).all()
        return program

    return run


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sc", "pc", "auto"])
def test_in_any_order_of_partitions_and_threads(iterate, mode):
    rng = np.random.default_rng(5)
    graph = own_and_other_edges()
    for threads in (1, 2, 3, 8):
        for order in (np.arange(32), np.arange(32)[::-1].copy(), *(rng.permutation(32) for _ in range(10))):
            check_arrivals(iterate(graph, 4, threads, mode, order, rng.integers(0, threads, 32)))


def smallest(graph, label, **options):
    program = Smallest(graph)
    program.label = label
    run = gpop.run(program, interleave=True, threads=1, **options)
    return program.label, run


@pytest.mark.parametrize("mode", quick(["sc", "pc", "auto"], "auto"))
def test_what_the_budget_leaves_undone_is_sent(mode):
    """The smallest label is at the far end: first in, first out, it moves one vertex in a pass over all."""
    n = 2048
    path = gpop.Graph.from_edges(np.arange(1, n), np.arange(n - 1))
    label, run = smallest(path, np.arange(n)[::-1].copy(), mode=mode, partition_size=n)
    assert run.partitions == 1
    assert run.iterations > 2
    assert not label.any()


def star(leaves, outside, hub, sort):
    """The edges of a hub in partition 1 of 3 (of 32): to ``leaves`` vertices of its own, and others."""
    heads = np.r_[np.arange(33, 33 + leaves), outside].astype(np.uint32)
    heads = np.sort(heads) if sort else heads[::-1]
    degrees = np.zeros(96, np.int64)
    degrees[hub] = heads.size
    return gpop.Graph(np.append(0, np.cumsum(degrees)), heads)


@pytest.mark.parametrize("mode", ["sc", "pc", "auto"])
@pytest.mark.parametrize("outside", [[3], [70], [3, 70], [0, 1, 2, 31]])
@pytest.mark.parametrize("leaves", [4, 16])
@pytest.mark.parametrize("sort", [True, False])
def test_edges_that_leave_the_partition_are_sent(leaves, outside, sort, mode):
    """A vertex all of whose own edges are applied still has those: before, behind, or among its own."""
    label = np.full(96, 9)
    label[32] = 1
    found, _ = smallest(star(leaves, outside, 32, sort), label, mode=mode, partition_size=32)
    assert np.flatnonzero(found == 1).tolist() == sorted([32, *range(33, 33 + leaves), *outside])


# --- the generated code ------------------------------------------------------------------------

Layout = namedtuple("Layout", "bits k row_offsets row_bins")
Space = namedtuple("Space", "mode row_size row_list next_source head consumed frontier_size counters")


def published():
    """Layout and workspace in which partition 1 of 2 has a message for both."""
    layout = Layout(np.uint32(4), 2, np.array([0, 0, 2]), np.array([0, 1], np.uint32))
    head, consumed = np.full(4, workspace.NONE), np.full(4, workspace.NONE)
    source, zeros = np.zeros(4, np.int32), np.zeros(2, np.int64)
    counters = np.zeros((2, 4), np.int64)
    return layout, Space(
        np.ones(2, np.uint8), zeros, np.zeros(2, np.uint32), source, head, consumed, zeros, counters
    )


def test_a_bin_is_published_by_a_release_store():
    """What the store makes visible, the bin and its link in the list, is written before it."""

    @njit(**KERNEL)
    def publish(layout, space):
        active.publish_row(1, 1, False, layout, space)

    layout, space = published()
    publish(layout, space)
    assert space.head.tolist() == [workspace.NONE, workspace.NONE, 1, 1]
    code = next(iter(publish.inspect_llvm().values()))
    assert re.search(r"store atomic i64 .* release", code)
    assert code.index("store i32") < code.index("store atomic")


def test_a_published_bin_is_found_by_an_acquire_load():
    @njit(**KERNEL)
    def gather_one(source, p, w, full, layout, space, state, size):
        return size + np.uint64(1)

    kernel = njit(**KERNEL)(make_gather_published(gather_one, False))
    layout, space = published()
    space.head[2:] = 1
    space.next_source[2:] = workspace.NONE
    assert kernel(0, 0, 2, layout, space, None) == 1
    assert kernel(0, 0, 2, layout, space, None) == 0  # up to what was consumed
    assert space.consumed.tolist() == [workspace.NONE, workspace.NONE, 1, workspace.NONE]
    assert re.search(r"load atomic i64.* acquire", next(iter(kernel.inspect_llvm().values())))

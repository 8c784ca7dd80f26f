"""Iterations with few active vertices (kernels/levels.cuh): answers, traces, and when they are left."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import again, choices, engine, limits
from gpop.gpu.traits import device_sizes
from gpop.model.choosers import may_pull, prefers_asking
from gpop.model.gpu_bytes import bottom_up_bytes, levels_bytes, wanting_bytes
from gpop.model.gpu_sizes import Part
from gpop.program.lowering import lower
from tests.gpu.cases import Case
from tests.gpu.emulator import emulated
from tests.gpu.test_bottom_up import PROGRAMS, _reached, check
from tests.programs import random_graph
from tests.quick import quick


class Steps(gpop.Program):
    """The level, by what is sent alone: who sends is who was reached, and says so in filterFunc."""

    level = gpop.VertexField(np.uint16)
    seen = gpop.VertexField(np.uint16)
    track_touched = True
    combine = "min"

    def scatterFunc(self, node):
        return np.uint16(self.iteration + 2)

    def gatherFunc(self, value, node):
        if self.level[node] == 0:
            self.level[node] = value
            return True
        return False

    def filterFunc(self, node):
        self.seen[node] += 1
        return True


class Again(gpop.Program):
    """Vertices become active again and again, by more than one message at a time."""

    heard = gpop.VertexField(np.uint8)

    def scatterFunc(self, node):
        return np.uint8(node % 7)

    def gatherFunc(self, value, node):
        if self.heard[node] < 40:
            self.heard[node] += np.uint8(1)
            return True
        return False


STEPS = Case(Steps, _reached, (3, 7))
AGAIN = Case(Again, lambda program, rng: None, (3, 7), 7)


def levels_run(monkeypatch) -> list:
    """Filled with how often the kernel began a run of levels."""
    begun = []

    class Watching(engine.GpuEngine):
        def iterate(self):
            records = super().iterate()
            begun.append(int(self.control["few"]))
            return records

    monkeypatch.setattr(again, "RestingEngine", Watching)
    return begun


def long_and_thin():
    """A grid that is entered at its corner, and a vertex with more edges than levels look at."""
    grid = generate("grid", width=60, height=7)
    tails = np.repeat(np.arange(grid.n), grid.out_degree)
    spokes = np.arange(grid.n, grid.n + limits.HEAVY + 9)
    tails = np.concatenate([tails, np.full(spokes.size, 200), spokes])
    heads = np.concatenate([grid.indices, spokes, np.full(spokes.size, 200)])
    return gpop.Graph.from_edges(tails, heads)


@pytest.mark.parametrize(
    "case",
    quick([STEPS, AGAIN, PROGRAMS["Reached"]], AGAIN),
    ids=lambda case: case.cls.__name__,
)
@pytest.mark.parametrize("mode", quick(["sc", "auto"], "sc"))
@pytest.mark.parametrize("clustered", [False, True])
def test_levels_leave_what_other_iterations_leave(case, mode, clustered, monkeypatch):
    begun = levels_run(monkeypatch)
    monkeypatch.setattr(limits, "LEVEL_DEGREE", limits.HEAVY)
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: clustered)
    with emulated():
        for graph in (long_and_thin(), random_graph(21, 90, 400, weights=True)):
            for limit in (case.iterations, 5, 6):
                check(case._replace(iterations=limit), graph, mode=mode, ratio=1.0, partition_size=32)
    assert any(begun)


@pytest.mark.parametrize("most", ["LEVEL_EDGES", "CLUSTER_EDGES"])
def test_levels_are_left_and_taken_up_again(most, monkeypatch):
    """More than they take, for some iterations: bits, lists and counts are handed over after any number."""
    monkeypatch.setattr(limits, most, 48)
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: most == "CLUSTER_EDGES")
    with emulated():
        graph = generate("grid", width=23, height=9)
        check(STEPS, graph, mode="sc", partition_size=32)


def chains(count, length):
    """So many of them, side by side: all are entered at once."""
    tails = np.arange(count * (length - 1))
    return gpop.Graph.from_edges(tails, tails + count)


def test_what_a_block_has_no_room_for_lies_beside():
    """More vertices are found than the shared memory of one block takes, in every level."""
    with emulated():
        graph = chains(6000, 5)
        program = Steps(graph)
        program.level[:6000] = 1
        run = gpop.run(program, range(6000), target="gpu", mode="sc")
        assert run.trace.column("frontier").tolist() == [6000] * 5
        assert (program.level == 1 + np.arange(graph.n) // 6000).all()


def hubs(count, spokes):
    """So many in a row, each with vertices of its own."""
    centres = np.arange(count) * (spokes + 1)
    tails = np.concatenate([np.repeat(centres, spokes), centres[:-1]])
    heads = np.concatenate([(centres[:, None] + np.arange(1, spokes + 1)).ravel(), centres[1:]])
    return gpop.Graph.from_edges(
        [*tails, *heads], [*heads, *tails], weights=1 + np.arange(2 * tails.size) % 7
    )


@pytest.mark.parametrize("clustered", quick([False, True], True))
def test_hubs_are_walked_by_all_of_a_block(clustered, monkeypatch):
    """More of them at once than wait together, and some that are heavy elsewhere: no level is left."""
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: clustered)
    with emulated():
        for graph in (hubs(90, limits.LONG_LIST + 5), hubs(5, limits.HEAVY + 70)):
            sources = tuple(np.flatnonzero(graph.out_degree > limits.LONG_LIST)[::-1].tolist())
            for case in (STEPS, AGAIN):
                run = check(case._replace(frontier=sources), graph, mode="sc", partition_size=256)
                assert in_levels(run).all()


def in_levels(run):
    """Of every iteration, whether it was one of those: they have no first half."""
    return run.trace.column("scatter_seconds") == 0


@pytest.mark.parametrize("most", quick([limits.HEAVY, limits.LEVEL_DEGREE], limits.HEAVY))
def test_heavy_vertices_are_taken_up_where_none_is_too_much_for_a_block(most, monkeypatch):
    """Those that are loaded, more than one block would take, but each of them a block; one that is found."""
    monkeypatch.setattr(limits, "LEVEL_DEGREE", most)
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: False)
    with emulated():
        graph = hubs(40, limits.HEAVY + 1)
        sources = tuple(np.flatnonzero(graph.out_degree > limits.HEAVY).tolist())
        run = check(STEPS._replace(frontier=sources), graph, mode="sc", partition_size=256)
        assert in_levels(run).tolist() == [most > limits.HEAVY] * 2
        found = check(STEPS._replace(frontier=(1,)), graph, mode="sc", partition_size=256)
        assert in_levels(found)[0] and in_levels(found)[1] == (most > limits.HEAVY)  # the hub of that spoke


def kernels_started(monkeypatch) -> list:
    """Filled with whether a launch was that of a cluster, which may have the smallest graphs, too."""
    monkeypatch.setattr(limits, "ONE_BLOCK", 0)
    started, start = [], engine.GpuEngine._start

    def watched(self, launch, stream):
        started.append(launch is self.ready.levels)
        start(self, launch, stream)

    monkeypatch.setattr(engine.GpuEngine, "_start", watched)
    return started


@pytest.mark.slow
def test_a_cluster_has_thin_graphs_and_hands_over_what_is_too_much(monkeypatch):
    started = kernels_started(monkeypatch)
    monkeypatch.setattr(limits, "LEVEL_DEGREE", limits.HEAVY)
    with emulated():
        gpop.bfs(generate("grid", width=30, height=5), 0, target="gpu", ratio=1.0)
        assert started == [True]
        started.clear()
        star = gpop.bfs(generate("star", vertices=600), 0, target="gpu", ratio=1.0)
        assert star.level.tolist() == [0, *[1] * 599]
        assert started == [True, False]  # the pieces of a hub are for others
        started.clear()
        gpop.bfs(generate("rmat", scale=8, symmetrize=True), 0, target="gpu", ratio=1.0)
        weighted = generate("grid", width=30, height=5, weights=(1, 9))
        gpop.sssp(weighted, 0, method="messages", delta=50, target="gpu", ratio=1.0)
        assert not any(started)


def test_devices_without_clusters_have_one_launch(monkeypatch):
    started = kernels_started(monkeypatch)
    with emulated():
        monkeypatch.setattr(choices, "FIRST_WITH_CLUSTERS", 91)
        gpop.bfs(generate("grid", width=30, height=5), 0, target="gpu", ratio=1.0)
    assert started == [False]


def test_a_callback_sees_every_level():
    graph = generate("grid", width=20, height=3)

    def seen(target):
        program, found = Steps(graph), []
        program.level[0] = 1
        gpop.run(
            program, [0], target=target, mode="sc",
            callback=lambda record: found.append((record["frontier"], program.level.tolist())),
        )  # fmt: skip
        return found

    with emulated():
        assert seen("gpu") == seen("python")


def test_which_filters_may_be_called_early():
    class Reads(Steps):
        def filterFunc(self, node):
            self.seen[node] = self.level[node]
            return True

    class Drops(Steps):
        def filterFunc(self, node):
            return self.seen[node] == 0

    class IsRead(Steps):
        def gatherFunc(self, value, node):
            if self.seen[node] == 0:
                self.level[node] = value
                return True
            return False

    for cls, early in ((Steps, True), (Again, True), (Reads, False), (Drops, False), (IsRead, False)):
        assert lower(cls).filters_early is early, cls


def test_levels_are_left_to_vertices_that_ask_as_the_model_says(monkeypatch):
    """What is recorded of a level says whether the next one is for others; what is loaded, whether any is."""
    found, changes, asked_first = {}, 0, set()

    class Watching(engine.GpuEngine):
        def load(self, *given):
            super().load(*given)
            found["sizes"] = device_sizes(self.ready.emitted, self.traits, live=True)

    monkeypatch.setattr(again, "RestingEngine", Watching)
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: False)
    graph, case = random_graph(8, 2000, 9000), PROGRAMS["Reached"]
    with emulated():
        for ratio, frontier in ((0.1, (3, 7)), (0.5, (3, 7)), (2.0, (3, 7)), (6.0, tuple(range(0, 2000, 3)))):
            search = case._replace(frontier=frontier, prepare=started_at(frontier))
            run = check(search, graph, ratio=ratio, partition_size=64)
            needy, needy_edges, prefers = graph.n, graph.m, []
            for row in run.trace:
                size, edges = row["frontier"], row["active_edges"]
                needy, needy_edges = max(0, needy - size), max(0, needy_edges - edges)
                part = Part(size, edges, graph.n, graph.m, 0, 0, needy, needy_edges)
                given = levels_bytes(part, found["sizes"]), wanting_bytes(part, found["sizes"])
                asked = bottom_up_bytes(part, found["sizes"])
                prefers.append(may_pull(edges, needy_edges) and prefers_asking(*given, asked, 0.0, ratio))
                if row["partitions_pull"]:
                    break  # from here on it is counted who is left
            here = in_levels(run)[: len(prefers)]
            asked_first.add(run.trace[0]["partitions_pull"] > 0)
            assert here[0] != prefers[0]
            for before, now in pairwise(range(len(prefers))):
                assert not (here[now] and here[before] and prefers[before] and prefers[now])
                changes += here[before] and not here[now] and prefers[before]
                assert not (run.trace[now]["partitions_pull"] and here[before] and not prefers[before])
    assert changes and asked_first == {True, False}


def started_at(vertices):
    """Sets the level of these."""

    def start(program, rng):
        program.level[list(vertices)] = 1

    return start

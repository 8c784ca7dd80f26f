"""The corners of a run on a device: heavy vertices, nothing to do, traces, big graphs, CUDA of the user's."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.compare import APPS, compare
from gpop.gpu import calibrate, engine
from gpop.graph.graph import Graph
from tests.gpu.cases import (
    CASES,
    MODES,
    WAYS,
    Case,
    can_swap,
    check,
    in_plain_python,
    run_device,
    started,
)
from tests.programs import Smallest, random_graph

pytestmark = pytest.mark.gpu


# --- vertices with many edges --------------------------------------------------------------------------


def star(leaves: int) -> Graph:
    """Vertex 0 to all leaves and back, and vertex 1 to 300 of them: pieces of heavy vertices."""
    spokes, some = np.arange(1, leaves + 1), np.arange(2, 302)
    centre = np.zeros(leaves, np.int64)
    tails = np.concatenate([centre, spokes, np.ones(300, np.int64)])
    heads = np.concatenate([spokes, centre, some])
    weights = np.random.default_rng(4).integers(1, 50, tails.size).astype(np.uint32)
    return Graph.from_edges(tails, heads, weights, n=leaves + 1)


STAR = star(12_000)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["Smallest", "DistanceCombined", "Sums", "SumsCombined", "Countdown"])
def test_heavy_vertices(name, way):
    case = CASES[name]
    if way == "swap" and case.cls.combine is None:
        way = "declared"
    if case.frontier is not None:
        case = case._replace(frontier=(0, 5), iterations=3)
    wanted = in_plain_python(case, STAR)
    for size in (32, 1024):
        for mode in MODES:
            check(case, STAR, wanted, mode, size, way)


def test_frontier_of_heavy_and_light_vertices():
    """Lists are made from the bits of the frontier where a dense iteration went before."""
    case = CASES["Smallest"]
    wanted = in_plain_python(case, STAR)
    for ratio in (0.01, 0.5, 1.5, 4.0):
        program = started(case, STAR)
        gpop.run(program, mode="auto", ratio=ratio, partition_size=256, target="gpu")
        assert np.array_equal(program.label, wanted[0].label)


# --- little or nothing to do -------------------------------------------------------------------------------

TRIFLES = {
    "no vertices": Graph.from_edges([], [], np.empty(0, np.uint32), n=0),
    "one vertex": Graph.from_edges([], [], np.empty(0, np.uint32), n=1),
    "one self-loop": Graph.from_edges([0], [0], np.array([3], np.uint32)),
    "no edges": Graph.from_edges([], [], np.empty(0, np.uint32), n=70),
    "one edge": Graph.from_edges([1], [0], np.array([9], np.uint32), n=2),
    "32 vertices": Graph.from_edges([31, 0], [0, 31], np.array([1, 2], np.uint32), n=32),
    "33 vertices": Graph.from_edges([32, 0], [0, 32], np.array([1, 2], np.uint32), n=33),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("graph", TRIFLES.values(), ids=list(TRIFLES))
def test_trifles(graph, mode):
    for name in ("Smallest", "Sums", "SumsCombined", "Rank", "Countdown", "Colours"):
        for iterations in (1, 3):
            case = CASES[name]._replace(frontier=None, iterations=iterations, prepare=_count_up)
            check(case, graph, in_plain_python(case, graph), mode, 32, "declared")


def _count_up(program, rng):
    for name, field in type(program).vertex_fields().items():
        if field.dtype != np.bool_:
            setattr(program, name, 1 + np.arange(program.graph.n) % 5)
    if "eps" in type(program).scalar_parameters():
        program.eps = 1e-5


@pytest.mark.parametrize("name", ["Smallest", "Sums", "MarkedSumsCombined", "Rumours", "Countdown", "Drift"])
@pytest.mark.parametrize("iterations", [0, 1, None])
def test_empty_frontiers_and_few_iterations(name, iterations):
    graph = random_graph(21, 90, 400)
    # What an inactive vertex may send is declared for runs from the case's own frontier.
    own = CASES[name].frontier
    for frontier in ((), own, None) if CASES[name].cls.inactive_message is None else ((), own):
        if CASES[name].cls.all_active and frontier is not None:
            continue
        limit = iterations
        if iterations is None and frontier != ():
            limit = 2
        case = CASES[name]._replace(frontier=frontier, iterations=limit)
        program = started(case, graph)
        untouched = {field: getattr(program, field).copy() for field in case.cls.vertex_fields()}
        for mode in MODES:
            if limit != 0:
                check(case, graph, in_plain_python(case, graph), mode, 32, "declared")
                continue
            run = run_device(program, frontier, 0, mode, 32)
            assert (run.iterations, len(run.trace)) == (0, 0)
            assert all(np.array_equal(getattr(program, field), untouched[field]) for field in untouched)
            if not case.cls.all_active:
                assert run.frontier.tolist() == sorted(range(90) if frontier is None else set(frontier))
            assert run.converged == (frontier == ())


# --- callbacks, slices -------------------------------------------------------------------------------------


# --- what a run tells ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_trace_and_frontier_are_those_of_the_cpu(mode):
    graph = random_graph(23, 3000, 30000)
    on_cpu = gpop.bfs(graph, 1, mode="sc")
    found = gpop.bfs(graph, 1, mode=mode, target="gpu", ratio=1.0, partition_size=64)
    trace, k = found.trace, found.run.partitions
    for column in ("iteration", "frontier", "active_edges"):
        assert np.array_equal(trace.column(column), on_cpu.trace.column(column))
    assert np.array_equal(found.level, on_cpu.level)
    ways = {way: trace.column(f"partitions_{way}") for way in ("sc", "pc", "pull")}
    assert np.all(sum(ways.values()) >= 1)
    assert k == (graph.n + 63) // 64
    assert np.all(sum(ways.values()) <= k)
    assert np.all(sum(ways.values()) <= trace.column("frontier"))  # partitions with an active vertex
    for way in ways:
        if mode != "auto":
            assert (ways[way].sum() > 0) == (way == mode)
    assert np.all(trace.column("bytes") > 0)
    assert np.all(trace.column("messages") >= 0)
    assert trace.column("messages").sum() > 0
    for phase in ("scatter_seconds", "gather_seconds"):
        assert np.all((trace.column(phase) >= 0) & (trace.column(phase) < 1))
    assert 0 < trace.seconds <= 1.5 * found.run.seconds
    assert trace.summary["target"] == "gpu"


@pytest.mark.parametrize("name", ["Sums", "SumsCombined", "MarkedRumours"])
def test_touched_is_that_of_the_cpu(name):
    graph = random_graph(24, 600, 900)
    case = CASES[name]._replace(frontier=(3, 8), iterations=4)
    on_cpu = gpop.run(started(case, graph), case.frontier, iterations=4, partition_size=32, threads=1)
    assert 2 < on_cpu.touched.size < graph.n
    for mode in MODES:
        run = run_device(started(case, graph), case.frontier, 4, mode, 32)
        assert run.touched.tolist() == sorted(on_cpu.touched.tolist()), mode
        assert run.frontier.tolist() == sorted(on_cpu.frontier.tolist()), mode


def test_interleaving_reaches_the_same_fixpoint():
    graph = random_graph(22, 3000, 30000, weights=True)
    for name in ("Smallest", "DistanceCombined", "Distance"):
        case = CASES[name]
        wanted = in_plain_python(case, graph)[0]
        for mode in MODES:
            program = started(case, graph)
            options = {"mode": mode, "ratio": 1.0, "partition_size": 32, "interleave": True}
            run = gpop.run(program, case.frontier, target="gpu", **options)
            assert run.converged
            for field in case.cls.vertex_fields():
                assert np.array_equal(getattr(program, field), getattr(wanted, field)), (name, mode)


# --- sizes -------------------------------------------------------------------------------------------------


def test_more_vertices_than_16_bits():
    from gpop.gpu.device import current_device

    graph = random_graph(25, 150_000, 300_000, weights=True)
    sizes = [1 << 13] if current_device().shared_bytes < 200 << 10 else [1 << 13, 1 << 15]
    expected = gpop.bfs(graph, 1, mode="sc").level
    labels = Smallest(graph)
    labels.label = np.random.default_rng(1).permutation(graph.n)
    before = labels.label.copy()
    gpop.run(labels, mode="sc")
    for size in sizes:
        for mode in MODES:
            options = {"mode": mode, "ratio": 1.0, "partition_size": size, "target": "gpu"}
            assert np.array_equal(gpop.bfs(graph, 1, **options).level, expected), options
            program = Smallest(graph)
            program.label = before
            assert gpop.run(program, **options).partition_size == size
            assert np.array_equal(program.label, labels.label), options


def test_default_partition_size():
    graph = random_graph(25, 150_000, 300_000)
    run = gpop.bfs(graph, 1, target="gpu", mode="pc").run
    assert 1 << 10 <= run.partition_size <= 1 << 15
    assert run.partitions == -(-graph.n // run.partition_size)


@pytest.mark.parametrize("size", [1 << 16, 1 << 20])
def test_partitions_that_do_not_fit_a_block_are_refused(size):
    with pytest.raises(
        gpop.UsageError, match=rf"^partition size {size} on the GPU: expected at most \d+"
    ) as error:
        gpop.bfs(random_graph(5, 100, 300), 1, target="gpu", partition_size=size)
    assert "\n" not in str(error.value)


# --- the model's ratio, cuda_source, compare ---------------------------------------------------------------


def test_ratio_is_measured_once_per_device(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(calibrate, "SCALE", 14)
    ratio = calibrate.device_ratio(engine.GpuEngine)
    assert 0.01 < ratio < 100
    monkeypatch.setattr(calibrate, "measure_ratio", lambda engine_of: pytest.fail("measured again"))
    assert calibrate.device_ratio(engine.GpuEngine) == ratio
    level = gpop.bfs(STAR, 0, target="gpu").level  # auto takes what was kept
    assert np.array_equal(level, np.append(0, np.ones(12_000)))


class Doubled(Smallest):
    """gatherFunc comes from CUDA C++, and does something else than Python's: so it can be told apart."""

    step = gpop.Parameter(np.uint32, 3)
    combine = None
    cuda_source = """
    template <class Self> __device__ bool gatherFunc(Self& self, unsigned value, unsigned node)
    {
        if (value + self.step >= self.label(node)) return false;
        self.label(node) = value + self.step;
        return true;
    }
    """

    def gatherFunc(self, value, node):
        if value < self.label[node]:
            self.label[node] = value + 2 * self.step
            return True
        return False


class Stepped(Smallest):
    """What `Doubled` says in C++."""

    combine = None

    def gatherFunc(self, value, node):
        if value + 3 < self.label[node]:
            self.label[node] = value + 3
            return True
        return False


def test_cuda_source():
    graph = random_graph(22, 3000, 30000)

    def far(program, rng):
        program.label = 1000 + rng.permutation(graph.n)

    wanted = in_plain_python(Case(Stepped, far), graph)
    for mode in MODES:
        check(Case(Doubled, far), graph, wanted, mode, 32, "declared")
    assert can_swap(Doubled, graph)


@pytest.mark.parametrize("app", APPS)
def test_compare_on_both_targets(app, monkeypatch):
    monkeypatch.setattr(calibrate, "device_ratio", lambda engine_of: 1.0)
    graph = random_graph(26, 500, 4000, weights=True)
    modes, targets = ("sc", "pc", "auto", "pull"), ("cpu", "gpu")
    rows = compare(graph, [app], modes, targets, rounds=1)
    assert len(rows) == len(modes) * len(targets)
    assert all(row.equal for row in rows), rows
    assert all(row.seconds > 0 and row.bytes > 0 and row.share > 0 for row in rows if row.target == "gpu")

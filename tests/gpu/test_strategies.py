"""What the records of the GPU's strategies say is what its kernels and its choices are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.apps import bfs
from gpop.compare import compare
from gpop.generate import generate
from gpop.gpu import again, choices, edge_arrays, engine, kernel, strategies, traits
from gpop.gpu.choices import traits_of
from gpop.gpu.device_graph import HUBS
from gpop.gpu.engine import GpuEngine
from gpop.gpu.preparing import emitted_of
from gpop.graph.graph import Graph
from gpop.model import choosers, gpu_bytes
from gpop.model.choosers import divides, prefers_bins
from gpop.model.strategies import ASKED, MODES, PC, PULL, SC, STRATEGIES, asked_on
from gpop.plan import trace
from gpop.plan.plan import decide
from tests.gpu.cases import CASES, started
from tests.gpu.emulator import emulated
from tests.gpu.test_bottom_up import Reached
from tests.gpu.test_kernel import source_of
from tests.programs import Smallest, random_graph

KERNELS = Path(kernel.__file__).parent / "kernels"
ROOM = Path(gpop.__file__).parent


@pytest.mark.parametrize("strategy", strategies.GPU_STRATEGIES.values(), ids=list(strategies.GPU_STRATEGIES))
def test_its_file_defines_its_struct(strategy):
    text = (ROOM / strategy.kernels).read_text()
    assert re.search(rf"^struct {strategies.struct_name(strategy)}( : [^{{]*)? {{", text, re.MULTILINE)
    assert text.startswith(f"// Strategy {strategy.name}:")


def test_every_file_of_kernels_is_compiled_somewhere():
    files = {path.stem for path in KERNELS.glob("*.cuh")}
    own = {Path(strategy.kernels).stem for strategy in strategies.GPU_STRATEGIES.values()}
    common = {
        *kernel.COMMON,
        *kernel.ENGINE,
        *kernel.FUSED,
        *kernel.STEPPED,
        *kernel.RANKED,
        *kernel.PEERS,
        kernel.CLUSTERED,
        kernel.SWEPT,
    }
    included = set(
        re.findall(r'^#include "(\w+)\.cuh"$', "\n".join(map(Path.read_text, KERNELS.glob("*.cuh"))), re.M)
    )
    assert files - {"tables"} == own | common | included
    assert not own & common and not included & (own | common)


def test_codes_and_columns_are_written_once():
    """In Python: no kernel defines any of them, and the source of an engine has the values of the records."""
    texts = "\n".join(path.read_text() for path in KERNELS.glob("*.cuh"))
    source = source_of("SSSP", "declared")
    names = [f"MODE_{mode.name.upper()}" for mode in MODES] + ["FRONTIER_AT", "BYTES_AT", "GATHER_AT"]
    for name in names:
        assert not re.search(rf"(#define|enum|int|=)[^;]*\b{name}\b\s*[=,]", texts), name
        assert source.count(f"#define {name} ") == 1
    for mode in MODES:
        assert f"#define MODE_{mode.name.upper()} {mode.code}\n" in source
    assert f"#define BYTES_AT {trace.BYTES_AT}\n" in source
    assert not re.search(r"row\[\d", texts)


@pytest.mark.parametrize(
    "mode, owned, combines, names",
    [
        ("auto", False, True, ["push", "levels", "bins-combined", "bottom-up"]),
        ("sc", False, True, ["push", "levels"]), ("pc", False, True, ["bins-combined"]),
        ("auto", False, False, ["push", "levels", "bins", "bottom-up"]), ("pc", False, False, ["bins"]),
        ("edge-list", False, True, ["edge-list"]),
        ("pull", True, False, ["owner"]), ("edge-list", True, False, ["owner"]),
        ("vertex-pull", True, False, ["vertex-pull"]), ("vertex-push-warp:8-32", True, False, ["owner"]),
        ("vertex-push-warp:8-32", False, True, ["vertex-push-warp"]),
    ],
)  # fmt: skip
def test_an_engine_holds_what_its_run_may_choose(mode, owned, combines, names):
    found = strategies.strategies_of(mode, owned, combines, pulls=True, levels=True)
    assert [strategy.name for strategy in found] == names
    every = set(strategies.GPU_STRATEGIES.values())
    files = strategies.kernels_of(found)
    others = {Path(strategy.kernels).stem for strategy in every - set(found)}
    assert not others & set(files)


def test_names_that_only_one_target_has():
    graph = random_graph(3, 40, 100)
    assert "edge-list" in ASKED
    assert "edge-list" in asked_on("gpu")
    with pytest.raises(gpop.UsageError, match="^target 'cpu': mode 'edge-list': expected one of auto, sc"):
        gpop.run(Smallest(graph), mode="edge-list")
    assert [row.mode for row in compare(graph, ["cc"], ("sc", "edge-list"), ("cpu",), rounds=1)] == ["sc"]
    with pytest.raises(gpop.UsageError, match="none of the modes edge-list is one of target cpu"):
        compare(graph, ["cc"], ("edge-list",), ("cpu",), rounds=1)


@pytest.mark.parametrize(
    "mode, names",
    [
        ("edge-list", ["edge_source", "indices", "weights"]), ("struct-edge-list", ["weighted_edge"]),
        ("reverse-edge-list", ["in_indices", "edge_target", "in_weights"]),
        ("reverse-struct-edge-list", ["weighted_reverse_edge"]),
        ("vertex-push-warp:4-32", ["indices", "weights"]), ("vertex-pull", ["in_indices", "in_weights"]),
    ],
)  # fmt: skip
def test_only_what_a_strategy_reads_is_on_the_device(mode, names):
    graph, case = random_graph(6, 70, 300, weights=True), CASES["Distance"]
    program = started(case, graph)
    with emulated():
        made = engine.GpuEngine(decide(program, target="gpu", mode=mode, partition_size=32))
        made.prepare()
        arrays = made.layout.arrays
        expected = {"indptr", *names, *HUBS} | ({"in_indptr"} if mode == "vertex-pull" else set())
        assert set(arrays) == expected
        for name in names:
            assert arrays[name].nbytes == made.layout._size(name)


def test_edges_as_structs_are_the_edges_in_either_order():
    graph = random_graph(6, 70, 300, weights=True)
    reverse = graph.reverse()
    for name, listed, owner in (
        ("weighted_edge", graph, "source"),
        ("weighted_reverse_edge", reverse, "target"),
    ):
        edges = edge_arrays.structs(name, listed)
        assert edges.strides == (12,) and np.all(np.diff(edges[owner].astype(int)) >= 0)
        order = np.lexsort((edges["target"], edges["source"]))
        assert np.array_equal(edges["source"][order], edge_arrays.ends(graph))
        assert np.array_equal(edges["target"][order], graph.indices)
        assert np.array_equal(edges["weight"][order], graph.weights)


@pytest.mark.parametrize("parameters", ["3-6", "8-12", "64-64", "8", "", "4-2048", "04-8", "4-8-16"])
def test_virtual_warps_that_there_are_not(parameters):
    for name in ("vertex-push-warp", "vertex-pull-warp"):
        expected = f"^mode '{name}:{parameters}': expected {name}:W-C, W lanes"
        with pytest.raises(gpop.UsageError, match=expected):
            gpop.run(Smallest(random_graph(3, 40, 100)), mode=f"{name}:{parameters}", target="gpu")
    with pytest.raises(gpop.UsageError, match="^mode 'vertex-push:8-16': expected one of auto"):
        gpop.run(Smallest(random_graph(3, 40, 100)), mode="vertex-push:8-16", target="gpu")


@pytest.mark.parametrize(
    "mode",
    ["sc/block", "auto/masked", "vertex-push/block/masked", "vertex-push/", "edge-list/some", "push/each"],
)
def test_forms_that_there_are_not(mode):
    with pytest.raises(gpop.UsageError, match="^mode '"):
        gpop.run(Smallest(random_graph(3, 40, 100)), mode=mode, target="gpu")


def test_all_are_listed(capsys):
    """A line each, with the layouts it reads; no graph is wanted."""
    with pytest.raises(SystemExit) as ended:
        bfs.main(["--mode", "list"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    for strategy in STRATEGIES:
        words = [strategy.target, strategy.name]
        (line,) = [line for line in lines if re.split("[ :]+", line[2:])[1:3] == words]
        assert line.endswith(f"({', '.join(strategy.layouts)})") and strategy.about in line
        assert line.startswith("*") == strategy.by_name


def test_edges_one_by_one_are_predicted_and_allocated(monkeypatch):
    """As many bytes as `DeviceGraph.missing_bytes` says; and partitions are those of sc in the trace."""
    seen = {}

    class Watching(engine.GpuEngine):
        def iterate(self):
            arrays = self.layout.arrays
            seen.update({name: (array.nbytes, self.layout._size(name)) for name, array in arrays.items()})
            return super().iterate()

    case = CASES["Distance"]
    monkeypatch.setattr(again, "RestingEngine", Watching)
    with emulated():
        program = started(case, random_graph(6, 70, 300, weights=True))
        run = gpop.run(program, case.frontier, mode="edge-list", target="gpu", partition_size=32)
    assert {"edge_source", "indices", "weights"} <= set(seen)
    assert not {"ids", "sources", "segment"} & set(seen)
    for name in ("edge_source", "indices", "weights"):
        assert seen[name][0] == seen[name][1]
    assert run.mode == "edge-list"
    assert run.trace.column("partitions_sc").sum() > 0


def test_one_kernel_serves_all_graphs_where_no_bins_are_read():
    """By name partitions are of one size, whatever the graph; elsewhere small graphs have smaller ones."""
    bits = {}
    with emulated():
        for mode in ("vertex-push", "vertex-pull/masked", "sc", "pc"):
            for n in (70, 5000):
                plan = decide(Smallest(random_graph(6, n, 300)), target="gpu", mode=mode)
                bits[mode, n] = traits_of(plan, emitted_of(plan), None).bits
    assert len({bits[mode, n] for mode, n in bits if "vertex" in mode}) == 1
    assert bits["sc", 70] < bits["sc", 5000] and bits["pc", 70] < bits["pc", 5000]


def test_partitions_are_enough_for_the_multiprocessors(monkeypatch):
    """And as large as bins allow beyond that; where nothing is binned they are small."""
    many, bits = Graph.from_edges([0], [1], n=1 << 20), {}
    with emulated():
        for multiprocessors in (1, 132):
            device = choices.current_device()._replace(multiprocessors=multiprocessors)
            monkeypatch.setattr(choices, "current_device", lambda device=device: device)
            for mode in ("pc", "sc"):
                plan = decide(Smallest(many), target="gpu", mode=mode)
                bits[multiprocessors, mode] = traits_of(plan, emitted_of(plan), None).bits
    assert bits == {(1, "pc"): 15, (132, "pc"): 14, (1, "sc"): 12, (132, "sc"): 12}


def test_few_edges_go_without_bins(monkeypatch):
    """Unless partitions are spoken of."""
    graph, names = random_graph(6, 70, 300), {}
    with emulated():
        for most in (299, 300):
            monkeypatch.setattr(choosers, "MOST_WITHOUT_BINS", most)
            for size in (None, 32):
                plan = decide(Smallest(graph), target="gpu", partition_size=size, interleave=True)
                chosen = traits_of(plan, emitted_of(plan), None).strategies
                names[most, size] = [strategy.name for strategy in chosen if strategy.mode == PC]
    assert names.pop((300, None)) == []
    assert all(each == ["bins-combined"] for each in names.values()) and len(names) == 3


def test_more_edges_go_without_bins_where_levels_are_many(monkeypatch):
    """A mesh; on a small world, as near but of few levels, it is as anywhere else."""
    for most in ("MOST_WITHOUT_BINS", "MOST_ONLY_PUSHED", "MOST_SWEPT"):
        monkeypatch.setattr(choosers, most, 0)
    names = []
    with emulated():
        for graph in (generate("grid", width=16, height=100), generate("small_world", vertices=400)):
            for plan in (
                decide(Smallest(graph), target="gpu", interleave=True),
                decide(Reached(graph), target="gpu"),
            ):
                names.append({each.mode for each in traits_of(plan, emitted_of(plan), None).strategies})
    assert names == [{SC}, {SC}, {SC, PC}, {SC, PULL}]


@pytest.mark.parametrize("mode, column", [("sc", "sc"), ("pc", "pc"), ("pull", "pull"), ("edge-list", "sc")])
def test_partitions_count_for_the_mode_of_their_strategy(mode, column):
    case, graph = CASES["Smallest"], random_graph(6, 70, 300)
    with emulated():
        trace = gpop.run(started(case, graph), mode=mode, target="gpu", partition_size=32).trace
    for each in MODES:
        assert (trace.column(each.column).sum() > 0) == (each.name == column)


@pytest.mark.parametrize(
    "ratio, shares, divided",
    [(0.0, (0.9, 0.02), False), (1.6, (0.9, 0.02), True), (3.0, (0.9, 0.02), True), (1e9, (0.9, 0.02), False),
     (1.6, (0.6, 0.4), False)],
)  # fmt: skip
def test_partitions_choose_as_the_model_in_python_says(ratio, shares, divided, monkeypatch):
    """Partitions of which very different shares are active; above what one block does alone."""
    graph, size = random_graph(8, 2048, 60_000), 64
    rng = np.random.default_rng(2)
    share = np.repeat(np.where(rng.random(graph.n // size) < 0.5, *shares), size)
    share[::size] = 1  # every partition has something to send
    frontier = np.flatnonzero(rng.random(graph.n) < share)
    found = {}

    class Watching(engine.GpuEngine):
        def iterate(self):
            found["sizes"] = traits.device_sizes(self.ready.emitted, self.traits, False)
            found["messages"] = np.array(self.layout["messages"])
            found["segments"] = np.array(self.layout["segments"])
            return super().iterate()

    monkeypatch.setattr(again, "RestingEngine", Watching)
    with emulated():
        program = Smallest(graph)
        program.label = np.arange(graph.n)
        run = gpop.run(
            program, frontier, iterations=1, mode="auto", ratio=ratio, partition_size=size, target="gpu"
        )
    k, tails = graph.n // size, np.repeat(np.arange(graph.n), graph.out_degree) // size
    bins = np.unique(np.stack([tails, graph.indices // size]), axis=1)  # each is one segment: they are small
    assert np.array_equal(found["segments"][:k], np.bincount(bins[0], minlength=k))
    dense, moved, vertices, edges = 0, 0.0, 0, 0
    cost = idle = 0.0
    alone = np.zeros(2)
    for p in range(graph.n // size):
        own = np.arange(p * size, (p + 1) * size)
        active = np.intersect1d(own, frontier)
        part = gpu_bytes.Part(
            len(active), int(graph.out_degree[active].sum()), size, int(graph.out_degree[own].sum()),
            int(found["messages"][p]), int(found["segments"][p]),
        )  # fmt: skip
        pushed, binned = (f(part, found["sizes"]) for f in (gpu_bytes.push_bytes, gpu_bytes.combined_bytes))
        chosen = prefers_bins(part.edges, pushed, binned, ratio)
        dense += chosen
        moved += binned if chosen else pushed
        idle += 0 if chosen else gpu_bytes.combined_idle_bytes(part, found["sizes"])
        cost += binned / ratio if chosen else pushed
        alone += pushed, binned / max(ratio, 1e-9)
        vertices, edges = vertices + len(active), edges + part.active_edges
    record = run.trace[0]
    if dense and not divides(cost + idle / ratio, *alone):
        all_binned = prefers_bins(1, *alone, 1.0)
        dense, idle = all_binned * (graph.n // size), 0
        moved = alone[1] * ratio
    assert (record["partitions_pc"], record["partitions_sc"]) == (dense, graph.n // size - dense)
    assert (record["frontier"], record["active_edges"]) == (vertices, edges)
    assert divided == (0 < dense < graph.n // size)
    if dense:
        assert record["bytes"] == int(moved + idle)


def test_a_ratio_belongs_to_one_model(tmp_path, monkeypatch):
    """Bytes counted otherwise: what was measured before is not taken."""
    from gpop.gpu import calibrate

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(calibrate, "_ratios", {})
    (tmp_path / "gpop").mkdir()
    kept = tmp_path / "gpop" / "devices.json"
    kept.write_text(json.dumps({"emulator": 9.0}))
    monkeypatch.setattr(calibrate, "measure_ratio", lambda engine_of: 1.5)
    with emulated():
        assert calibrate.device_ratio(GpuEngine) == 1.5
        monkeypatch.setattr(calibrate, "measure_ratio", lambda engine_of: pytest.fail("measured again"))
        assert calibrate.device_ratio(GpuEngine) == 1.5
        monkeypatch.setattr(calibrate, "_model", lambda: "other")
        monkeypatch.setattr(calibrate, "measure_ratio", lambda engine_of: 2.5)
        assert calibrate.device_ratio(GpuEngine) == 2.5

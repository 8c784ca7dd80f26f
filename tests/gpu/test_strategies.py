"""What the records of the GPU's strategies say is what its kernels are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.apps import bfs
from gpop.compare import compare
from gpop.gpu import again, edge_arrays, engine, kernel, strategies
from gpop.gpu.choices import traits_of
from gpop.gpu.device_graph import HUBS
from gpop.gpu.preparing import emitted_of
from gpop.model.asked import ASKED, asked_on
from gpop.model.strategies import MODES, STRATEGIES
from gpop.plan import trace
from gpop.plan.plan import decide
from tests.gpu.cases import CASES, started
from tests.gpu.emulator import emulated
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
    alone = {"tables", "begin"}
    assert files - alone == own | common | included
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


@pytest.mark.slow
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

"""The CUDA baselines: compile without a warning everywhere, and give the CPU's answers on a GPU."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gpop
from gpop.common.errors import UsageError
from perf import gpu_baselines
from perf.gpu_baselines import APPS, PIECE, STRATEGIES, Baselines, lanes_per_vertex, source_text
from perf.gpu_contenders import deviation, expected
from perf.graphs import with_weights
from tests.gpu.cuda_compiler import compile_cuda
from tests.graphs import small_graphs


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_kernels_compile(architecture, tmp_path):
    assert compile_cuda(source_text(), architecture, tmp_path) == ""


def test_names_and_numbers_are_those_of_the_source():
    """What Python looks up and counts with is what the kernels are called and count with."""
    source = source_text()
    for app in ("bfs", "sssp"):
        for strategy in STRATEGIES:
            assert f"{app}_{strategy}(const unsigned*" in source
    for name in ("pagerank_edge", "pagerank_finish"):
        assert f"void {name}(" in source
    lanes = {lanes_per_vertex(100, 100 * degree) for degree in range(200)}
    assert lanes == {
        int(number) for number in re.findall(r"^PAGERANK_VERTEX\((\d+)\)$", source, re.MULTILINE)
    }
    assert f"const unsigned PIECE = {PIECE};" in source
    bounds = {(gpu_baselines.LEVEL_BLOCK, gpu_baselines.BLOCKS_PER_MULTIPROCESSOR)}
    assert {
        tuple(map(int, pair)) for pair in re.findall(r"__launch_bounds__\((\d+), (\d+)\)", source)
    } == bounds


def test_what_does_not_fit_is_refused():
    floats = gpop.Graph.from_edges([0], [1], np.array([0.5]))
    with pytest.raises(UsageError, match="expected whole-number weights"):
        Baselines(floats)


def hub() -> gpop.Graph:
    """A vertex with many pieces of edges, reached late, and long ways that get better."""
    rng = np.random.default_rng(5)
    n = 6 * PIECE
    tails = np.concatenate([np.zeros(n - 1, int), np.arange(n - 1), rng.integers(0, n, 3 * n)])
    heads = np.concatenate([np.arange(1, n), np.arange(1, n), rng.integers(0, n, 3 * n)])
    weights = rng.integers(1, 1000, len(tails)).astype(np.uint32)
    return gpop.Graph.from_edges(tails, heads, weights, n=n, name="hub")


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("name", [*small_graphs(), "hub"])
def test_answers_equal_the_cpus(name, app, strategy):
    graph = with_weights(hub() if name == "hub" else small_graphs()[name])
    baselines = Baselines(graph)
    for source in sorted({0, graph.n // 2, graph.n - 1}):
        found = baselines.run(app, strategy, source=source)
        assert deviation(found.values, expected(graph, app, source)) <= (1e-5 if app == "pagerank" else 0)
        assert found.seconds > 0
        if app == "bfs":
            levels = gpop.bfs(graph, source).level
            assert found.iterations in (levels.max(), levels.max() + 1)

"""The whole GPU target on the host (`emulator`): what its kernels compute, on a machine without a device."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import gpop
from gpop.gpu import limits
from tests.gpu.cases import CASES, Case, check, graph_of, in_plain_python, started
from tests.gpu.emulator import emulated, racing
from tests.gpu.foreign import FOREIGN
from tests.gpu.host_kernels import Array, Module
from tests.gpu.hub import check_hub
from tests.gpu.walks import BY_NAME, WALKED, formed
from tests.programs import random_graph
from tests.quick import quick, slow

DECLARED = [name for name in FOREIGN if name.endswith("Combined")]
SIZE = 32


@pytest.mark.parametrize("name", quick(DECLARED, *DECLARED[::12]))
def test_foreign_program_partition_centric(name):
    check_emulated(name, "pc")


@pytest.mark.parametrize(
    "name",
    slow(
        ["HighestCombined", "FloatVotesCombined", "NotedVotesCombined", "ShortVotesCombined", "Lowest"],
        "HighestCombined",
        "ShortVotesCombined",
    ),
)
def test_foreign_program_source_centric(name):
    """Folded minima and float sums, folded sums of two fields, sums that are swapped all the same."""
    check_emulated(name, "sc")


@pytest.mark.parametrize("name", ["NotedVotes", "FloatVotesCombined"])
def test_foreign_program_with_owners(name):
    check_emulated(name, "pull")


@pytest.mark.parametrize("name", quick(FOREIGN, *list(FOREIGN)[::12]))
def test_foreign_program_edge_by_edge(name):
    """A thread per edge; an owner where gatherFunc writes two fields and nothing is declared."""
    check_emulated(name, "edge-list")


def walks():
    """Every way with a program of another kind; all others are slow."""
    for i, mode in enumerate(BY_NAME):
        for j, name in enumerate(WALKED):
            yield pytest.param(name, mode, marks=[] if j == i % len(WALKED) else pytest.mark.slow)


@pytest.mark.parametrize("name, mode", [*walks()])
def test_every_way_to_walk_neighbours(name, mode):
    check_emulated(name, mode, WALKED[name])


@pytest.mark.parametrize("name, mode", [*formed()])
def test_every_form_of_them(name, mode):
    """Vertices are listed and counted one by one or together, or are all looked at."""
    check_emulated(name, mode, CASES[name])


@pytest.mark.parametrize("parameters", quick(["1-5", "2-2", "16-64", "32-32", "32-128"], "32-128"))
def test_virtual_warps_of_any_size(parameters):
    for way in ("vertex-push-warp", "vertex-pull-warp"):
        check_emulated("Colours", f"{way}:{parameters}", CASES["Colours"])


def check_emulated(name: str, mode: str, case: Case | None = None) -> None:
    case = case or FOREIGN[name]
    with emulated():
        for kind in ("small", "big"):
            check(case, graph_of(kind), in_plain_python(case, graph_of(kind)), mode, SIZE, "declared")


@pytest.mark.parametrize("name", quick(["NotedVotes", "Lowest", "FloatVotes"]))
def test_foreign_program_on_the_cpu(name):
    """The same answers on the other target."""
    case, graph = FOREIGN[name], graph_of("small")
    correct, said = in_plain_python(case, graph)
    for mode in ("sc", "pc", "auto", "pull"):
        program = started(case, graph)
        run = gpop.run(program, case.frontier, iterations=case.iterations, mode=mode, partition_size=SIZE)
        for field in case.cls.vertex_fields():
            np.testing.assert_array_equal(getattr(program, field), getattr(correct, field), err_msg=mode)
        assert case.cls.all_active or run.frontier.tolist() == sorted(said["frontier"]), mode


@pytest.mark.parametrize(
    "mode",
    slow(
        ["sc", "pc", "pull", "edge-list", "vertex-push", "vertex-push-warp", "hyb"],
        "edge-list",
        "vertex-push",
        "vertex-push-warp",
        "pc",
    ),
)
def test_sums_at_a_hub(mode):
    with emulated():
        check_hub(50_000, mode)


@pytest.mark.parametrize("device", [emulated, partial(racing, 1)], ids=["emulated", "racing"])
def test_what_is_set_for_an_emulated_device_is_put_back(device):
    before = dict(vars(limits))
    with device():
        assert vars(limits) != before
    assert vars(limits) == before


def test_a_lane_that_waits_in_vain_is_noticed():
    stuck = """
    extern "C" __global__ void stuck(int* seen) {
      if (threadIdx.x != 7) __syncthreads();
      seen[0] = 1;
    }
    """
    with pytest.raises(AssertionError, match="waits at a barrier"):
        Module(stuck).get_function("stuck")((1,), (32,), (np.zeros(1, np.int32).view(Array),))


@pytest.mark.parametrize("mode", quick(["sc", "pc", "auto"], "auto"))
def test_partitions_as_large_as_is_asked_for(mode):
    """Also where nothing needs them: by default those are smaller than shared memory would have them."""
    graph = gpop.Graph.from_edges(np.arange(99), np.arange(1, 100), n=20_000)
    for size in (1 << 13, 1 << 15):
        with emulated():
            found = gpop.bfs(graph, 0, target="gpu", mode=mode, partition_size=size)
        assert found.run.partition_size == size
        assert found.level[:100].tolist() == list(range(100))


@pytest.mark.parametrize("app", quick(["sssp", "pagerank"], "pagerank"))
def test_the_last_partition_is_no_multiple_of_a_warp(app):
    """Cells do not lie in the order of ids (kernels/strip.cuh): the last ones, too, are emptied and read."""
    graph = random_graph(3, 97, 900, weights=True)

    def found(**options):
        if app == "sssp":
            return gpop.sssp(graph, 3, method="messages", mode="pc", partition_size=64, **options).distance
        return gpop.pagerank(graph, iterations=4, mode="pc", partition_size=64, **options).rank

    with emulated():
        on_gpu = found(target="gpu")
    np.testing.assert_allclose(on_gpu, found(), rtol=1e-5)

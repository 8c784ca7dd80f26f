"""Kernels on several blocks of the host, in an order that a seed decides: what is found there, and levels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import gpop
from gpop.apps import sssp
from gpop.generate import generate
from gpop.gpu import again, choices, limits
from gpop.gpu.device import cupy
from tests.gpu import test_stepped
from tests.gpu.cases import CASES
from tests.gpu.emulator import racing
from tests.gpu.host_kernels import take_races
from tests.gpu.test_bottom_up import PROGRAMS, check
from tests.gpu.test_levels import AGAIN, STEPS
from tests.gpu.test_sweep import ASKS
from tests.programs import random_graph
from tests.quick import quick

BLOCKS, THREADS = 3, 64

IN_ANY_ORDER = (
    ("write in LevelWork<", "walk of", "walk of"),
    ("write in LevelWork<", "walk_shared", "walk_shared"),
    ("write in LevelsOf<", "put_back of", "put_back of"),
    ("write in gather_half of", "write in gather_half of"),
    ("scatterFunc", "atomicCAS"),
    ("scatterFunc", "atomicMin"),
    ("atomic write in hand_in", "write in take_out"),
    ("read in Owned::Owned of unsigned int ask_level", "write in put_back of ask_for_hub"),
)
"""Of two accesses that nothing keeps in order: nothing is written to one word by all whose bit is in it; a
message may have what its source has become meanwhile; who clears an entry has read it; whatever a lane finds
that a hub wants, it is left to the hub's warp."""


def run_kernel(body: str, size: int, threads: int = THREADS) -> np.ndarray:
    """What a kernel that is given ``out``, so many zeros, has made of them."""
    out = cupy().zeros(size, np.uint32)
    code = f'extern "C" __global__ void probe(unsigned* out) {{ {body} }}'
    cupy().RawModule(code=code).get_function("probe")((BLOCKS,), (threads,), (out,))
    return np.array(out)


def test_the_order_is_that_of_the_seed():
    lost = []
    for seed in (1, 1, 2, 3):
        with racing(seed, BLOCKS, THREADS):
            counted = run_kernel(
                "for (int i = 0; i < 40; ++i) out[0] = out[0] + 1, atomicAdd(out + 1, 1u);", 2
            )
        assert counted[1] == 40 * BLOCKS * THREADS > counted[0]
        lost.append(int(counted[0]))
    assert lost[0] == lost[1] and len(set(lost)) > 1


def test_blocks_share_what_is_theirs_and_meet():
    """Numbers of threads and blocks, shared memory, shuffles, and barriers of a warp and of a block."""
    body = """
        __shared__ unsigned all[64];
        const unsigned own = threadIdx.x, lane = own % 32, other = __shfl_xor_sync(0xffffffffu, own, 1);
        all[own] = other + 100 * blockIdx.x;
        __syncthreads();
        const unsigned number = blockIdx.x * blockDim.x + own;
        out[number] = all[blockDim.x - 1 - own] + (lane ? 0 : 1000 * gridDim.x);
    """
    for seed in range(4):
        with racing(seed, BLOCKS, THREADS, compares=True):
            found = run_kernel(body, BLOCKS * THREADS).reshape(BLOCKS, THREADS)
        assert not take_races()
        threads = np.arange(THREADS)
        expected = ((THREADS - 1 - threads) ^ 1) + np.where(threads % 32, 0, 1000 * BLOCKS)
        assert (found == expected + 100 * np.arange(BLOCKS)[:, None]).all()


HANDED = """
    volatile unsigned* flag = out + 1;
    if (blockIdx.x == 0 && threadIdx.x == 0) {{
      out[0] = 7;
      {give}
      *flag = 1;
    }}
    if (blockIdx.x == 1 && threadIdx.x == 0) {{
      while (*flag == 0) {{}}
      {take}
      out[2] = out[0];
    }}
"""
SHARED = """
    __shared__ unsigned all[64];
    all[threadIdx.x] = threadIdx.x;
    {meet}
    out[threadIdx.x + blockIdx.x * blockDim.x] = all[63 - threadIdx.x];
"""


@pytest.mark.parametrize(
    "body, said",
    [
        (HANDED.format(give="__threadfence();", take="__threadfence();"), None),
        (HANDED.format(give="", take="__threadfence();"), "global: write in probe"),
        (HANDED.format(give="__threadfence();", take=""), "global: write in probe"),
        (SHARED.format(meet="__syncthreads();"), None),
        (SHARED.format(meet=""), "shared: "),
        (SHARED.format(meet="__syncwarp();"), "shared: "),
    ],
)
def test_what_nothing_keeps_in_order_is_found(body, said):
    with racing(5, BLOCKS, THREADS, compares=True):
        run_kernel(body, BLOCKS * THREADS)
    races = take_races()
    assert any(said in race for race in races) if said else not races, races


def test_who_waits_for_ever_fails():
    with racing(1, BLOCKS, THREADS), pytest.raises(AssertionError, match="waits"):
        run_kernel("if (threadIdx.x == 0) __syncthreads(); else __syncwarp();", 1)


def unexpected(races: list[str]) -> list[str]:
    return [race for race in races if not any(all(part in race for part in known) for known in IN_ANY_ORDER)]


LEVELS = {
    "grid": {"prefers_sweeps": lambda vertices, edges: False},
    "cluster": {
        "prefers_sweeps": lambda vertices, edges: False,
        "prefers_cluster": lambda vertices, edges: True,
    },
    "walks": {},
    "pieces": {"PIECE": 2},
    "sweeps": {"LEVEL_EDGES": 6},
    "little": {"LEVEL_EDGES": 40},
    "asks": ASKS | {"HUB": 7},
}
"""Who has levels, and where they end."""


@pytest.fixture(params=quick(LEVELS, "little"))
def levels(request, monkeypatch):
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: False)
    for name, value in LEVELS[request.param].items():
        monkeypatch.setattr(limits if name.isupper() else choices, name, value)


def graphs():
    yield random_graph(3, 200, 1200, weights=True)
    yield generate("grid", width=20, height=12, weights=(1, 255))


def searches():
    """Where levels end, which graph, and how wide buckets are: what takes long on the grid is slow."""
    for where, number, delta in product(LEVELS, (0, 1), (None, 100)):
        often = (where, number, delta) == ("little", 1, None)
        yield pytest.param(where, number, delta, marks=[] if often else pytest.mark.slow)


@pytest.mark.parametrize("seed", quick(range(4), 1))
@pytest.mark.parametrize("levels, number, delta", [*searches()], indirect=["levels"])
def test_searches_on_several_blocks(levels, number, delta, seed):
    """More than once on one workspace, which each has to leave clean."""
    graph = list(graphs())[number]
    with racing(seed, BLOCKS, THREADS, compares=True):
        source = int(np.argmax(graph.out_degree))
        level = gpop.bfs(graph, source, mode="sc").level
        for mode in ("sc", "auto"):
            for _ in range(2):
                if delta is None:
                    assert np.array_equal(gpop.bfs(graph, source, target="gpu", mode=mode).level, level)
                found = gpop.sssp(graph, source, target="gpu", mode=mode, delta=delta)
                assert sssp.verify(graph, found, source) is None
    assert not unexpected(take_races())


@pytest.mark.parametrize(
    "case", quick([STEPS, AGAIN, PROGRAMS["Reached"]], AGAIN), ids=lambda case: case.cls.__name__
)
def test_programs_on_several_blocks(levels, case):
    with racing(11, BLOCKS, THREADS, compares=True):
        for graph in graphs():
            for limit in (case.iterations, 4):  # then what was swept has the bits of what is left
                for frontier in (case.frontier[:1], case.frontier):
                    check(case._replace(iterations=limit, frontier=frontier), graph, mode="sc", ratio=1.0)
    assert not unexpected(take_races())


@pytest.mark.slow
def test_block_0_stays_with_the_others_where_a_level_lies_beside(monkeypatch):
    """After a level of many vertices comes one of few, of which one block finds more than it has room for."""
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: False)
    monkeypatch.setattr(limits, "LEAST_SHARED", 256)
    many, few, layers = 1020, 510, 5
    first = np.arange(1, 1 + many)
    rest = 1 + many + np.arange(few * layers)
    src = np.concatenate([np.zeros(many, np.int64), first, rest[:-few]])
    dst = np.concatenate([first, 1 + many + first % few, rest[few:]])
    graph = gpop.Graph.from_edges(src, dst)
    for seed in range(3):
        with racing(seed, 2, THREADS, compares=True):
            found = gpop.bfs(graph, 0, target="gpu", mode="sc")
        assert np.array_equal(found.level, gpop.bfs(graph, 0, mode="sc").level)
        assert not unexpected(take_races())


@pytest.mark.parametrize("alone", [1, 2])
def test_what_the_others_had_is_forgotten_when_block_0_comes_back(alone, monkeypatch):
    """Levels of many vertices, then so many of few, of which all blocks have found some, then many again."""
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: False)
    many, few, rays = 1100, 300, 5
    first = np.arange(1, 1 + many)
    chains = 1 + many + np.arange(few * (1 + alone))
    ends = chains[-few:]
    src = np.concatenate([np.zeros(many, np.int64), first[:few], chains[:-few], np.repeat(ends, rays)])
    dst = np.concatenate([first, chains, chains[-1] + 1 + np.arange(few * rays)])
    graph = gpop.Graph.from_edges(src, dst)
    with racing(3, BLOCKS, THREADS):
        found = gpop.bfs(graph, 0, target="gpu", mode="sc")
    assert found.trace.column("frontier").tolist() == [1, many, *[few] * (1 + alone), few * rays]
    assert np.array_equal(found.level, gpop.bfs(graph, 0, mode="sc").level)


@pytest.mark.slow
def test_halves_of_iterations_on_several_blocks(monkeypatch):
    """Block 0 by itself is through, and has planned what comes next, before another one has looked."""
    monkeypatch.setattr(again, "RestingEngine", test_stepped.Stepped)
    case, graph = CASES["Smallest"], random_graph(21, 90, 400, weights=True)
    for seed in (1, 2):
        with racing(seed, BLOCKS, THREADS, compares=True):
            check(case, graph, mode="sc", ratio=1.0)
    assert not unexpected(take_races())

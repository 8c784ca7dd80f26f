"""Every engine compiles for the GPUs that are supported, without a warning; no GPU is needed.

An engine is a program x how messages reach their vertex x how those of inactive vertices are told apart.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from gpop.common.errors import ProgramError
from gpop.gpu import limits
from gpop.gpu.emit import emit
from gpop.gpu.emitted import Emitted
from gpop.gpu.kernel import FUSED, ON_RANKS, PEERS, RANKED, STEPPED, make_source
from gpop.gpu.ranked import RankedEmitter
from gpop.gpu.strategies import strategies_of
from gpop.gpu.traits import OWNER, SWAP, Traits, cells_bytes, folded_dtype, lane_ids, push_of, shared_bytes
from gpop.model.asked import code_of, split
from gpop.model.strategies import PULL, STRATEGIES
from gpop.plan.hidden import MASK_NONE, MASK_SENT, hidden_of
from gpop.program.lowering import lower
from tests.gpu.cuda_compiler import compile_cuda
from tests.gpu.probes import PROBES
from tests.gpu.shipped import APPS, SHIPPED
from tests.quick import quick, slow

PROGRAMS = SHIPPED | PROBES
ARCHITECTURES = ("sm_80", "sm_90")
WAYS = ("declared", "swap", "owner")
PARTS = [("sc", FUSED), ("pc", FUSED), ("edge-list", FUSED), ("auto", STEPPED)]
NAMED = [strategy.name for strategy in STRATEGIES if strategy.by_name and strategy.name != "edge-list"]


@lru_cache
def emitted_of(name: str) -> Emitted:
    cls, weight = PROGRAMS[name]
    return emit(cls, lower(cls), weight)


def source_of(
    name: str,
    way: str,
    masked: bool = False,
    mode: str = "auto",
    launched: tuple[str, ...] = FUSED,
    streamed: bool = False,
    tree: bool = False,
    clustered: bool = False,
    told: bool = False,
) -> str | None:
    """The source of an engine, or None where a program cannot be run that way.

    ``launched`` may be that of one of several ranks. ``masked`` hides the messages of inactive vertices by a
    mark, whatever the program declares.
    """
    cls, weight = PROGRAMS[name]
    emitted = emitted_of(name)
    if launched in ON_RANKS:
        emitted = RankedEmitter(cls, lower(cls), told).run(weight)
    combine = cls.combine if way == "declared" else None
    asks = code_of(mode) == PULL
    push = OWNER if way == "owner" or asks else push_of(emitted, combine)
    if way == "swap" and (push != SWAP or cls.combine is None):
        return None
    mask, value = hidden_of(cls, emitted.message_dtype)
    if masked:
        if cls.all_active or mask == MASK_SENT:
            return None
        mask, value = MASK_SENT, None
    weight = None if weight is None else np.dtype(weight)
    bin_weight = np.dtype(np.uint8) if weight == np.uint32 else weight
    pulls = "needsFunc" in emitted.defined and not cls.all_active
    live = not cls.all_active and push != OWNER
    levels = live and push == SWAP and lower(cls).filters_early
    strategies = strategies_of(mode, push == OWNER, combine is not None, pulls, levels, streamed)
    traits = Traits(
        15, weight, bin_weight, cls.all_active, mask, value, combine, push, cls.track_touched, live,
        strategies, split(mode)[1], streamed=streamed, tree=tree, clustered=clustered, told=told,
    )  # fmt: skip
    return make_source(emitted, traits, launched)


def check(name: str, way: str, architectures: tuple[str, ...], folder, masked: bool = False) -> None:
    source = source_of(name, way, masked)
    if source is None:
        return
    for architecture in architectures:
        assert compile_cuda(source, architecture, folder) == ""


@pytest.mark.parametrize("name", slow(["SSSP", "PageRank", "Rumours", "BFS"], "SSSP"))
def test_representative_engines_compile(name, tmp_path):
    check(name, "declared", ARCHITECTURES[1:], tmp_path)


@pytest.mark.parametrize("mode, launched", PARTS)
def test_engines_of_one_mode_and_the_two_halves_compile(mode, launched, tmp_path):
    source = source_of("SSSP", "declared", mode=mode, launched=launched)
    assert compile_cuda(source, ARCHITECTURES[1], tmp_path) == ""


@pytest.mark.parametrize("name", quick(["BFS", "SSSP", "PageRank", "Rumours"], "SSSP"))
def test_engines_whose_edges_are_streamed_compile(name, tmp_path):
    for way in ("declared", "owner"):
        source = source_of(name, way, streamed=True)
        assert compile_cuda(source, ARCHITECTURES[1], tmp_path) == ""


@pytest.mark.parametrize("launched", quick([FUSED, STEPPED], FUSED))
def test_engines_that_ask_a_tree_compile(launched, tmp_path):
    source = source_of("BFS", "declared", launched=launched, tree=True)
    assert compile_cuda(source, ARCHITECTURES[1], tmp_path) == ""


def test_engines_with_levels_of_a_cluster_compile(tmp_path):
    source = source_of("BFS", "declared", mode="sc", clustered=True)
    assert "gpop_levels" in source and compile_cuda(source, ARCHITECTURES[1], tmp_path) == ""


@pytest.mark.parametrize("mode", quick(NAMED, "vertex-pull-warp"))
def test_engines_of_what_has_a_name_compile(mode, tmp_path):
    for name in ("SSSP", "Rumours"):
        assert compile_cuda(source_of(name, "declared", mode=mode), ARCHITECTURES[1], tmp_path) == ""


def test_an_engine_that_is_told_who_is_active_elsewhere_compiles(tmp_path):
    source = source_of("BFS", "declared", mode="sc", launched=PEERS, told=True)
    assert "#define TOLD 1" in source
    assert compile_cuda(source, ARCHITECTURES[1], tmp_path) == ""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode, launched", [*PARTS, ("auto", RANKED), ("auto", PEERS)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_engine_of_one_mode_and_the_two_halves_compile(name, mode, launched, tmp_path):
    for way in WAYS:
        source = source_of(name, way, mode=mode, launched=launched)
        if source is not None and launched is PEERS and "#define PRIORITISED 1" in source:
            assert "asked by the host" in compile_cuda(source, ARCHITECTURES[1], tmp_path)
        elif source is not None:
            assert compile_cuda(source, ARCHITECTURES[1], tmp_path) == ""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_engine_compiles(name, way, tmp_path):
    check(name, way, ARCHITECTURES, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", APPS)
def test_every_app_compiles_with_marked_messages(name, tmp_path):
    check(name, "declared", ARCHITECTURES, tmp_path, masked=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_engine_has_a_source(name):
    sources = [source_of(name, way) for way in WAYS]
    assert sources[0] is not None and sources[2] is not None
    cls, weight = PROGRAMS[name]
    for line in (f"#define ALL_ACTIVE {int(cls.all_active)}", f"#define WEIGHTED {int(weight is not None)}"):
        assert all(line in source for source in sources if source)


def test_a_source_that_does_not_compile_is_noticed(tmp_path):
    said = compile_cuda(source_of("SSSP", "declared").replace("#define BITS 15", ""), "sm_90", tmp_path)
    assert "BITS" in said


def test_messages_are_folded_in_at_least_four_bytes():
    assert folded_dtype(np.dtype(np.int8), "min") == np.int32
    assert folded_dtype(np.dtype(np.bool_), "or") == np.uint32
    assert folded_dtype(np.dtype(np.float64), "add") == np.float64
    with pytest.raises(ProgramError, match="whole numbers"):
        folded_dtype(np.dtype(np.float32), "or")


def test_shared_memory_holds_a_cell_and_a_bit_per_vertex():
    weight, emitted = PROGRAMS["SSSP"][1], emitted_of("SSSP")
    traits = Traits(
        4, np.dtype(weight), np.dtype(np.uint8), False, MASK_NONE, None, "min", SWAP, False, False, ()
    )
    assert cells_bytes(emitted, traits) == 16 * emitted.message_dtype.itemsize + 16  # a word of bits, padded
    buffers = 4 * limits.BLOCK_THREADS * lane_ids(traits)
    assert shared_bytes(emitted, traits) == cells_bytes(emitted, traits) + buffers
    owned = traits._replace(push=OWNER)  # the L1 cache has the rest
    assert shared_bytes(emitted, owned) == limits.LEAST_SHARED

"""The analytical model of the communication modes, against bytes that were added up by hand."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpop.model.bytes import CURSOR_BYTES, PROBE_BYTES, Sizes, edges_looked_at, pc_bytes, pull_bytes, sc_bytes
from gpop.model.choosers import DEFAULT_RATIO, VISIT_BYTES, prefers_pc
from gpop.model.models import MODELS

FOUR = Sizes(offset=4, edge=4, id=4, source=4, value=4, weight=0)
COMPACT = Sizes(offset=8, edge=4, id=2, source=2, value=4, weight=0)
WEIGHTED = Sizes(offset=8, edge=8, id=2, source=2, value=8, weight=1)

# V_a, E_a, E, M, k, ratio, sizes -> bytes of SC, bytes of PC, decision; each worked out by hand:
#   SC = V_a*offset + E_a*edge + 2*(E_a*M/E*value + E_a*(id + weight))
#   PC = k*offset + M*source + 2*M*value + E*(id + weight)
BY_HAND = [
    # 10*4 + 160*4 + 2*(80*4 + 160*4) = 2600;   8*4 + 80*4 + 2*80*4 + 160*4 = 1632 <= 2*2600
    (10, 160, 160, 80, 8, 2.0, FOUR, 2600, 1632, True),
    # 1*4 + 2*4 + 2*(1*4 + 2*4) = 36;           1632 > 2*36
    (1, 2, 160, 80, 8, 2.0, FOUR, 36, 1632, False),
    # 2*8 + 50*4 + 2*(25*4 + 50*2) = 616;       4*8 + 100*2 + 2*100*4 + 200*2 = 1432 > 2*616 = 1232
    (2, 50, 200, 100, 4, 2.0, COMPACT, 616, 1432, False),
    # the same with ratio 3: 1432 <= 1848
    (2, 50, 200, 100, 4, 3.0, COMPACT, 616, 1432, True),
    # 5*8 + 40*8 + 2*(40*8 + 40*3) = 1240;      10*8 + 80*2 + 2*80*8 + 80*3 = 1760 > 1*1240
    (5, 40, 80, 80, 10, 1.0, WEIGHTED, 1240, 1760, False),
]


@pytest.mark.parametrize("v, active, edges, messages, k, ratio, sizes, sc, pc, dense", BY_HAND)
def test_by_hand(v, active, edges, messages, k, ratio, sizes, sc, pc, dense):
    assert sc_bytes(v, active, active * messages / edges, sizes) == sc
    assert pc_bytes(edges, messages, k, sizes) == pc
    assert prefers_pc(v, active, edges, messages, k, sizes, ratio) is dense


def test_equality_is_partition_centric():
    # SC: 8*4 + 3*24*4 + 2*12*4 = 416;   PC: 48*4 + 3*32*4 + 64*4 = 832
    assert 2 * sc_bytes(8, 24, 12, FOUR) == pc_bytes(64, 32, 48, FOUR) == 832
    assert prefers_pc(8, 24, 64, 32, 48, FOUR, 2.0)
    assert not prefers_pc(8, 24, 64, 32, 49, FOUR, 2.0)


def test_edges_that_need_no_bin():
    # 2*8 + 50*4 + 2*((50/200)*(100 - 60)*4 + (50 - (50/200)*120)*2) = 376, no longer 616
    assert sc_bytes(2, 50, 10, COMPACT, 30) == 376
    assert prefers_pc(2, 50, 200, 100, 4, COMPACT, 3.0)  # 1432 <= 3*616
    assert not prefers_pc(2, 50, 200, 100, 4, COMPACT, 3.0, 120, 60)  # 1432 > 3*376
    assert prefers_pc(2, 50, 200, 100, 4, COMPACT, 3.9, 120, 60)


def test_the_cache_counts_in_the_choice():
    # SC: 616 + 50*8 + 25*40 = 2016;   PC: 1432 + 200*8 = 3032 = 1.504*2016
    cached = COMPACT._replace(probe=8, cursor=40)
    assert [prefers_pc(2, 50, 200, 100, 4, cached, ratio) for ratio in (1.5, 1.51)] == [False, True]
    # half of the edges and messages direct: SC 16 + 200 + 2*(12.5*4 + 25*2) + 50*8 + 12.5*40 = 1316
    chosen = [prefers_pc(2, 50, 200, 100, 4, cached, ratio, 100, 50) for ratio in (2.30, 2.31)]
    assert chosen == [False, True]
    assert sc_bytes(2, 50, 25, cached) == 616
    assert pc_bytes(200, 100, 4, cached) == 1432


@given(
    v=st.integers(0, 10**6), active=st.integers(0, 10**8), spare=st.integers(0, 10**8),
    r=st.floats(0, 1), k=st.integers(1, 10**5),
)  # fmt: skip
def test_the_papers_sizes_give_the_papers_formulas(v, active, spare, r, k):
    d_i = d_v = 4
    edges = active + spare
    assert sc_bytes(v, active, r * active, FOUR) == pytest.approx(
        v * d_i + 3 * active * d_i + 2 * r * active * d_v
    )
    assert pc_bytes(edges, r * edges, k, FOUR) == pytest.approx(
        edges * ((r + 1) * d_i + 2 * r * d_v) + k * d_i
    )


@given(
    v=st.integers(1, 10**6), active=st.integers(1, 10**7), spare=st.integers(0, 10**8),
    r=st.floats(0.01, 1), k=st.integers(1, 10**5), ratios=st.tuples(st.floats(0, 100), st.floats(0, 100)),
)  # fmt: skip
def test_monotone_in_the_ratio(v, active, spare, r, k, ratios):
    edges = active + spare
    low, high = (prefers_pc(v, active, edges, r * edges, k, COMPACT, ratio) for ratio in sorted(ratios))
    assert high or not low
    assert not prefers_pc(v, active, edges, r * edges, k, COMPACT, 0.0)
    assert prefers_pc(v, active, edges, r * edges, k, COMPACT, 1e30)
    assert prefers_pc(v, active, edges, r * edges, k, COMPACT, math.inf)


@pytest.mark.parametrize(
    "ratio, r, share",
    [
        (2.0, 1.0, 0.395), (2.0, 0.5, 0.308), (2.0, 0.25, 0.246),
        (1.5, 1.0, 0.527), (1.5, 0.5, 0.410), (1.5, 0.25, 0.327),
        (1.0, 1.0, 0.790), (1.0, 0.5, 0.615), (1.0, 0.25, 0.491),
    ],
)  # fmt: skip
def test_switch_points(ratio, r, share):
    """Share of active edges from which PC is chosen, at V_a = E_a/16 and without the k offsets."""
    edges = 1_000_000

    def dense(share):
        return prefers_pc(share * edges / 16, share * edges, edges, r * edges, 0, FOUR, ratio)

    assert not dense(share - 0.001)
    assert dense(share + 0.001)


@given(v=st.integers(0, 1000), active=st.integers(0, 1000), r=st.floats(0.01, 1), ratio=st.floats(0.5, 4))
def test_pc_does_work_within_a_constant_of_the_active_edges(v, active, r, ratio):
    edges = 1000
    if prefers_pc(v, active, edges, r * edges, 1, FOUR, ratio):
        assert edges <= ratio * (v + 5 * active)


def test_nothing_to_send_is_source_centric():
    assert not prefers_pc(3, 0, 0, 0, 8, FOUR, 2.0)
    assert DEFAULT_RATIO == 2.0


@pytest.mark.parametrize(
    "active, vertices, edges, looked_at",
    [
        (100, 50, 100, 75),  # two in-edges each, half of them active: 1, and 1 more for every second vertex
        (300, 10, 100, 10 * (1 - 0.25**10) / 0.75),
        (1, 10**6, 10**8, 10**8),  # hardly any is active: all are looked at
        (10**9, 7, 70, 7),  # all are active: the first one will do
        (0, 5, 60, 60),
        (9, 0, 0, 0),
    ],
)
def test_edges_looked_at(active, vertices, edges, looked_at):
    assert edges_looked_at(active, vertices, edges) == pytest.approx(looked_at, rel=1e-4)


@given(active=st.integers(1, 10**6), vertices=st.integers(1, 10**6), degree=st.floats(1, 1000))
def test_more_active_edges_end_the_search_sooner(active, vertices, degree):
    fewer, more = (edges_looked_at(a, vertices, vertices * degree) for a in (active, 2 * active))
    assert vertices * 0.999 <= more <= fewer * 1.001
    assert fewer <= vertices * degree * 1.001


def test_pull_bytes_by_hand():
    # 1000*(8 + 2*2) + 30*2 + 1000/8 + 50*(4 + 8);  weighted: 50*(8 + 8)
    assert pull_bytes(1000, 30, 50, COMPACT) == 12785
    assert pull_bytes(1000, 30, 50, WEIGHTED) == 12985


def test_the_guide_says_what_the_model_adds():
    guide = (Path(__file__).resolve().parents[2] / "docs/guide/modes.md").read_text()
    rows = {model.name: re.search(rf"^\| `{model.name}`.*$", guide, re.MULTILINE)[0] for model in MODELS}
    assert f"{PROBE_BYTES} bytes for every vertex" in rows["engine"]
    assert f"{CURSOR_BYTES} for the insertion points" in rows["engine"]
    assert f"{VISIT_BYTES} bytes for every vertex that sc would visit" in rows["engine"]
    assert rows["paper"].startswith("| `paper` | equation 1 alone")

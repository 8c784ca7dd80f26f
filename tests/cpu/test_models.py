"""What ``model=`` changes: where the choice flips, with the sizes that the engine uses, and nothing else.

The switch points are worked out from graph and frontier by the formulas of the paper and of model/bytes.py,
written out here once more.
"""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.cpu import specialise
from gpop.generate import generate
from gpop.model.bytes import CURSOR_BYTES, PROBE_BYTES
from gpop.model.models import MODEL_NAMES
from tests.programs import Distance, Rank, Smallest

BITS = 5
NARROW = 1e-12
RMAT = generate("rmat", scale=10, degree=8, seed=11)
WEIGHTED = generate("rmat", scale=10, degree=8, seed=12, weights=(1, 255))


class Marked(Smallest):
    """Leaves it to the engine to hide the messages of inactive vertices: a byte beside each."""

    inactive_message = None


def local_graph():
    """Vertices with 6 edges in their partition and 2 to others."""
    rng = np.random.default_rng(8)
    tails = np.repeat(np.arange(1024), 8)
    inside = (tails >> BITS << BITS) + rng.integers(0, 1 << BITS, tails.size)
    anywhere = rng.integers(0, 1024, tails.size)
    return gpop.Graph.from_edges(tails, np.where(np.arange(tails.size) % 8 < 6, inside, anywhere))


LOCAL = local_graph()

# graph, program, its field, bytes of a value, of a weight, of a mark, whether most edges stay in a partition
CASES = {
    "plain": (RMAT, Smallest, 4, 0, 0, False),
    "marked": (RMAT, Marked, 4, 0, 1, False),
    "weighted": (WEIGHTED, Distance, 8, 1, 0, False),
    "local": (LOCAL, Smallest, 4, 0, 0, True),
}


def made(graph, kind):
    program = kind(graph)
    if kind is Distance:
        program.distance = np.random.default_rng(0).integers(0, 99, graph.n)
    else:
        program.label = np.random.default_rng(0).permutation(graph.n)
    return program


def one_iteration(case, frontier, model, ratio):
    graph, kind = CASES[case][:2]
    options = {"partition_size": 1 << BITS, "threads": 1, "iterations": 1}
    return gpop.run(made(graph, kind), frontier, model=model, ratio=ratio, **options).trace[0]


def predicted(case, frontier, model):
    """Bytes of SC and of PC, and the ratio from which PC is chosen, of the one partition of a frontier."""
    graph, _, d_v, d_w, d_m, local = CASES[case]
    d_o, d_e, d_i, d_s = 8, 4 + d_w, 2, 2
    p, k = frontier[0] >> BITS, graph.n >> BITS
    assert (frontier >> BITS == p).all()
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    here = tails >> BITS == p
    columns = graph.indices[here] >> BITS
    edges, messages = columns.size, np.unique([tails[here], columns], axis=1).shape[1]
    active = int(graph.out_degree[frontier].sum())
    inside, own = 0, 0
    if local and model == "engine":
        inside, own = int((columns == p).sum()), np.unique(tails[here][columns == p]).size
    share = active / edges
    sent = share * (messages - own)
    sc = frontier.size * d_o + active * d_e + 2 * (sent * d_v + (active - share * inside) * (d_i + d_w))
    pc = k * d_o + messages * (d_s + 2 * (d_v + d_m)) + edges * (d_i + d_w)
    if model == "paper":
        return sc, pc, pc / sc
    return sc, pc, (pc + edges * PROBE_BYTES) / (sc + active * PROBE_BYTES + sent * CURSOR_BYTES)


@pytest.mark.parametrize("model", MODEL_NAMES)
@pytest.mark.parametrize("case", CASES)
def test_the_ratio_at_which_the_choice_flips(case, model):
    """Just below it the partition goes source-centric, just above partition-centric; bytes are as said."""
    rng = np.random.default_rng(3)
    graph, flips = CASES[case][0], []
    for p, size in ((0, 3), (1, 30), (5, 8), (12, 1), (12, 16), (20, 32)):
        members = np.arange(p << BITS, (p + 1) << BITS)
        members = members[graph.out_degree[members] > 0]
        frontier = np.sort(rng.choice(members, min(size, members.size), replace=False))
        sc, pc, flip = predicted(case, frontier, model)
        below = one_iteration(case, frontier, model, flip * (1 - NARROW))
        above = one_iteration(case, frontier, model, flip * (1 + NARROW))
        assert (below["partitions_sc"], below["partitions_pc"]) == (1, 0), (p, size, flip)
        assert (above["partitions_sc"], above["partitions_pc"]) == (0, 1), (p, size, flip)
        assert below["bytes"] == pytest.approx(sc, abs=1)  # whole bytes are noted
        assert above["bytes"] == pc
        flips.append(flip)
    assert max(flips) > 2 * min(flips)


def test_the_models_choose_differently():
    """At one ratio between their switch points each model goes its own way, and the answers are the same."""
    frontier = np.arange(5 << BITS, 6 << BITS)
    flips = [predicted("plain", frontier, model)[2] for model in MODEL_NAMES]
    modes = [
        one_iteration("plain", frontier, model, sum(flips) / 2)["partitions_pc"] for model in MODEL_NAMES
    ]
    assert sorted(modes) == [0, 1]
    assert (flips[0] < flips[1]) == (modes[0] > modes[1])
    answers = []
    for model in MODEL_NAMES:
        program = made(RMAT, Smallest)
        run = gpop.run(program, model=model, partition_size=1 << BITS, ratio=sum(flips) / 2)
        assert run.trace.summary["model"] == model
        answers.append(program.label.copy())
    assert np.array_equal(*answers)


def test_the_papers_model_never_pulls():
    """Neither in a search nor where every vertex is active, whatever pull would save."""
    graph = generate("rmat", scale=12, degree=16, seed=2, symmetrize=True)
    source = int(np.argmax(graph.out_degree))
    by_engine, by_paper = (gpop.bfs(graph, source, model=model, ratio=1.0) for model in MODEL_NAMES)
    assert by_engine.trace.column("partitions_pull").sum() > 0
    assert by_paper.trace.column("partitions_pull").sum() == 0
    assert by_paper.trace.column("partitions_sc").sum() > 0
    assert np.array_equal(by_engine.level, by_paper.level)
    assert gpop.bfs(graph, source, model="paper", mode="pull").trace.column("partitions_pull").sum() > 0


@pytest.mark.parametrize("ratio, column", [(2.0, "partitions_pc"), (0.01, "partitions_sc")])
def test_the_papers_model_decides_where_every_vertex_is_active(ratio, column):
    program = Rank(RMAT)
    run = gpop.run(program, iterations=1, model="paper", ratio=ratio, partition_size=1 << BITS)
    assert run.trace[0][column] == run.partitions == 32


def test_both_models_run_the_same_kernel(monkeypatch):
    entries, specialised = [], specialise.compile_entry
    monkeypatch.setattr(
        specialise, "compile_entry", lambda *given: entries.append(specialised(*given)) or entries[-1]
    )
    for model in MODEL_NAMES:
        one_iteration("plain", np.arange(32), model, 2.0)
    assert len(entries) >= 2 and len(set(entries)) == 1


def test_an_unknown_model_is_refused():
    with pytest.raises(gpop.UsageError, match="^model 'best': expected one of engine, paper$"):
        gpop.bfs(RMAT, 0, model="best")


@pytest.mark.slow
def test_components_by_a_model_are_found_by_messages():
    graph = generate("grid", width=9, height=7)
    assert gpop.connected_components(graph, model="paper").trace.summary["method"] == "labels"
    assert gpop.connected_components(graph, model="engine").trace.summary["method"] == "afforest"

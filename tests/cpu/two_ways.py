"""For runs whose two ways take turns: which they took, and programs whose bits tell the order of sums."""

from __future__ import annotations

import numpy as np

import gpop
from tests.programs import Rank


def ways_of(run) -> list[str]:
    pulled, sent = run.trace.column("partitions_pull"), run.trace.column("partitions_pc")
    assert ((pulled > 0) != (sent > 0)).all()
    return ["pull" if each else "pc" for each in pulled]


def left_by(cls, graph, iterations=7, **options):
    program = cls(graph)
    for name in ("rank", "value", "share"):
        if name in program._fields:
            setattr(program, name, np.linspace(0.1, 1, graph.n))
    run = gpop.run(program, iterations=iterations, **options)
    return b"".join(np.array(values).tobytes() for _, values in sorted(program._fields.items())), run


class Doubled(Rank):
    """In float64."""

    rank = gpop.VertexField(np.float64)
    inflow = gpop.VertexField(np.float64)


class Added(Rank):
    """In float32, added up in float64 where there is a hub, with weights."""

    combine = "add"

    def applyWeight(self, value, weight):
        return value * weight


def unsorted_and_doubled(weights: bool) -> gpop.Graph:
    """Edges in no order, some of them many times, each with its own weight."""
    rng = np.random.default_rng(5)
    heads, tails = rng.zipf(1.3, 6000) % 700, rng.integers(0, 700, 6000)
    order = np.argsort(tails, kind="stable")
    indptr = np.append(0, np.cumsum(np.bincount(tails, minlength=700)))
    values = rng.random(6000).astype(np.float32) if weights else None
    return gpop.Graph(indptr, heads[order].astype(np.uint32), values)

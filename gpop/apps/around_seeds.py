"""Around a seed: what the local algorithms (nibble, heat_kernel, pagerank_nibble) share.

A local algorithm spreads probability from its seeds and touches a small part of the graph. Its program
stays with the graph, all fields zero; a call sets the seeds, runs, reads the touched vertices and zeroes them
again. After the first call on a graph no step is proportional to the number of vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.checkpoint_options import CHECKPOINT_OPTIONS
from gpop.apps.result import AppResult, Holds, holds
from gpop.graph.kept import Kind

PIECE = 1 << 15
"""Vertices of the result that are handled at a time, so that what this takes stays in the cache."""


@dataclass(frozen=True, kw_only=True)
class LocalResult(AppResult):
    """A vector over the vertices that is zero far from the seeds.

    ``vertices`` (ascending) and ``values``: where it is not zero; ``probability``: all of it, made on demand.
    """

    vertices: np.ndarray = holds(Holds.LIST)
    values: np.ndarray = holds(Holds.BESIDE_LIST, column="probability")
    n: int = holds(Holds.NO_VERTICES, repr=False)

    @cached_property
    def probability(self) -> np.ndarray:
        """One value per vertex of the graph."""
        dense = np.zeros(self.n, self.values.dtype)
        dense[self.vertices] = self.values
        return dense


class Spreading(gpop.Program):
    """Active vertices send the same share over each of their out-edges, and shares add up. float32.

    An inactive vertex has a share of 0, and a message of 0 does no harm: whom it alone makes active,
    filterFunc drops. So gatherFunc need not tell the two kinds apart, which would cost a seventh of its time.
    """

    share = gpop.VertexField(np.float32)
    inactive_message = gpop.HARMLESS
    combine = "add"
    track_touched = True

    def scatterFunc(self, node):
        return self.share[node]


class Pushing(Spreading):
    """What arrives is a residual; what a vertex keeps of its residuals adds up in ``total``."""

    total = gpop.VertexField(np.float32)
    residual = gpop.VertexField(np.float32)

    def gatherFunc(self, value, node):
        self.residual[node] += value
        return True


def local_app(**own: Any) -> cli.App:
    """The command line of a local algorithm; ``own`` is what is particular about it."""
    return cli.App(
        refuses=("interleave", *CHECKPOINT_OPTIONS),
        source="many",
        loop="frontier",
        headline=_headline,
        columns=lambda graph, result: {"probability": result.values},
        **own,
    )


def _headline(graph: gpop.Graph, result: LocalResult, given: Any) -> str:
    reached = report.share(result.vertices.size, graph.n)
    best = report.top(graph, result.values, result.vertices)
    return f"{reached} reached from {given.name}; most probable\n{best}"


@contextmanager
def clean_program(kind: type[gpop.Program], graph: gpop.Graph) -> Iterator[gpop.Program]:
    """The graph's own program of this kind. After an interrupted run it is not put back.

    It is kept in a list: to take it out and to put it back counts no bytes.
    """
    spare = graph.store.get(Kind.PROGRAM, kind)
    try:
        program = spare.pop()
    except (AttributeError, IndexError):  # there was no call before, or another one has it
        spare, program = None, kind(graph)
    try:
        yield program
    except BaseException:
        graph.store.take(Kind.PROGRAM, kind)  # whose bytes are counted there
        raise
    if spare is None:
        graph.store.put(Kind.PROGRAM, [program], kind, about=kind.__name__, holds=program._fields.made)
    else:
        spare.append(program)


def take(program: gpop.Program, run: gpop.Run, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and values where a field is not zero; every field of the touched vertices becomes zero.

    Piece by piece: temporary arrays as large as the result would cost more than the work itself.
    """
    touched, field = run.touched, getattr(program, name)
    fields = [getattr(program, other) for other in type(program).vertex_fields()]
    vertices, values = np.empty_like(touched), np.empty(touched.size, field.dtype)
    count = 0
    many = touched.size > field.size // 4  # then it is faster to go through all vertices in order
    for first in range(0, field.size if many else touched.size, PIECE):
        piece = slice(first, first + PIECE) if many else touched[first : first + PIECE]
        found = field[piece]
        kept = np.flatnonzero(found != 0)
        size = count + kept.size
        values[count:size] = found[kept]
        vertices[count:size] = kept + first if many else piece[kept]
        count = size
        for cleared in fields:
            cleared[piece] = 0
    return vertices[:count], values[:count]

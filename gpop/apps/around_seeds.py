"""Around a seed: what the local algorithms (nibble, heat_kernel, pagerank_nibble) share.

A local algorithm spreads probability from its seeds and touches a small part of the graph. The fields of its
program stay with the graph, all zero; a call sets the seeds, runs, reads the touched vertices and zeroes them
again. After the first call on a graph no step is proportional to the number of vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.checkpoint_options import CHECKPOINT_OPTIONS
from gpop.apps.inputs import Seeds, many_vertices
from gpop.apps.prototype import Prototype
from gpop.apps.result import AppResult, Holds, holds
from gpop.common.cached import cached, entry_of
from gpop.common.inlined import KERNEL
from gpop.common.kinds import ArrayKind
from gpop.common.on_demand import OnDemand
from gpop.common.used_pages import in_used_pages
from gpop.cpu import loops
from gpop.execution.again import Ran
from gpop.graph.kept import Kind
from gpop.program.values import Fields


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


class Around:
    """The way of a local algorithm whose arguments have been checked (`gpop.apps.resolved`): from a graph and
    seeds to the result.

    Parameters
    ----------
    kind, result : type
        Of the program, and of what is returned.
    parameters : dict
        Of the program.
    begins : dict
        What the seeds have of a field when the run begins, together.
    sent : float
        What they send then, together; each its part, evenly over its out-edges.
    found : str
        The field that is the result.
    iterations : int, optional
        Most of them.
    told : attributes of the result beside those of all.
    """

    def __init__(
        self, kind: type[Spreading], result: type[LocalResult], parameters: dict[str, Any],
        begins: dict[str, float], sent: float, found: str, iterations: int | None, options: dict[str, Any],
        **told: Any,
    ) -> None:  # fmt: skip
        self.kind, self.result, self.parameters, self.begins = kind, result, parameters, begins
        self.sent, self.found, self.iterations = sent, found, iterations
        self.options, self.told = options, told
        self.on_host = options.get("target", "cpu") == "cpu"

    def __call__(self, graph: gpop.Graph, seeds: Seeds) -> LocalResult:
        if type(seeds) is not int or not 0 <= seeds < graph.n:
            listed = many_vertices(graph, seeds)
            seeds = int(listed[0]) if listed.size == 1 else listed
        if self.on_host:
            loops.ask("frontier", _take, *TAKES)
        with CleanRoom(self.kind, graph) as room:
            prototype = room.prototypes.get(self) or self._prototype(graph, room)
            fields, size = room.fields, 1 if type(seeds) is int else seeds.size
            for name, value in self.begins.items():
                fields[name][seeds] = value / size
            degree = np.maximum(graph.out_degree[seeds], 1)
            fields["share"][seeds] = self.sent / size / degree
            if self.on_host:
                ran = prototype.run(_as_it_is, graph, vertex=seeds)
            else:  # which may put other arrays in their place
                program = self._program(graph, fields)
                ran = prototype.run_of(program, np.atleast_1d(np.uint32(seeds)), _as_it_is)
            vertices, values = take(fields, ran.left.touched, self.found)
        told = {"vertices": vertices, "values": values, "n": graph.n, "run": ran, **self.told}
        return self.result._of_both(told)

    def _prototype(self, graph: gpop.Graph, room: Room) -> Prototype:
        program = self._program(graph, room.fields)
        made = room.prototypes[self] = Prototype(program, self.iterations, self.options)
        return made

    def _program(self, graph: gpop.Graph, fields: Fields) -> gpop.Program:
        program = self.kind._beginning(graph, fields, self.kind._defaults.copy())
        for name, value in self.parameters.items():
            setattr(program, name, value)
        return program


def _as_it_is(ran: Ran) -> Ran:
    return ran


class Room(NamedTuple):
    """Fields of a program, all zero between calls, and the prototypes of those who run it."""

    fields: Fields
    prototypes: WeakKeyDictionary[Around, Prototype]


class CleanRoom:
    """``with CleanRoom(kind, graph) as room``: what the graph keeps for programs of this kind. After an
    interrupted run it is not put back.

    It is kept in a list: to take it out and to put it back counts no bytes.
    """

    def __init__(self, kind: type[gpop.Program], graph: gpop.Graph) -> None:
        self.kind, self.store = kind, graph.store
        self.spare = graph.store.get(Kind.PROGRAM, kind)
        try:
            self.room = self.spare.pop()
        except (AttributeError, IndexError):  # there was no call before, or another one has it
            self.spare, fields = None, kind(graph)._fields
            for name in kind.vertex_fields():
                fields[name]  # is made: none is filled anew for a run
            self.room = Room(fields, WeakKeyDictionary())

    def __enter__(self) -> Room:
        return self.room

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        kind, room = self.kind, self.room
        if failed is not None:
            self.store.take(Kind.PROGRAM, kind)  # whose bytes are counted there
        elif self.spare is None:
            self.store.put(Kind.PROGRAM, [room], kind, about=kind.__name__, holds=room.fields.made)
        else:
            self.spare.append(room)


@cached(**KERNEL)
def _take(touched, field, second, third, vertices, values):
    """One pass over the touched, or, where none are listed, over all: 12 to 20 bytes of each, where they lie;
    how many are not zero. One more is written than there are."""
    count, zero = np.int64(0), np.float32(0)
    for i in range(touched.size):
        v = np.uint64(touched[i])
        value = field[v]
        field[v] = second[v] = third[v] = zero
        vertices[count], values[count] = v, value
        count += value != zero
    if touched.size == 0:
        for v in range(field.size):
            value = field[v]
            vertices[count], values[count] = v, value
            count += value != zero
        for v in range(field.size):
            field[v] = second[v] = third[v] = zero
    return count


MANY = 1 << 14
"""Touched vertices: room for fewer is less than what the C library may hand back to the system, and get again
page by page: that took as long as to take them."""

_LIST, _FIELD = ArrayKind("uint32"), ArrayKind("float32")
_VALUE, _NONE_LISTED = np.dtype(np.float32), np.empty(0, np.uint32)
TAKES = _LIST, _FIELD, _FIELD, _FIELD, _LIST, _FIELD


def take(fields: Fields, touched: np.ndarray | OnDemand, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and values where a field is not zero; all two or three fields of the touched become zero."""
    second, third = ([fields[other] for other in fields if other != name] * 2)[:2]
    size = touched.size + 1
    if size < MANY:
        room = np.empty(2 * size, _VALUE)
    else:  # pages that a result before may have left
        room, _ = in_used_pages(1 << (2 * size).bit_length(), _VALUE)
    vertices, values = room[:size].view(np.uint32), room[size:]
    listed = _NONE_LISTED if isinstance(touched, OnDemand) else touched
    count = entry_of(_take, *TAKES)(listed, fields[name], second, third, vertices, values)
    return vertices[:count], values[:count]

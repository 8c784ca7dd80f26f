"""Afforest: components by linking a sample of the edges first, then only what the sample left open.

The root of a finished tree of the forest (`gpop.direct.forest`) is the smallest vertex of its component.
Threads share these phases (`gpop.direct.phases`):

hook       partition by partition, owned by one thread, without atomics: a vertex takes the parent of its
          first neighbour, which is its smallest one where lists are sorted. Partitions come in ascending
          order, so the neighbour nearly always has its final parent for this phase: trees come out flat,
          and each vertex costs one edge.
join      what is still a root is linked across partitions over a few more edges, by compare-and-swap.
sample    the largest tree among `SAMPLES` random vertices.
compress  directed graphs only: every vertex points at its root.
rest      the remaining edges. If most vertices are in the largest tree, those of all others (in a
          symmetric graph these hold every edge that matters); else every edge, in a symmetric graph from
          its larger end: where lists ascend, these come first, and the rest of a list is not looked at.
          A directed graph is not made symmetric: the neighbours of a vertex of the largest tree are only
          compared with that tree.
flatten   every vertex points at its root; roots are counted.

What a thread does in one of them is in afforest_steps.py.

Unusual: Sutton et al. link two rounds of neighbours of all vertices by compare-and-swap and compress after
each; hooking replaces both rounds, as it needs neither atomics nor a compression, and joins the roots only.
Paper: M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph
sampling", IPDPS 2018.
"""

from __future__ import annotations

import time
from functools import cache
from typing import NamedTuple

import numpy as np

from gpop.common.arrays import unset
from gpop.common.atomics import clock_ns, fetch_add, store_release
from gpop.common.by_reference import Reference
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.standby import call_together
from gpop.direct.afforest_steps import compare, hook, join, rest
from gpop.direct.forest import flatten, look_up, most_frequent
from gpop.direct.phases import claim, finish, kernel, make_phases, wait_for
from gpop.direct.shared_job import entry
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.partition import partition_count

PHASES = ("hook", "join", "sample", "compress", "rest", "compare", "flatten")
HOOK, JOIN, SAMPLE, COMPRESS, REST, COMPARE, FLATTEN = range(len(PHASES))

SAMPLES = 256
_SAMPLE_CHUNKS = 16  # a grid has paths through all partitions: to follow them took one thread 10 of 14 ms
_SAMPLED_AT_ONCE = SAMPLES // _SAMPLE_CHUNKS
_DENSE = 8  # edges per vertex; with fewer the neighbours of a root have hooked to it and join nothing
_VERTICES = 1024  # of a chunk, where few are worked on
_EDGES = 1 << 15  # of a chunk
_SERIAL = 1 << 18  # edges that one thread compares in the time that another takes to come twice
_EACH = 5  # edges that are compared in the time that a vertex takes


class Forest(NamedTuple):
    """Every vertex points at its root, the smallest vertex of its component.

    ``sampled`` of `SAMPLES` vertices were in the largest tree before the rest; ``edges`` and
    ``phase_seconds`` are what each of `PHASES` looked at and took, ``seconds`` all of it.
    """

    parent: np.ndarray
    count: int
    sampled: int
    counts: np.ndarray
    """Of `_Growth`."""
    seconds: float

    @property
    def edges(self) -> np.ndarray:
        """By phase."""
        return self.counts[_USED:_BEGUN]

    @property
    def phase_seconds(self) -> np.ndarray:
        """By phase."""
        return np.diff(self.counts[_BEGUN:_LISTED]) / 1e9


class _Growth(NamedTuple):
    """What threads share: the graph, the forest, the roots of each partition, and what they count."""

    bits: np.uint64
    partitions: np.int64
    directed: np.bool_
    ascending: np.bool_
    indptr: np.ndarray
    indices: np.ndarray
    parent: np.ndarray
    roots: np.ndarray
    phases: np.ndarray
    sample: np.ndarray
    counts: np.ndarray
    """From `_VISITED`, `_USED` and `_BEGUN` on; from `_LISTED` on how many roots each partition has
    listed, then whether it is done."""


_VISITED = 2  # vertices, of each phase; before it root and sampled vertices of the largest tree
_USED = _VISITED + len(PHASES)  # edges
_BEGUN = _USED + len(PHASES)  # when each began, and the end
_LISTED = _BEGUN + len(PHASES) + 1


class _Room(NamedTuple):
    """What a forest grows in: a job without ``parent``, its table, and what is zero when it begins."""

    job: _Growth
    table: Reference
    zeros: np.ndarray


def grow(graph: Graph, directed: bool, bits: int, threads: int) -> Forest:
    """The forest of a graph; ``directed=False`` promises that every edge has its opposite.

    What it grows in is kept with the graph: to make ten arrays and their table takes as long as the forest of
    a small one.

    Examples
    --------
    >>> chain = Graph.from_edges([3, 1], [1, 4], n=5)
    >>> forest = grow(chain, directed=True, bits=1, threads=1)
    >>> forest.parent.tolist(), forest.count
    ([0, 1, 2, 1, 1], 3)
    """
    start = time.perf_counter()
    spare = graph.store.get(Kind.PROGRAM, (_Growth, directed, bits))
    if spare is None:
        spare = _prepare(graph, directed, bits)
        start = time.perf_counter()
    try:
        room = spare.pop()
    except IndexError:  # another thread is at it
        room = _room(graph, directed, bits)
    n, table, counts = graph.n, room.table, room.job.counts
    parent = unset(n, _ID)
    room.zeros[:] = 0
    table.table[table.kind.places["parent"]] = parent.__array_interface__["data"][0]
    shared = _EACH * n + (graph.m if directed else 0) >= _SERIAL
    call_together(entry(_grow, table.kind), table.address, threads if shared else 1)
    told = counts[:_LISTED].copy()
    spare[:] = [room]
    count, sampled = int(told[_VISITED + FLATTEN]), int(told[1])
    return Forest(parent, count, sampled, told, time.perf_counter() - start)


def _prepare(graph: Graph, directed: bool, bits: int) -> list[_Room]:
    """The list of spare rooms of a graph, with one room."""
    if graph.n:
        _compile(graph.indices.dtype)
    room = _room(graph, directed, bits)
    about, key = "Afforest", (_Growth, directed, bits)
    return graph.store.put(Kind.PROGRAM, [room], key, about=about, holds=(room.job.roots, room.zeros))


def _room(graph: Graph, directed: bool, bits: int) -> _Room:
    n, partitions = graph.n, partition_count(graph.n, bits)
    require_memory(8 * n, f"components of {graph!r}")
    phases = len(make_phases(len(PHASES)))
    zeros = np.zeros(phases + _LISTED + 2 * partitions, np.int64)
    job = _Growth(
        np.uint64(bits), np.int64(partitions), np.bool_(directed),
        np.bool_(not directed and graph.has_ascending_lists()), graph.indptr, graph.indices,
        *(unset(n, _ID), unset(n, _ID), zeros[:phases], np.empty(SAMPLES, np.uint32), zeros[phases:]),
    )  # fmt: skip
    return _Room(job._replace(parent=_NOBODY), Reference(job), zeros)


_ID = np.dtype(np.uint32)
_NOBODY = np.empty(0, _ID)


@cache
def _compile(ids: np.dtype) -> None:
    """Grow nothing, before the clock starts."""
    grow(Graph(np.zeros(1, np.int64), np.empty(0, ids)), False, 0, 1)


@kernel
def _compress(phases, phase, chunks, size, parent, vertices):
    """A thread's share of a phase that points all vertices at their roots."""
    n = np.uint64(len(parent))
    p = claim(phases, phase)
    while p < chunks:
        first, last = np.uint64(p) * size, min(n, (np.uint64(p) + np.uint64(1)) * size)
        fetch_add(vertices, phase, flatten(first, last, parent))
        finish(phases, phase)
        p = claim(phases, phase)
    wait_for(phases, phase, chunks)


@inline
def _grow(number, job):
    """One thread's share of all phases; the main thread also keeps the time."""
    main, bits, partitions = number == 0, job.bits, job.partitions
    directed, ascending = job.directed, job.ascending
    indptr, indices, parent, roots = job.indptr, job.indices, job.parent, job.roots
    phases, sample, counts = job.phases, job.sample, job.counts
    largest, vertices, edges, stamps = counts, counts[_VISITED:], counts[_USED:], counts[_BEGUN:]
    listed, finished = counts[_LISTED : _LISTED + partitions], counts[_LISTED + partitions :]
    n = np.uint64(len(parent))
    if main:
        stamps[HOOK] = clock_ns()
    p = claim(phases, HOOK)
    while p < partitions:
        first = np.uint64(p) << bits
        last = min(n, (np.uint64(p) + np.uint64(1)) << bits)
        count, used = hook(first, last, bits, directed, indptr, indices, parent, roots, finished)
        listed[p] = count
        fetch_add(edges, HOOK, used)
        store_release(finished, p, 1)
        finish(phases, HOOK)
        p = claim(phases, HOOK)
    wait_for(phases, HOOK, partitions)

    if main:
        stamps[JOIN] = clock_ns()
    joined = partitions if len(indices) >= _DENSE * len(parent) else 0
    p = claim(phases, JOIN)
    while p < joined:
        first = np.uint64(p) << bits
        used = join(roots[first : first + np.uint64(listed[p])], indptr, indices, parent)
        fetch_add(edges, JOIN, used)
        finish(phases, JOIN)
        p = claim(phases, JOIN)
    wait_for(phases, JOIN, joined)

    if main:
        stamps[SAMPLE] = clock_ns()
    looked = _SAMPLE_CHUNKS if n > 0 else 0
    p = claim(phases, SAMPLE)
    while p < looked:
        look_up(p * _SAMPLED_AT_ONCE, (p + 1) * _SAMPLED_AT_ONCE, parent, sample)
        finish(phases, SAMPLE)
        p = claim(phases, SAMPLE)
    wait_for(phases, SAMPLE, looked)
    root, found = most_frequent(sample[: looked * _SAMPLED_AT_ONCE])
    if main:
        largest[0], largest[1] = root, found

    tree = np.uint64(root)
    skip = 2 * found > len(sample)
    size = np.uint64(_VERTICES) if skip or directed else np.uint64(1) << bits
    chunks = np.int64((n + size - np.uint64(1)) // size)
    if main:
        stamps[COMPRESS] = clock_ns()
    if directed and not skip:
        _compress(phases, COMPRESS, chunks, size, parent, vertices)
    if main:
        stamps[REST] = clock_ns()
    p = claim(phases, REST)
    while p < chunks:
        first, last = np.uint64(p) * size, min(n, (np.uint64(p) + np.uint64(1)) * size)
        used = rest(first, last, tree, skip, directed, ascending, indptr, indices, parent)
        fetch_add(edges, REST, used)
        finish(phases, REST)
        p = claim(phases, REST)
    wait_for(phases, REST, chunks)

    if main:
        stamps[COMPARE] = clock_ns()
    if directed and skip:
        _compress(phases, COMPRESS, chunks, size, parent, vertices)
        some = np.uint64(_EDGES)
        m = np.uint64(len(indices))
        pieces = np.int64((m + some - np.uint64(1)) // some)
        p = claim(phases, COMPARE)
        while p < pieces:
            first, last = np.uint64(p) * some, min(m, (np.uint64(p) + np.uint64(1)) * some)
            compare(first, last, np.uint64(parent[tree]), indptr, indices, parent)
            fetch_add(edges, COMPARE, last - first)
            finish(phases, COMPARE)
            p = claim(phases, COMPARE)
        wait_for(phases, COMPARE, pieces)
    if main:
        stamps[FLATTEN] = clock_ns()
    _compress(phases, FLATTEN, chunks, size, parent, vertices)
    if main:
        stamps[FLATTEN + 1] = clock_ns()

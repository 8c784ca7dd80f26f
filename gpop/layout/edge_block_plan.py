"""How in-edges are cut into blocks (edge_blocks.py): where units, windows and blocks begin, from counts.

Edges are counted from every source block into every cell of vertices. Units are cut at cells, to equal work.
What the counts say of an iteration through blocks, and of one through bins, is weighed: `Plan.gain`.

Bytes per edge: 4, and an access to a count, in the cache where cells are few.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from gpop.common.parallel import for_each
from gpop.graph.graph import Graph
from gpop.layout.edge_block_kernels import WINDOW_BITS, count_edges
from gpop.layout.partition import SMALL_ID_BITS

MOST_CELLS, FINE, MOST_COUNTS = 4096, 8, 1 << 20
"""In-edges are counted per cell of vertices; units begin and end at cells. Where a cell has more than so
large a part of a unit's work, they are counted again in smaller cells, as long as that takes so many numbers
at most. All threads but one would wait for such a cell: of a web graph (cnr-2000) 32 neighbours have a sixth
of all edges."""

VERTEX_WORK = 6
"""To begin and to settle a vertex takes as long as so many of its edges: 5 and 9 times, by two graphs, a road
and a web, with PageRank on an AMD and an Intel machine."""

RUN_WORK = 2
"""And to begin a run of edges from one block to one vertex: one edge takes 1.4 ns, two 2.3, four 2.3, eight
4.6 on an AMD core, RMAT 22. Without it units of RMAT 24 took 16 threads 4 to 10 ms each, now about 5 where
none disturbs another; RMAT 22 took .9 of the time. Units of small graphs were cut no better by it."""

UNEQUAL = 16
"""A unit may have so large a part of its work more: with none, there were often one or two more units than
threads have turns."""

LAST, FINER = 8, 4
"""Where values are far, one in so many parts of the work is cut into units so much smaller. Threads take the
heaviest first, and the small ones make them end together: a unit takes 5 ms in one iteration, 9 in another.
An iteration on RMAT 24, 16 threads: 37.6 ms in the order of ids, 33.8 the heaviest first, 31.4 with an eighth
of the work in small ones, 32.9 with a quarter; 33.9 with all units smaller, 6 a thread."""

FAR_VERTICES, FAR_VALUE = 1 << 21, 2
"""With more vertices the values are in no cache when the next unit wants them, and to read one costs so many
times as much. Set by two graphs, ms an iteration of pull, 2 threads, predicted without that, with it, and
measured: RMAT 22 61, 80, 76 (PC 63); random 22 64, 84, 82 (PC 94). No others of that size were tried."""

FAR_BYTES = 1 << 21
"""From so many bytes of values on they are not in the private cache, and asked for before they are wanted."""

VALUE_BYTES, LINE_VALUES = 4, 16
"""Of a value, as most programs have it; so many of these are in a cache line."""


BY_ID = np.empty(0, np.uint32)
"""The order of the ids."""

IN_ORDER = np.empty(0, np.int64)
"""Units one after the other."""


class Costs(NamedTuple):
    """Nanoseconds of an iteration per edge and core.

    Pull through blocks: per edge, per value read, and what is added in blocks with fewer edges than cache
    lines; PC: per edge and per message. The choice depends on the ratios only.
    """

    pull_edge: float
    pull_value: float
    pull_sparse: float
    pc_edge: float
    pc_message: float


COSTS = Costs(0.66, 0.25, 3.5, 0.65, 1.08)
"""Where the machine was not measured: from RMAT, Kronecker, random and grid graphs of 16 to 268 M edges."""


class Plan(NamedTuple):
    """Where units, windows and blocks begin, from the counted edges.

    ``units``, ``windows`` in cells of ``2**cell_bits`` vertices; ``edges[s, w]`` from source block s into
    window w. What bins would hold: ``messages``, and in one partition the share ``heaviest`` of all edges.
    ``old``: the order of sources (hubs_first.py), empty where it is that of their ids; ``by_work``: the
    units, those of most work first, empty where values are near.
    """

    unit_bits: int
    source_bits: int
    cell_bits: int
    units: np.ndarray
    windows: np.ndarray
    edges: np.ndarray
    values_read: int
    messages: int
    heaviest: float
    old: np.ndarray = BY_ID
    by_work: np.ndarray = IN_ORDER

    @property
    def sparse(self) -> int:
        """Edges in blocks that have fewer of them than cache lines of sources: each waits for a line.

        None where a core has all values at hand. 16 threads cut a graph of 104,000 votes into units of 1,600
        edges, fewer than a source block may have lines; without pull they took twice as long.
        """
        if self.edges.shape[0] << self.source_bits < FAR_BYTES // VALUE_BYTES:
            return 0
        return int(self.edges[self.edges < (1 << self.source_bits) // LINE_VALUES].sum())

    def parts(self, threads: int) -> tuple[np.ndarray, np.ndarray]:
        """How often the costs of pull, and those of PC, are paid for each edge.

        With bins all wait for the thread with the heaviest partition; units are cut to equal work.
        """
        edges = max(1, int(self.edges.sum()))
        far = self.edges.shape[0] << self.source_bits > FAR_VERTICES
        pull = np.array([edges, self.values_read * (FAR_VALUE if far else 1), self.sparse]) / edges
        pc = np.array([edges, self.messages]) / edges
        return pull, pc * (1 + threads * self.heaviest / 2)

    def expected(self, threads: int, costs: Costs = COSTS) -> dict[str, float]:
        """Nanoseconds per edge and core that an iteration is expected to take, by the name of its mode."""
        pull, pc = self.parts(threads)
        return {"pull": float(pull @ costs[: len(pull)]), "pc": float(pc @ costs[len(pull) :])}

    def gain(self, threads: int, costs: Costs = COSTS) -> float:
        """What an iteration of pull is expected to save of those over PC."""
        expected = self.expected(threads, costs)
        return expected["pc"] - expected["pull"]


def _cut_units(work: np.ndarray, cells: int, most: int, finer: int = 1) -> np.ndarray:
    """First cells of units of at most so many cells and so much ``work``, unless one cell has more; the end.

    In the last of `LAST` parts of the work they are so much ``finer``.

    Examples
    --------
    >>> _cut_units(np.array([3, 1, 9, 0, 0, 0]), 2, 5)
    array([0, 2, 3, 5, 6])
    >>> _cut_units(np.full(16, 1), 16, 5, 3)
    array([ 0,  5, 10, 14, 15, 16])
    """
    ends = np.append(0, np.cumsum(work))
    fine = ends[-1] if finer == 1 else ends[-1] * (LAST - 1) // LAST
    bounds = [0]
    while bounds[-1] < work.size:
        first = bounds[-1]
        most_end = min(ends[first] + most, max(fine, ends[first] + most // finer))
        fits = int(np.searchsorted(ends, most_end, side="right")) - 1
        bounds.append(min(first + cells, max(first + 1, fits), work.size))
    return np.array(bounds)


def plan_blocks(
    graph: Graph, unit_bits: int, source_bits: int, most_work: int, threads: int, heads: int | None = None,
    bin_bits: int = SMALL_ID_BITS, old: np.ndarray = BY_ID,
) -> Plan:  # fmt: skip
    """Count edges, then cut vertices into units and windows.

    Parameters
    ----------
    graph : Graph
    unit_bits, source_bits : int
        A unit has at most ``2**unit_bits`` vertices, a block of sources ``2**source_bits``.
    most_work : int
        Edges of a unit, and `VERTEX_WORK` for each vertex.
    threads : int
        That count; the plan does not depend on them.
    heads : int, optional
        How many of the vertices edges lead to, where it is not all.
    bin_bits : int
        Of a partition, were it bins. Of a road of 115,000 vertices one of 2**15 has .3 of all edges: 16
        threads would wait three times as long for it as for the ones of 2**10 that they have.
    old : numpy.ndarray
        The order of the sources, uint32; empty: that of their ids.

    Returns
    -------
    Plan
    """
    heads = graph.n if heads is None else heads
    cell_bits = min(unit_bits, WINDOW_BITS, max(6, (heads // MOST_CELLS).bit_length()))
    counts, messages = _count(graph, heads, source_bits, cell_bits, bin_bits, threads, old)
    while 2 * counts.size <= MOST_COUNTS:
        excess = FINE * int(counts.sum(axis=0).max()) // max(1, most_work)
        if excess == 0 or cell_bits == 0:
            break
        halvings = min(excess, MOST_COUNTS // counts.size).bit_length() - 1
        cell_bits -= min(cell_bits, max(1, halvings))
        counts, messages = _count(graph, heads, source_bits, cell_bits, bin_bits, threads, old)
    in_edges = counts.sum(axis=0)
    near = counts.shape[0] << source_bits < FAR_BYTES // VALUE_BYTES
    work = in_edges + (VERTEX_WORK << cell_bits) if near else _work_of(counts, 1 << cell_bits)
    most = most_work + most_work // UNEQUAL
    units = _cut_units(work, 1 << (unit_bits - cell_bits), most, 1 if near else FINER)
    by_work = IN_ORDER if near else np.argsort(-np.add.reduceat(work, units[:-1]), kind="stable")
    width = 1 << (WINDOW_BITS - cell_bits)
    windows = np.concatenate([np.arange(*unit, width) for unit in itertools.pairwise(units)])
    together = np.arange(0, in_edges.size, max(1, (1 << bin_bits) >> cell_bits))
    heaviest = np.add.reduceat(in_edges, together).max() / max(1, graph.m)
    edges = np.add.reduceat(counts, windows, axis=1)
    # Windows of a unit share what is read of a source block; the last one has fewer sources than others.
    sources = np.minimum(1 << source_bits, graph.n - (np.arange(len(counts)) << source_bits))
    read = np.minimum(np.add.reduceat(counts, units[:-1], axis=1), sources[:, None]).sum()
    return Plan(
        unit_bits, source_bits, cell_bits, units, windows, edges,
        int(read), int(messages.sum()), float(heaviest), old, by_work,
    )  # fmt: skip


def _work_of(counts: np.ndarray, width: int) -> np.ndarray:
    """Of cells so wide where values are far, in all as much as edges and `VERTEX_WORK`.

    A run costs as much as `RUN_WORK` of its edges; edges of a block make as many runs as if they led to any
    vertices of the cell.
    """
    in_edges, runs = np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    for row in counts:
        in_edges += row
        runs -= width * np.expm1(row / -width)
    work = in_edges + RUN_WORK * runs
    return work * (in_edges.sum() / max(1, work.sum())) + VERTEX_WORK * width


def _count(
    graph: Graph, heads: int, source_bits: int, cell_bits: int, bin_bits: int, threads: int, old: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Edges from each source block into each cell, and how many messages bins would hold of them."""
    sources, cells = max(1, -(-graph.n >> source_bits)), max(1, -(-heads >> cell_bits))
    graph.store.require(8 * sources * (cells + 2), f"{graph!r}: edges from {sources} source blocks")
    counts, messages = np.zeros((sources, cells), np.int64), np.zeros(sources, np.int64)
    claim, bits = np.zeros(1, np.int64), (source_bits, cell_bits, bin_bits)
    counted = (graph.indptr, graph.indices, old, counts, messages)
    for_each(threads, lambda _: count_edges(claim, *bits, *counted), threads)
    return counts, messages

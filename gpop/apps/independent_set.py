"""A maximal independent set: no two of its vertices are neighbours, and every other vertex has one in it.

Algorithm: Luby's, with random priorities that are drawn once. A vertex joins when all neighbours of smaller
priority have been left out, and is left out when a neighbour joins. So it is the set that a single thread
finds when it takes vertices by priority, for every number of threads and every mode, and a vertex sends
messages twice: its priority at first, and when it is decided.
Unusual: the graph is taken as undirected; a directed one is made symmetric first, which the result says
(``symmetrized``). Loops do not matter.
Encoding: priorities are of 31 bits and no two are the same (`priorities`), so that the largest uint32 is free
to say "I have joined"; a priority says, in the first iteration, "count me", and later "I am left out".
``waiting`` is the number of edges to neighbours of smaller priority that are undecided.
Papers: M. Luby, "A simple parallel algorithm for the maximal independent set problem", SIAM Journal on
Computing 15, 1986; G. E. Blelloch, J. T. Fineman, J. Shun, "Greedy sequential maximal independent set and
matching are parallel on average", SPAA 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import bulk_synchronous, in_order_of_ids, symmetric
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.common.arguments import whole_from
from gpop.common.errors import UsageError
from gpop.execution.options import LimitedOptions

BITS = 31
"""Of a priority."""

UNDECIDED, IN, OUT = range(3)
JOINED = np.uint32(0xFFFFFFFF)


class IndependentSet(gpop.Program):
    """Vertices decide in the order of their priorities, as soon as they can."""

    priority = gpop.VertexField(np.uint32)
    waiting = gpop.VertexField(np.uint32)
    state = gpop.VertexField(np.uint8, UNDECIDED)
    inactive_message = 0xFFFFFFFE  # above all priorities

    def scatterFunc(self, node):
        if self.state[node] == IN:
            return JOINED
        return self.priority[node]

    def initFunc(self, node):
        return self.iteration == 0

    def gatherFunc(self, value, node):
        if self.iteration == 0:
            if value < self.priority[node]:
                self.waiting[node] += 1
            return False
        if self.state[node] != UNDECIDED:
            return False
        if value == JOINED:
            self.state[node] = OUT
            return True
        if value < self.priority[node]:
            self.waiting[node] -= 1
            if self.waiting[node] == 0:
                self.state[node] = IN
                return True
        return False

    def filterFunc(self, node):
        if self.iteration == 0:
            if self.waiting[node] == 0:
                self.state[node] = IN
            return self.waiting[node] == 0
        return True


@dataclass(frozen=True, kw_only=True)
class IndependentSetResult(AppResult):
    """The ``vertices`` of the set, ``count`` of them, and whether the graph was ``symmetrized``."""

    vertices: np.ndarray = holds(Holds.LIST)
    count: int = holds(Holds.NO_VERTICES)
    symmetrized: bool = holds(Holds.NO_VERTICES)


@one_call
def independent_set(
    graph: gpop.Graph, *, seed: int = 1, **options: Unpack[LimitedOptions]
) -> IndependentSetResult:
    """A maximal independent set, by random priorities; the same set for the same seed.

    Parameters
    ----------
    graph : Graph
        Edges of a directed one are taken both ways.
    seed : int
        Of the priorities.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : LimitedOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback, iterations``: see
        `gpop.run`. After fewer iterations than it takes, the set need not be maximal.

    Returns
    -------
    IndependentSetResult
        ``vertices`` of the set, uint32, ascending; ``count`` of them; ``symmetrized``: whether some edge had
        no opposite.

    Raises
    ------
    UsageError
        For an option that does not fit.

    Examples
    --------
    >>> found = gpop.independent_set(gpop.Graph.from_edges([0, 0, 0], [1, 2, 3]), seed=2)
    >>> found.vertices.tolist(), found.count
    ([1, 2, 3], 3)
    """
    bulk_synchronous("independent_set", options)
    both_ways = symmetric(graph)
    program = IndependentSet(both_ways)
    first = in_order_of_ids(both_ways)
    program.priority[slice(None) if first is None else first] = priorities(graph.n, seed)
    run = gpop.run(program, **options)
    vertices = np.flatnonzero(program.state == IN).astype(np.uint32)
    return IndependentSetResult(
        vertices=vertices, count=vertices.size, symmetrized=both_ways is not graph, run=run
    )


def priorities(n: int, seed: int) -> np.ndarray:
    """Different numbers for 0 .. n-1, in an order that looks random: a bijection of 31 bits, of xor-shifts
    and odd factors (those of C. Wellons' lowbias32). To sort as many random numbers takes 20 times as long.

    Raises
    ------
    UsageError
        If there are not so many, or for a seed below 0.

    Examples
    --------
    >>> priorities(3, seed=1).dtype, np.unique(priorities(1000, seed=1)).size
    (dtype('uint32'), 1000)
    """
    if n > 1 << BITS:
        raise UsageError(f"independent_set of {n} vertices: expected at most {1 << BITS}")
    low = np.uint32((1 << BITS) - 1)
    begin, between = _words(whole_from(0, "seed", seed))
    mixed = np.arange(n, dtype=np.uint32) + begin
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        mixed &= low
        mixed ^= mixed >> np.uint32(shift)
        mixed *= np.uint32(factor)
        mixed += between
    mixed &= low
    mixed ^= mixed >> np.uint32(16)
    return mixed


@lru_cache(maxsize=16)
def _words(seed: int) -> np.ndarray:
    """Two of 32 bits, which take 20 us to make."""
    return np.random.SeedSequence(seed).generate_state(2)


def verify(graph: gpop.Graph, result: IndependentSetResult) -> str | None:
    """None, or what is wrong: SciPy's product of the adjacency matrix and the set."""
    matrix = gpop.Graph(graph.indptr, graph.indices).to_scipy().astype(bool).astype(np.int64)
    matrix.setdiag(0)
    member = np.zeros(graph.n, np.int64)
    member[result.vertices] = 1
    neighbours = matrix @ member + matrix.T @ member
    both = np.count_nonzero((neighbours > 0) & (member > 0))
    neither = np.count_nonzero((neighbours == 0) & (member == 0))
    if both:
        return f"{both} vertices of the set have a neighbour in it"
    return f"{neither} more vertices could be in the set" if neither else None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.independent_set graph [--seed N] ...``"""

    def arguments(parser: Any) -> None:
        parser.add_argument("--seed", type=int, default=1, help="of the priorities")

    def headline(graph: gpop.Graph, result: IndependentSetResult, given: Any) -> str:
        note = "\nnote: the graph is directed; its edges were taken both ways" if result.symmetrized else ""
        return f"{report.share(result.count, graph.n)} in the set{note}"

    return cli.main(
        argv,
        cli.App(
            name="independent_set",
            loop="frontier",
            in_parts=False,
            refuses=("interleave",),
            about=__doc__,
            arguments=arguments,
            solve=lambda graph, given, options: gpop.independent_set(graph, seed=given.seed, **options),
            headline=headline,
            columns=lambda graph, result: {},
            verify=lambda graph, result, given: verify(graph, result),
            to_the_end=True,
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())

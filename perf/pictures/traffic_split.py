"""Fig. 1: what a pull PageRank fetches from memory, by array, on a simulated cache.

The accesses of `perf.vertex_centric`'s pull kernel, in its order, go to `perf.cache_simulator`; a miss of its
second level is a line from memory, and counted for the array that was accessed. The cache holds an eighth of
the vertex values, so that a small graph meets a cache as large graphs meet a real one.
Not counted: lines written back, and prefetching, which moves lines but saves none.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from perf import vertex_centric
from perf.cache_simulator import L2_MISSES, Geometry, access, make_cache
from perf.graphs import name_of, open_graph
from perf.pictures.study import Study, called, panels
from perf.traced import Addresses

TITLE = "Memory traffic of a pull PageRank (Fig. 1)"
PAPER = (
    "In a hand-optimised pull PageRank most of the traffic (more than 75 % on large graphs) is random "
    "reads of vertex values."
)
PARTS = ("vertex values, random", "edges", "offsets", "sums and finish, in order")
COLOURS = ("#d95f02", "#3953a4", "#8da0cb", "#aaaaaa")
SMALLER = 8
"""How many times the vertex values exceed the cache."""


@cached(**KERNEL)
def iteration(cache, bases, indptr, indices, found):
    """Count the lines that one iteration fetches, for each of ``PARTS``.

    ``bases`` are the addresses of offsets, edges, values, sums and reciprocals of degrees.
    """
    n = np.uint64(indptr.size - 1)
    offset, edge, four = np.uint64(indptr.itemsize), np.uint64(indices.itemsize), np.uint64(4)
    last = cache[L2_MISSES]
    for v in range(n):
        access(cache, bases[0] + v * offset)
        access(cache, bases[0] + (v + np.uint64(1)) * offset)
        found[2] += cache[L2_MISSES] - last
        last = cache[L2_MISSES]
        for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])):
            access(cache, bases[1] + e * edge)
            found[1] += cache[L2_MISSES] - last
            last = cache[L2_MISSES]
            access(cache, bases[2] + np.uint64(indices[e]) * four)
            found[0] += cache[L2_MISSES] - last
            last = cache[L2_MISSES]
        access(cache, bases[3] + v * four)
        found[3] += cache[L2_MISSES] - last
        last = cache[L2_MISSES]
    for v in range(n):
        for array in range(3, 5):
            access(cache, bases[array] + v * four)
        access(cache, bases[2] + v * four)
    found[3] += cache[L2_MISSES] - last


def caches_for(n: int) -> tuple[Geometry, Geometry]:
    """L1 and L2 whose second level holds ``1 / SMALLER`` of the values of ``n`` vertices."""
    size = max(1 << (max(4 * n // SMALLER, 1)).bit_length() - 1, 1 << 12)
    return Geometry(size // 8, 8), Geometry(size, 8)


def lines_fetched(spec: str) -> list[int]:
    """Lines of each of ``PARTS`` in the second iteration, when the cache is no longer empty.

    Examples
    --------
    >>> lines_fetched("chain:vertices=4096")[0] > 0
    True
    """
    graph = open_graph(spec)
    edges = vertex_centric.edges_of(graph, "pull", weighted=False)
    vertices = vertex_centric.start("pagerank", graph, 0)
    addresses = Addresses()
    arrays = (edges.indptr, edges.indices, vertices.value, vertices.other, vertices.per_edge)
    bases = np.array([addresses.of(array) for array in arrays], np.uint64)
    cache = make_cache(*caches_for(graph.n))
    for _ in range(2):
        found = np.zeros(len(PARTS), np.uint64)
        iteration(cache, bases, edges.indptr, edges.indices, found)
    return found.tolist()


def graphs(scale: int, quick: bool) -> list[str]:
    """Skewed and even degrees, ordered and shuffled ids."""
    if quick:
        return [f"rmat:scale={scale}"]
    side = 1 << scale // 2
    return [
        f"rmat:scale={scale}",
        f"uniform:scale={scale}",
        f"small_world:vertices={1 << scale}",
        f"small_world:vertices={1 << scale},permute",
        f"road:width={side},height={side}",
    ]


def draw(study: Study) -> list[str]:
    """A bar per graph, in shares."""
    specs = graphs(study.plan.scale - 2, study.plan.quick)
    names = [name_of(spec) for spec in specs]
    lines = study.measured(
        "traffic", {"graphs": specs}, lambda: [lines_fetched(spec) for spec in specs], anywhere=True
    )
    share = np.array(lines) / np.sum(lines, axis=1, keepdims=True)
    figure, ((panel,),) = panels(1, width=8, height=1.4 + 0.5 * len(specs))
    left = np.zeros(len(specs))
    for part, colour, column in zip(PARTS, COLOURS, share.T, strict=True):
        panel.barh([*map(called, names)], 100 * column, left=100 * left, color=colour, label=part, height=0.6)
        left += column
    panel.invert_yaxis()
    panel.set_xlim(0, 100)
    panel.set_xlabel("share of the lines fetched from memory, %")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    study.save(figure)
    return [f"The simulated cache holds 1/{SMALLER} of the vertex values."] + [
        f"{name}: {values[0]:.0%} of the traffic is random reads of vertex values, {values[1]:.0%} edges."
        for name, values in zip(names, share, strict=True)
    ]

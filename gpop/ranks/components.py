"""Connected components on several ranks: a forest on each rank's edges, then across.

Each rank links the edges into its range (`gpop.direct.afforest`), so that vertices and mirrors have the
smallest of their tree as their root. A root is told to the owner of each mirror in it, which joins it with
its own root of that vertex. These joins, each once, are few; every rank takes all of them and comes to the
same answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.direct.afforest import Forest, grow
from gpop.graph.graph import Graph
from gpop.ranks.part import Part, part_of
from gpop.ranks.world import World

SYMMETRIC = "symmetric"
"""Where a part keeps whether all edges of the whole graph have their opposites."""


class Found(NamedTuple):
    """Labels, set for the rank's own part; the number of components; whether all edges have an opposite."""

    label: np.ndarray
    count: int
    symmetric: bool
    forest: Forest
    part: Part


def components(graph: Graph, bits: int, threads: int, world: World) -> Found:
    """Components of a graph on all ranks; all call it together."""
    part = part_of(graph, bits, world)
    nothing = Graph(np.zeros(1, np.int64), np.empty(0, np.uint32))
    world.first_alone(lambda: grow(nothing, True, bits, 1))
    forest = grow(part.graph, True, bits, threads)
    names = np.arange(part.graph.n, dtype=np.int64) + part.shift
    names[part.mirrors] = part.names
    root = names[forest.parent].astype(np.uint32)
    told, _ = world.dealt(root[part.mirrors], part.mirror_counts)
    joins = _pairs(root[part.sends], told)
    joins = np.unique(joins[np.diff(joins, append=~joins[-1:]) != 0])  # most join the largest trees
    joins = _ends(np.unique(world.joined(joins)))
    joins = joins[joins[:, 0] != joins[:, 1]]
    label = np.zeros(graph.n, np.uint32)
    own = root[part.first : part.last]
    label[part.own] = own
    if joins.size:
        roots = np.unique(joins)
        smallest = _joined(roots, joins)
        at = np.minimum(np.searchsorted(roots, own), roots.size - 1)
        label[part.own] = np.where(roots[at] == own, smallest[at], own)
    mine = np.count_nonzero(label[part.own] == np.arange(part.own.start, part.own.stop))
    counts = world.sum(np.array([mine]))
    if SYMMETRIC not in part.kept:
        part.kept[SYMMETRIC] = _is_symmetric(part, names, world)
    return Found(label, int(counts[0]), part.kept[SYMMETRIC], forest, part)


def _pairs(ones: np.ndarray, others: np.ndarray) -> np.ndarray:
    """A word for each pair of vertices; `_ends` has them again, as rows.

    Examples
    --------
    >>> _ends(_pairs(np.array([7, 1]), np.array([2, 3])))
    array([[7, 2],
           [1, 3]], dtype=uint32)
    """
    return ones.astype(np.uint64) << np.uint64(32) | others.astype(np.uint64)


def _ends(pairs: np.ndarray) -> np.ndarray:
    ends = np.stack([pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)], axis=1)
    return ends.astype(np.uint32)


def _joined(roots: np.ndarray, joins: np.ndarray) -> np.ndarray:
    """The smallest root that each is joined with, directly or through others.

    Examples
    --------
    >>> _joined(np.array([2, 5, 7, 9]), np.array([[5, 2], [7, 5]])).tolist()
    [2, 2, 2, 9]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ends = np.searchsorted(roots, joins)
    matrix = csr_array((np.ones(len(ends), np.int8), ends.T), shape=(roots.size, roots.size))
    count, component = connected_components(matrix, directed=False)
    smallest = np.full(count, np.iinfo(roots.dtype).max, roots.dtype)
    np.minimum.at(smallest, component, roots)
    return smallest[component]


def _is_symmetric(part: Part, names: np.ndarray, world: World) -> bool:
    """Whether every edge has its opposite: sums of hashes of all edges, and of all turned round, are equal.

    In 128 bits; that two different graphs have equal sums does not happen.
    """
    sources = np.repeat(names, np.diff(part.graph.indptr))
    targets = part.graph.indices + np.int64(part.shift)
    edges = _distinct(_pairs(sources, targets))
    turned = edges << np.uint64(32) | edges >> np.uint64(32)
    sums = [_mixed(each ^ seed).sum(dtype=np.uint64) for seed in _SEEDS for each in (edges, turned)]
    there, back = world.sum(np.array(sums)).reshape(-1, 2).T
    return bool((there == back).all())


def _distinct(edges: np.ndarray) -> np.ndarray:
    """Each once; where lists ascend and have none twice, which takes one look, as they are.

    Examples
    --------
    >>> _distinct(np.array([3, 5])), _distinct(np.array([5, 3, 5]))
    (array([3, 5]), array([3, 5]))
    """
    return edges if (edges[1:] > edges[:-1]).all() else np.unique(edges)


_SEEDS = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03], np.uint64)


def _mixed(words: np.ndarray) -> np.ndarray:
    """Bits well mixed (the finaliser of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))

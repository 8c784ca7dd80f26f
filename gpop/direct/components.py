"""The largest weakly connected component of a graph, as a graph: found by Afforest."""

from __future__ import annotations

import numpy as np

from gpop.common.parallel import worker_count
from gpop.direct.afforest import grow
from gpop.graph.graph import Graph
from gpop.graph.transform import take
from gpop.layout.partition import partition_bits


def largest_component(graph: Graph) -> Graph:
    """The largest weakly connected component; vertices keep their order and their original ids.

    Of several largest ones it is the one with the smallest vertex.

    Examples
    --------
    >>> part = largest_component(Graph.from_edges([0, 2, 3], [1, 3, 4]))
    >>> part.n, part.original_ids.tolist()
    (3, [2, 3, 4])
    """
    if graph.n == 0:
        return graph
    threads = worker_count()
    bits = partition_bits(graph.n, threads, edges=graph.m)
    label = grow(graph, not graph.is_symmetric(), bits, threads).parent
    return take(graph, np.flatnonzero(label == np.bincount(label).argmax()).astype(np.uint32))

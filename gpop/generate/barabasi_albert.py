"""Preferential attachment: each new vertex joins ``degree`` older ones, popular ones more likely.

Barabasi, Albert: Emergence of scaling in random networks, Science 1999; computed as by Sanders and
Schulz: Scalable generation of scale-free graphs, IPL 2016. Write the edges as one list of ends,
source and destination in turn. A destination is a random earlier entry of the list, which favours
vertices in proportion to their degree. The entry is a source, known from its position, or another
destination, which the hash of its position gives again: every edge is found by itself.

A vertex draws among the ends of the vertices before it: no self-loops, but two of its edges may lead
to one vertex (``symmetrize`` merges them).
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.common.random_bits import GOLDEN, mix, stream
from gpop.generate import check_sizes, check_vertices, empty_pair
from gpop.graph.build import Edges

UNDIRECTED = True


@cached(**KERNEL)
def _fill(seed, first, degree, source, destination):
    degree = np.uint64(degree)
    one = np.uint64(1)
    for i in range(len(source)):
        edge = np.uint64(first + i)
        source[i] = one + edge // degree
        while edge >= degree:  # the edges of vertex 1 lead to vertex 0
            ends = np.uint64(2) * (edge // degree * degree)
            end = mix(stream(seed, edge) + GOLDEN) % ends
            edge = end >> one
            if end & one == 0:
                destination[i] = one + edge // degree
                break
        else:
            destination[i] = 0


def edges(seed: int, vertices: int, degree: int) -> tuple[int, Edges]:
    """``vertices`` and ``degree`` edges for each but the first, every edge once: (n, edges)."""
    check_sizes(1, vertices=vertices, degree=degree)
    check_vertices(vertices)

    def chunk(first, last):
        source, destination = empty_pair(last - first)
        _fill(np.uint64(seed), first, degree, source, destination)
        return source, destination, None

    return vertices, Edges((vertices - 1) * degree, chunk)

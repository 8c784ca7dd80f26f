"""Strongly connected components in the order in which NetworkX finds them: reverse topological.

Tarjan's algorithm without recursion, as NetworkX has it: a component is complete when the search leaves the
vertex through which it came in. ``preorder`` is 1 + the number of a vertex in the search, 0 before; ``low``
the least preorder that is reached from below; ``cursor`` how much of a list has been followed. One pass over
the edges follows them, another, when a vertex is left, finds its ``low``. Papers: R. Tarjan, "Depth-first
search and linear graph algorithms", 1972; E. Nuutila, E. Soisalon-Soininen, "On finding the strongly
connected components in a directed graph", 1994.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.interop.networkx_graph import Lists

OPEN = 0xFFFFFFFF
"""The component of a vertex whose component is not complete."""


def strong_components(lists: Lists) -> tuple[np.ndarray, int]:
    """The number of every vertex's component, in the order in which they are complete, and their count.

    Examples
    --------
    >>> strong_components(Lists(np.array([0, 1, 3, 3]), np.array([1, 0, 2], np.uint32)))
    (array([1, 1, 0], dtype=uint32), 2)
    """
    n = len(lists.indptr) - 1
    component = np.full(n, OPEN, np.uint32)
    preorder, low, stack, waiting = (np.zeros(n, np.uint32) for _ in range(4))
    count = _search(*lists, lists.indptr[:-1].copy(), component, preorder, low, stack, waiting)
    return component, int(count)


@cached(**KERNEL)
def _search(indptr, indices, cursor, component, preorder, low, stack, waiting):
    """How many components; vertices that were left and whose component is open are ``waiting``."""
    count, now, wait = 0, 0, 0
    for source in range(len(component)):
        if component[source] != OPEN:
            continue
        stack[0] = source
        depth = 1
        while depth > 0:
            v = stack[depth - 1]
            if preorder[v] == 0:
                now += 1
                preorder[v] = now
            end, e = indptr[np.uint64(v) + np.uint64(1)], cursor[v]
            while e < end and preorder[indices[e]] != 0:
                e += 1
            if e < end:
                stack[depth] = indices[e]
                depth += 1
                cursor[v] = e + 1
                continue
            cursor[v] = e
            least = preorder[v]
            for e in range(indptr[v], end):
                w = indices[e]
                if component[w] == OPEN:
                    least = min(least, low[w] if preorder[w] > preorder[v] else preorder[w])
            low[v] = least
            depth -= 1
            if least == preorder[v]:
                component[v] = count
                while wait > 0 and preorder[waiting[wait - 1]] > preorder[v]:
                    wait -= 1
                    component[waiting[wait]] = count
                count += 1
            else:
                waiting[wait] = v
                wait += 1
    return count

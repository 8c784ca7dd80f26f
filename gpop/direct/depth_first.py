"""Strongly connected components by one thread, where they are not known yet: depth-first, without recursion.

Pearce's form of Tarjan's algorithm, with one number a vertex.

Encoding: in ``number`` (uint32) 0 is not visited, the numbers of vertices on the way grow from 1, and those
of finished components fall from n: never smaller than what is on the way. `_DONE` is larger than all: what
was known before.
Paper: D. Pearce, "A space-efficient algorithm for finding strongly connected components", 2016.
"""

from __future__ import annotations

import numpy as np

from gpop.direct.frontier import is_in
from gpop.direct.phases import kernel

_DONE = np.uint32(0xFFFFFFFF)
_ONE = np.uint64(1)


def room_for(n: int) -> tuple[np.ndarray, ...]:
    """``label``, ``number``, ``path``, ``entry`` and ``cursor`` of `find_rest`."""
    return (*np.empty((4, n), np.uint32), np.empty(n, np.int64))


@kernel
def find_rest(indptr, indices, giant, alive, label, number, path, entry, cursor):
    """Components of what is neither trimmed nor in the giant component; all labels. How many, and edges.

    From the left ``path`` has the vertices on the way, each with its first number (``entry``) and its next
    edge (``cursor``); from the right, those that were left but whose component is not complete.
    """
    n = np.uint64(len(label))
    count, edges, there_is_one, smallest = 0, 0, 0, _DONE
    for v in range(n):
        number[v] = 0
        if not is_in(alive, v):
            number[v], label[v] = _DONE, v
            count += 1
        elif is_in(giant, v):
            number[v] = _DONE
            smallest = min(smallest, np.uint32(v))
            label[v] = smallest
            there_is_one = 1
    count += there_is_one
    index, component, right = np.uint32(1), np.uint32(n), n
    for s in range(n):
        if number[s] != 0:
            continue
        depth = np.uint64(0)
        path[0], entry[0], cursor[0] = np.uint32(s), index, indptr[s]
        number[s] = index
        index += np.uint32(1)
        while True:
            v = np.uint64(path[depth])
            e, stop = np.uint64(cursor[depth]), np.uint64(indptr[v + _ONE])
            low, w = number[v], v
            while e < stop:
                w = np.uint64(indices[e])
                if number[w] == 0:
                    break
                low = min(low, number[w])
                e += _ONE
            number[v] = low
            if e < stop:  # down; this edge is looked at again on the way back
                cursor[depth] = e
                depth += _ONE
                path[depth], entry[depth], cursor[depth] = np.uint32(w), index, indptr[w]
                number[w] = index
                index += np.uint32(1)
                continue
            edges += np.int64(stop) - indptr[v]
            if low < entry[depth]:
                right -= _ONE
                path[right] = np.uint32(v)
            else:
                last, smallest = right, np.uint32(v)
                while last < n and number[path[last]] >= low:
                    smallest = min(smallest, path[last])
                    last += _ONE
                index -= np.uint32(last - right + _ONE)
                while right < last:
                    number[path[right]], label[path[right]] = component, smallest
                    right += _ONE
                number[v], label[v] = component, smallest
                component -= np.uint32(1)
                count += 1
            if depth == 0:
                break
            depth -= _ONE
    return count, edges

"""A tournament of partitions: the smallest of their keys at once, and who has it without asking the others.

A complete binary tree over the partitions, each inner node the smaller of the two below it. To change a
key, or to find one partition that has the smallest, takes as many steps as the tree is high; partitions
come out in ascending order. The main thread alone plays, between two phases.

Encoding: ``tree[1]`` is the root, nodes ``2*i`` and ``2*i + 1`` are below node i, partition p is node
``len(tree) / 2 + p`` and what is behind the last partition has the key `HIGHEST`.
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline

HIGHEST = np.iinfo(np.int64).max
"""The key of a partition that does not take part."""


def tree_size(partitions: int) -> int:
    """Nodes of the tree, the unused ``tree[0]`` included.

    Examples
    --------
    >>> [tree_size(partitions) for partitions in (0, 1, 2, 3, 1024)]
    [2, 2, 4, 8, 2048]
    """
    return 2 << max(0, partitions - 1).bit_length()


@inline
def change_key(tree, p, key):
    """Give partition ``p`` another key; the number of nodes that were looked at."""
    node = (np.uint64(tree.size) >> np.uint64(1)) + np.uint64(p)
    steps = 1
    tree[node] = key
    while node > np.uint64(1):
        smaller = min(tree[node], tree[node ^ np.uint64(1)])
        node >>= np.uint64(1)
        steps += 1
        if tree[node] == smaller:
            break
        tree[node] = smaller
    return steps


@inline
def list_smallest(tree, out):
    """Fill ``out`` with the partitions that have the smallest key; their number, and the nodes looked at."""
    least = tree[1]
    leaves = np.uint64(tree.size) >> np.uint64(1)
    node = np.uint64(1)
    size = steps = 0
    while node > np.uint64(0):
        steps += 1
        if tree[node] == least:
            if node < leaves:
                node <<= np.uint64(1)
                continue
            out[size] = np.int64(node - leaves)
            size += 1
        while node & np.uint64(1):  # up from what is the second of two; the root leads to 0
            node >>= np.uint64(1)
        if node > np.uint64(0):
            node += np.uint64(1)
    return size, steps

"""How the list of a phase is divided among the threads of the team, by its main thread."""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline
from gpop.cpu import team
from gpop.cpu.work import SCATTER

MOST_OF_ONE = 8
"""All but one in so many active edges are nearly all. With .95 of them in one of two partitions a diffusion
on citations took two threads 1.06 of the time of one."""


@inline
def order_by_weight(c, all_active):
    """Fill ``gather_order``: the partitions to gather, the one with most in-edges first."""
    size = 0
    for i in range(c.k):
        d = c.heaviest[i]
        if all_active or c.listed[d]:
            c.gather_order[size] = d
            size += 1


@inline
def share_by_edges(phase, items, load, threads, c):
    """Divide the list of a light phase among the threads.

    Their parts of the scatter have about as many active edges each; the gather is divided at the same
    partitions. Not where there are other ranks: a thread would have all own partitions, which alone gather.
    """
    shares = team.SHARES
    borders = shares + threads
    share = 1
    below = np.int64(0)
    for i in range(items):
        if phase == SCATTER:
            p = c.scatter_list[i]
            edges = c.active_edges[p]
            while share < threads and (2 * below + edges) * threads > 2 * load * share:
                c.team[shares + share] = i
                c.team[borders + share] = p
                share += 1
            below += edges
        else:
            while share < threads and c.gather_list[i] >= c.team[borders + share]:
                c.team[shares + share] = i
                share += 1
    for rest in range(share, threads):
        c.team[shares + rest] = items
        if phase == SCATTER:
            c.team[borders + rest] = c.k


@inline
def is_divided(items, load, c):
    """Whether others find something to do in a scatter: it is not nearly all in one partition."""
    most = np.int64(0)
    for i in range(items):
        most = max(most, c.active_edges[c.scatter_list[i]])
    return MOST_OF_ONE * most <= (MOST_OF_ONE - 1) * load


@inline
def share_evenly(items, threads, c):
    """Divide a list among the threads, which then claim what they do piece by piece."""
    for share in range(threads):
        c.team[team.SHARES + share] = items * share // threads
        c.claim[team.LINE_SLOTS * share] = 0

"""Breadth-first search by one thread: all levels, or those before one that others share.

Paper: S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import clock_ns
from gpop.common.inlined import inline
from gpop.direct.breadth_first_steps import (
    BARE,
    DEPTH,
    EDGES,
    FROM,
    LEFT,
    MOST,
    NARROW,
    NOBODY,
    PULLS,
    REST,
    SIZE,
    TO,
    WIDE,
    edges_of,
    may_find,
    pays_to_pull,
    pull_all,
    push,
    say_unseen,
    settle,
    to_bits,
    to_list,
    words_to_pull,
)
from gpop.model.sharing import MANY_THREADS, pays_to_share

FEW = 4
"""Edges per vertex, of a graph or of a level, up to which lists are walked in narrow blocks. Where mails lead
one way only, five of each and none of many, a search takes .65 of the time that all wide blocks took."""

_PUSH, _PULL = range(2)
_NANOSECONDS = 2  # slots of ``tally``, behind the edges of both
_ONE, _HALF = np.uint64(1), np.uint64(32)


@inline
def is_short(space):
    """Whether lists are walked in narrow blocks."""
    return len(space.indices) <= FEW * len(space.seen)


@inline
def begin_search(source, space, parent, level, threads, shared_rest, shared_edges, parted):
    """All levels from ``source``, or those before one that is worth to share, while so many are beyond it.

    Returns whether there is such a level. ``order[begin:end]`` is the frontier after a push; what is before
    ``marked`` has its bits in ``visited``. Where others may be called they say of the vertices that were not
    seen that they have no parent: to write to each of them takes one thread a twelfth to a sixth of a search.
    Not two threads, nor where lists are short, as of roads: each level would wait for lines that it writes;
    but where each waits for its part of them (``parted``) that takes less than to have them written before.
    """
    narrow, most = is_short(space), space.limits[MOST]
    many = threads >= MANY_THREADS and not narrow
    bare, n = many or parted, np.uint64(len(level))
    if not bare:
        parent[:], level[:] = NOBODY, -1
    space.seen[:], space.visited[:], space.tally[:] = 0, 0, 0
    space.seen[source], space.order[0] = 1, np.uint64(source) << _HALF | np.uint64(source)
    begin, end, marked, depth, before = np.uint64(0), _ONE, np.uint64(0), np.int32(0), _PUSH
    size, edges = np.int64(1), space.indptr[source + 1] - space.indptr[source]
    rest, left, started = may_find(source, space), len(space.indices), clock_ns()
    while size > 0:
        pulls = pays_to_pull(before == _PULL, size, edges, rest, left, words_to_pull(space))
        shared = pulls or pays_to_share(threads, size, edges, shared_edges)
        if shared and before == _PUSH and rest >= shared_rest:
            now = space.left_off
            edges = edges_of(begin, end, space) if narrow else edges  # which are not always counted
            now[SIZE], now[EDGES], now[REST], now[LEFT] = size, edges, rest, left
            now[DEPTH], now[FROM], now[TO], now[PULLS] = depth, begin, end, pulls
            now[BARE] = bare
            if not pulls:  # else others settle them, too
                settle(begin, end, depth, space, parent, level)
            return True
        depth += np.int32(1)
        if pulls:
            if before == _PUSH:
                settle(begin, end, depth - np.int32(1), space, parent, level)
            if bare:
                say_unseen(np.uint64(0), n, space.seen, parent, level)
                bare = False
            if before == _PUSH:
                to_bits(marked, end, space)
            size, looked = pull_all(depth, space, parent, level)
            space.tally[_PULL] += looked
            left -= left * size // max(rest, 1)
        else:
            if before == _PULL:
                begin, end = end, to_list(end, space)
                marked, edges = end, edges_of(begin, end, space)
            found = before == _PUSH, depth - np.int32(1), space, parent, level
            if narrow or edges <= FEW * size:
                tail, edges = push(begin, end, NARROW, *found)
            else:  # its lists are longer: to add up their lengths once more has them fetched
                tail, _ = push(begin, end, WIDE, *found)
            space.tally[_PUSH] += edges
            left -= edges
            begin, end = end, tail
            size, edges = np.int64(end - begin), np.int64(0)
            # No frontier of so few is pulled.
            bound = min(size * most, len(space.indices))
            if not narrow or bound * bound > (rest - size) * left:
                edges = edges_of(begin, end, space)
        rest -= size
        before, now = _PULL if pulls else _PUSH, clock_ns()
        space.tally[_NANOSECONDS + before] += now - started
        started = now
    if bare:
        say_unseen(np.uint64(0), n, space.seen, parent, level)
    return False

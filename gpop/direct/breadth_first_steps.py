"""Steps of a breadth-first search by one thread: push from a list, pull by bits, and from one to the other.

What such steps take are branches that nobody can foresee, so these have few. Push walks the edges of a vertex
in blocks of a width that is known when this is compiled, over the end of the list, where what is read counts
for nothing. Pull looks at the same two in-neighbours of every vertex (`gpop.layout.likely_sources`), and
walks the in-edges of those only that find none there.

An unseen vertex has no neighbours of an earlier level than the frontier's, else it would have been seen. So
``visited``, those seen before this level, does for the frontier when it pulls.

Encoding: ``order`` has the vertices that were pushed to, level by level, and above each the one that found
it; ``seen`` is a byte for each vertex while levels are pushed (a bit would be written again before the last
write to its word is through). ``fresh`` are the bits that a pull has found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import popcount, prefetch
from gpop.common.inlined import inline
from gpop.direct.frontier import is_in

NARROW, WIDE = np.uint64(4), np.uint64(8)
"""Widths of a block: of 8, six edges of a mesh are one block; of 4, two or three of a road are."""

SIZE, EDGES, REST, LEFT, DEPTH, FROM, TO, PULLS, BARE, LEFT_OFF = range(10)
"""Slots of ``left_off``: vertices and edges of the frontier, those that may be beyond it, its level, where
it lies in ``order``, whether it is to be pulled from, and whether nothing is said yet of who was not seen."""

NOBODY = 0xFFFFFFFF
"""The parent of who has none."""

MOST, FINDABLE, REACHED = range(3)
"""Slots of ``limits``: edges of the hub, the vertex that has most; and how many vertices a search may find at
most: those with in-edges, and of these those that the hub reaches. Two in three of a network of votes have no
in-edges, one in twelve of mails is in a small component."""

STILL = 4
"""A level is pulled after another where those found are more than one in so many of the others."""

_ZERO, _ONE, _FOUR, _SIX, _EIGHT, _HALF, _WORD = (np.uint64(number) for number in (0, 1, 4, 6, 8, 32, 64))
_NOBODY = np.uint32(NOBODY)
_LAST_BIT, _ID = np.uint64(63), np.uint64(0xFFFFFFFF)


class SearchSpace(NamedTuple):
    """The graph as a search walks it, and what it works in; ``able``: who may be found, of ``some`` or of
    the hub's ``reach``, which are bits, too; ``tally``: edges and nanoseconds by phase;
    ``limits``: of what a search may find; ``left_off``: what others go on with."""

    indptr: np.ndarray
    indices: np.ndarray
    starts: np.ndarray
    sources: np.ndarray
    pairs: np.ndarray
    some: np.ndarray
    more: np.ndarray
    reach: np.ndarray
    able: np.ndarray
    order: np.ndarray
    seen: np.ndarray
    visited: np.ndarray
    fresh: np.ndarray
    missed: np.ndarray
    tally: np.ndarray
    limits: np.ndarray
    left_off: np.ndarray


@inline
def pays_to_pull(after_pull, size, edges, rest, left, words):
    """Whether a level is pulled; see `gpop.direct.breadth_first`."""
    return STILL * size > rest if after_pull else edges * edges > rest * left and edges > words


@inline
def may_find(source, space):
    """How many vertices a search from here finds at most; who they are is put into ``able``.

    Who begins within the hub's reach stays there. To look for the others took a fifth of a search of mails:
    they have few in-edges, and each was looked at again by every pull.
    """
    words = np.uint64(len(space.able))
    within = words > _ZERO and is_in(space.reach, np.uint64(source))
    for word in range(words):
        space.able[word] = space.reach[word] if within else space.some[word]
    return space.limits[REACHED if within else FINDABLE]


@inline
def words_to_pull(space):
    """Words of bits that a pull looks at; where there is nothing to pull by more than any graph has edges."""
    return np.int64(len(space.visited)) if len(space.pairs) > 0 else np.int64(1) << 62


@inline
def look_ahead(i, end, list, indptr, indices, parent, level):
    """Ask for what the entries behind ``list[i]`` need."""
    if i + _EIGHT < end:
        ahead = list[i + _EIGHT] & _ID
        prefetch(indptr, ahead)
        prefetch(parent, ahead)
        prefetch(level, ahead)
        prefetch(indices, np.uint64(indptr[list[i + _FOUR] & _ID]))


@inline
def push(begin, end, width, pushed, depth, space, parent, level):
    """Unseen vertices that ``order[begin:end]`` leads to are put behind them; the list's end, and edges.

    Those on the list are settled where they were ``pushed`` to, at this ``depth``.
    """
    indptr, indices, order, seen = space.indptr, space.indices, space.order, space.seen
    tail, edges, walked = end, np.uint64(len(indices)), _ZERO
    for i in range(begin, end):
        look_ahead(i, end, order, indptr, indices, parent, level)
        v = order[i] & _ID
        if pushed:
            parent[v], level[v] = np.uint32(order[i] >> _HALF), depth
        e, stop = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])
        walked += stop - e
        if width > NARROW:
            while e + width <= stop:
                for j in range(width):
                    u = np.uint64(indices[e + j])
                    order[tail] = v << _HALF | u
                    tail += np.uint64(seen[u] == 0)
                    seen[u] = 1
                e += width
            if e + width <= edges:
                for j in range(width):
                    u = np.uint64(indices[e + j])
                    found = (seen[u] == 0) & (e + j < stop)
                    order[tail] = v << _HALF | u
                    tail += np.uint64(found)
                    seen[u] |= np.uint8(found)
                e = stop
        else:
            while e < stop and e + width <= edges:
                for j in range(width):
                    u = np.uint64(indices[e + j]) if e + j < stop else v  # which has been seen
                    order[tail] = v << _HALF | u
                    tail += np.uint64(seen[u] == 0)
                    seen[u] = 1
                e += width
        while e < stop:
            u = np.uint64(indices[e])
            order[tail] = v << _HALF | u
            tail += np.uint64(seen[u] == 0)
            seen[u] = 1
            e += _ONE
    return tail, np.int64(walked)


@inline
def say_unseen(first, last, seen, parent, level):
    """Those of ``[first, last)`` that were not seen have no parent and no level. Others are not touched."""
    for v in range(first, last):
        if not seen[v]:
            parent[v], level[v] = _NOBODY, np.int32(-1)


@inline
def settle(begin, end, depth, space, parent, level):
    """Parents and levels of those that were pushed to."""
    for i in range(begin, end):
        if i + _EIGHT < end:
            prefetch(parent, space.order[i + _EIGHT] & _ID)
            prefetch(level, space.order[i + _EIGHT] & _ID)
        v = space.order[i] & _ID
        parent[v], level[v] = np.uint32(space.order[i] >> _HALF), depth


@inline
def edges_of(begin, end, space):
    """Edges that start at ``order[begin:end]``."""
    edges = np.int64(0)
    for i in range(begin, end):
        v = space.order[i] & _ID
        edges += space.indptr[v + _ONE] - space.indptr[v]
    return edges


@inline
def to_bits(begin, end, space):
    """Those of ``order[begin:end]`` have been visited."""
    for i in range(begin, end):
        v = space.order[i] & _ID
        space.visited[v >> _SIX] |= _ONE << (v & _LAST_BIT)


@inline
def to_list(end, space):
    """What a pull has found is put on the list, and all that was visited has been seen; the list's end."""
    n = np.uint64(len(space.seen))
    for word in range(np.uint64(len(space.fresh))):
        bits = space.fresh[word]
        while bits != _ZERO:
            others = bits & (bits - _ONE)
            space.order[end] = (word << _SIX) + popcount((bits ^ others) - _ONE)
            end += _ONE
            bits = others
    for word in range(n >> _SIX):
        bits = space.visited[word]
        for j in range(_WORD):
            space.seen[(word << _SIX) + j] = bits >> j & _ONE
    for v in range(n & ~_LAST_BIT, n):
        space.seen[v] = is_in(space.visited, v)
    return end


@inline
def _set_levels(word, bits, depth, level):
    """The level of those whose bits are set: 64 at a time, which the compiler makes vectors of."""
    first = word << _SIX
    if first + _WORD <= np.uint64(len(level)):
        for j in range(_WORD):
            level[first + j] = depth if bits >> j & _ONE else level[first + j]
    else:
        for j in range(np.uint64(len(level)) - first):
            level[first + j] = depth if bits >> j & _ONE else level[first + j]


@inline
def _look(first, last, depth, visited, fresh, space, parent, level):
    """Unvisited vertices of words ``[first, last)`` look at their two likely sources.

    Returns how many have looked, found one, and are ``missed``: they found none and have other in-edges.
    """
    pairs, looked, missing, size = space.pairs, _ZERO, first << _SIX, _ZERO
    for word in range(first, last):
        left, more, found = ~visited[word] & space.able[word], space.more[word], _ZERO
        looked += popcount(left)
        while left != _ZERO:
            others = left & (left - _ONE)
            at = popcount((left ^ others) - _ONE)
            left = others
            v = (word << _SIX) + at
            one, two = np.uint64(pairs[v << _ONE]), np.uint64(pairs[(v << _ONE) + _ONE])
            met_one = visited[one >> _SIX] >> (one & _LAST_BIT) & _ONE
            met = met_one | visited[two >> _SIX] >> (two & _LAST_BIT) & _ONE
            parent[v] = (one if met_one != _ZERO else two) | met - _ONE
            found |= met << at
            space.missed[missing] = v
            missing += more >> at & (met ^ _ONE)
        fresh[word] = found
        size += popcount(found)
        if found != _ZERO:
            _set_levels(word, found, depth, level)
    return looked, size, missing - (first << _SIX)


@inline
def pull(first, last, depth, visited, fresh, space, parent, level):
    """Unvisited vertices of some words look for a visited one; ``fresh`` are who meets one; how many."""
    starts, sources, missed = space.starts, space.sources, space.missed
    looked, size, missing = _look(first, last, depth, visited, fresh, space, parent, level)
    looked -= missing
    begin = first << _SIX
    end = begin + missing
    for i in range(begin, end):
        if i + _EIGHT < end:
            prefetch(sources, np.uint64(starts[np.uint64(missed[i + _EIGHT])]))
        v = np.uint64(missed[i])
        listed, stop = np.uint64(starts[v]), np.uint64(starts[v + _ONE])
        e = listed
        while e < stop:
            u = np.uint64(sources[e])
            e += _ONE
            if is_in(visited, u):
                parent[v], level[v] = u, depth
                fresh[v >> _SIX] |= _ONE << (v & _LAST_BIT)
                size += _ONE
                break
        looked += e - listed
    return np.int64(size), np.int64(looked)


@inline
def pull_all(depth, space, parent, level):
    """All unvisited vertices look for a visited one, and who has met one has been visited; how many."""
    words = np.uint64(len(space.visited))
    size, looked = pull(_ZERO, words, depth, space.visited, space.fresh, space, parent, level)
    for word in range(words):
        space.visited[word] |= space.fresh[word]
    return size, looked

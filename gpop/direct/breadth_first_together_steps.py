"""Steps of a breadth-first search that threads share: what each does with a chunk of one.

Steps: CLAIMS begins with what one thread has seen. PUSH. BITS, before a pull after a push: the last list is
settled, and what is claimed is visited. PULL. LIST, before a push after a pull: what it has found is the
list, one segment for each chunk, and what was visited is claimed.

Encoding: ``claim`` of what nobody has found is `UNSEEN`; `SETTLED` is that of lists that need no settling.
``found[w]`` is the list of thread w, as ``order`` is: the vertex below the one that found it. It is never
begun anew, because a thread finds a vertex once. ``segments`` and ``chunks`` have a row for each chunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import compare_and_swap, popcount, prefetch
from gpop.common.inlined import inline
from gpop.direct.breadth_first_halves import SLOTS as OF_HALVES
from gpop.direct.breadth_first_parts import SLOTS as OF_PARTS
from gpop.direct.breadth_first_steps import BARE, DEPTH, pull, say_unseen
from gpop.direct.crew import CHUNKS, apart, make_crew
from gpop.model.sharing import MOST_PARTS

CLAIMS, PUSH, BITS, PULL, LIST, OVER = range(6)
MARKED, PARITY, CLAIM, ORDERED, MOST, LENGTH, PER, SEEN, BEGUN, CHUNKED, SLOTS = range(9, 20)
"""Slots of ``now`` after those of ``left_off``: segments of the list; which rows are read and which written;
the claim of the first chunk; the end of ``order``; chunks at most; what is divided among them, and how much
of it each has; whether bits are those of ``seen``; when the step began; edges of a chunk."""

ROW, FIRST, COUNT, BY, NEW, REACH, LOOKED = range(7)
"""Of a segment: whose list, where it begins, how long it is, its claim; how many nobody had claimed, and
their edges; edges looked at. A cache line, which one thread writes."""

UNSEEN, SETTLED = 0xFFFFFFFF, 0

COMMON = -1
"""In place of a thread: the list is ``order``."""

CHUNK_WORDS = 1 << 3
"""Of a chunk: about a microsecond, and a cache line of each set of bits."""

SEGMENT = 1 << 9
"""Vertices of the list that one thread left, which one settles."""

MOST_CHUNKS = 8
"""For each thread."""

_BATCH = 256  # edges that are walked before those found are claimed
_AHEAD = np.uint64(8)
_ZERO, _ONE, _SIX, _HALF = (np.uint64(number) for number in (0, 1, 6, 32))
_ID, _UNSEEN, _SETTLED = np.uint64(0xFFFFFFFF), np.uint32(UNSEEN), np.uint32(SETTLED)


class TogetherSpace(NamedTuple):
    """What threads share beside what one works in; ``after`` takes turns with its ``visited``."""

    claim: np.ndarray
    found: np.ndarray
    filled: np.ndarray
    after: np.ndarray
    segments: np.ndarray
    chunks: np.ndarray
    crew: np.ndarray
    now: np.ndarray
    marks: np.ndarray
    halves: np.ndarray
    parts: np.ndarray
    bounds: np.ndarray


def space_for(n: int, most: int, threads: int) -> TogetherSpace:
    """For a graph of n vertices with at most so many edges each."""
    chunks = MOST_CHUNKS * threads
    return TogetherSpace(
        np.empty(n, np.uint32), np.empty((threads, n + most + _BATCH), np.uint64),
        apart(8 * threads).reshape(threads, 8), np.empty((n + 63) // 64, np.uint64),
        apart(2 * chunks * 8).reshape(2, chunks, 8), np.empty((chunks + 1, 2), np.int64),
        make_crew(threads), apart(SLOTS), np.empty(n, np.uint8), apart(OF_HALVES), apart(OF_PARTS),
        apart(threads * 2 * MOST_PARTS).view(np.uint64).reshape(threads, 2 * MOST_PARTS),
    )  # fmt: skip


@inline
def _range(k, together):
    """What chunk k has of a step that is divided evenly."""
    per, length = np.uint64(together.now[PER]), np.uint64(together.now[LENGTH])
    first = np.uint64(k) * per
    return first, min(first + per, length)


@inline
def _say_unseen(k, together, space, parent, level):
    """What one thread has not seen has no parent, if nobody has said so; the vertices of this chunk."""
    first, last = _range(k, together)
    first, last = first << _SIX, min(last << _SIX, np.uint64(len(together.claim)))
    if together.now[BARE]:
        say_unseen(first, last, space.seen, parent, level)
    return first, last


@inline
def _claim_seen(k, together, space, parent, level):
    """What one thread has seen is claimed."""
    first, last = _say_unseen(k, together, space, parent, level)
    for v in range(first, last):
        together.claim[v] = _SETTLED if space.seen[v] else _UNSEEN


@inline
def _settle(v, entry, depth, parent, level):
    parent[v], level[v] = np.uint32(entry >> _HALF), depth


@inline
def _take(begin, end, mine, alone, row, claim, indptr):
    """Claim those of ``row[begin:end]`` that still are to be had, and keep them; the end, how many, and edges
    of those that nobody had claimed."""
    kept, new, reach = begin, np.int64(0), np.int64(0)
    for i in range(begin, end):
        prefetch(indptr, row[i] & _ID)
    for i in range(begin, end):
        u = row[i] & _ID
        before = claim[u]
        taken = False
        while mine < before and not taken:
            if alone:
                claim[u] = mine
                taken = True
            else:
                taken = compare_and_swap(claim, u, before, mine)
                if not taken:
                    before = claim[u]
        if taken:
            row[kept] = row[i]
            kept += _ONE
            if before == _UNSEEN:
                new += 1
                reach += indptr[u + _ONE] - indptr[u]
    return kept, new, reach


@inline
def _push(worker, k, alone, together, space, parent, level):
    """Part of the list: who is still of it is settled, and what it leads to is claimed."""
    now, claim, chunks = together.now, together.claim, together.chunks
    indptr, indices, row = space.indptr, space.indices, together.found[worker]
    segments, depth = together.segments[now[PARITY]], np.int32(now[DEPTH])
    mine = np.uint32(now[CLAIM] + k)
    begin = kept = at = np.uint64(together.filled[worker, 0])
    new = reach = looked = np.int64(0)
    for s in range(chunks[k, 0], chunks[k + 1, 0] + 1):
        first = np.uint64(chunks[k, 1] if s == chunks[k, 0] else 0)
        last = np.uint64(chunks[k + 1, 1] if s == chunks[k + 1, 0] else segments[s, COUNT])
        if first == last:
            continue
        segment = segments[s]
        list = space.order if segment[ROW] == COMMON else together.found[segment[ROW]]
        by = np.uint32(segment[BY])
        first += np.uint64(segment[FIRST])
        last += np.uint64(segment[FIRST])
        for i in range(first, last):
            if i + _AHEAD + _AHEAD < last:
                prefetch(indptr, list[i + _AHEAD + _AHEAD] & _ID)
                prefetch(claim, list[i + _AHEAD + _AHEAD] & _ID)
                prefetch(indices, np.uint64(indptr[list[i + _AHEAD] & _ID]))
            v = list[i] & _ID
            if claim[v] != by:  # somebody earlier on the list before has found it, too
                continue
            if by != _SETTLED:
                _settle(v, list[i], depth, parent, level)
            e, stop = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])
            looked += np.int64(stop - e)
            while e < stop:
                u = np.uint64(indices[e])
                row[at] = v << _HALF | u
                at += np.uint64(claim[u] > mine)
                e += _ONE
            if at >= kept + np.uint64(_BATCH):
                kept, some, more = _take(kept, at, mine, alone, row, claim, indptr)
                at, new, reach = kept, new + some, reach + more
    kept, some, more = _take(kept, at, mine, alone, row, claim, indptr)
    together.filled[worker, 0] = kept
    _tell(k, worker, begin, kept - begin, mine, new + some, reach + more, looked, together)


@inline
def _tell(k, row, first, count, by, new, reach, looked, together):
    """What came of a chunk."""
    segment = together.segments[1 - together.now[PARITY], k]
    segment[ROW], segment[FIRST], segment[COUNT], segment[BY] = row, first, count, by
    segment[NEW], segment[REACH], segment[LOOKED] = new, reach, looked


@inline
def _to_bits(k, together, space, parent, level):
    """A segment of the last list is settled, or words of bits are made of what has been found."""
    now, claim, n = together.now, together.claim, np.uint64(len(together.claim))
    if k < now[MARKED]:
        segment = together.segments[now[PARITY], k]
        list = space.order if segment[ROW] == COMMON else together.found[segment[ROW]]
        by, begin = np.uint32(segment[BY]), np.uint64(segment[FIRST])
        if now[SEEN] or by != _SETTLED:
            for i in range(begin, begin + np.uint64(segment[COUNT])):
                v = list[i] & _ID
                if now[SEEN] or claim[v] == by:
                    _settle(v, list[i], np.int32(now[DEPTH]), parent, level)
    else:
        _say_unseen(k - now[MARKED], together, space, parent, level)
        first, last = _range(k - now[MARKED], together)
        visited = together.after if now[PARITY] else space.visited
        for word in range(first, last):
            bits = _ZERO
            for v in range(word << _SIX, min(word + _ONE << _SIX, n)):
                known = space.seen[v] != 0 if now[SEEN] else claim[v] != _UNSEEN
                bits |= np.uint64(known) << (v & np.uint64(63))
            visited[word] = bits


@inline
def _pull(k, together, space, parent, level):
    """Words of vertices that nobody has visited look for one who is."""
    first, last = _range(k, together)
    visited, after = space.visited, together.after
    if together.now[PARITY]:
        visited, after = after, visited
    depth = np.int32(together.now[DEPTH] + 1)
    size, looked = pull(first, last, depth, visited, space.fresh, space, parent, level)
    for word in range(first, last):
        after[word] = visited[word] | space.fresh[word]
    _tell(k, COMMON, 0, size, SETTLED, size, 0, looked, together)


@inline
def _to_list(k, together, space):
    """What these words have found is the list's part, and what they have visited is claimed."""
    first, last = _range(k, together)
    visited = together.after if together.now[PARITY] else space.visited
    segment, n = together.segments[together.now[PARITY], k], np.uint64(len(together.claim))
    at, reach = np.uint64(segment[FIRST]), np.int64(0)
    for word in range(first, last):
        bits = space.fresh[word]
        while bits != _ZERO:
            others = bits & (bits - _ONE)
            v = (word << _SIX) + popcount((bits ^ others) - _ONE)
            space.order[at] = v
            reach += space.indptr[v + _ONE] - space.indptr[v]
            at += _ONE
            bits = others
        bits = visited[word]
        for v in range(word << _SIX, min(word + _ONE << _SIX, n)):
            together.claim[v] = _SETTLED if bits >> (v & np.uint64(63)) & _ONE else _UNSEEN
    segment[REACH] = reach


@inline
def do_chunk(worker, kind, k, together, space, parent, level):
    """A chunk of a step."""
    if kind == PUSH:
        _push(worker, k, together.crew[CHUNKS] == 1, together, space, parent, level)
    elif kind == PULL:
        _pull(k, together, space, parent, level)
    elif kind == BITS:
        _to_bits(k, together, space, parent, level)
    elif kind == LIST:
        _to_list(k, together, space)
    else:
        _claim_seen(k, together, space, parent, level)

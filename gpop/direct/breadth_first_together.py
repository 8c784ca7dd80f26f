"""Breadth-first search by a crew of threads: what one thread has begun, from a level that is worth it on.

The same search as that of breadth_first.py, level by level, and the same tree: which of several parents a
vertex has does not depend on how many threads there are. A level is pushed from a list in the order in which
one thread would have found it: of all that lead to a vertex the first on the list is its parent. The list is
cut into chunks (`gpop.direct.crew`), numbered in this order and from level to level. Who finds a vertex
claims it with the number of the chunk, and a claim is lost to a smaller number. What a chunk has found is in
a *segment* of its thread's list; the next list is all segments in the order of the chunks, less what was
lost, which a chunk of the next level sees by the claim when it reads the list. It also writes parents and
levels then, so that a level has one barrier. How many were found, and their edges, is exact before: who takes
what nobody had claimed counts it.

A level is pulled word by word, from the bits of one set to those of another, which change places after it.

Steps: CLAIMS begins with what one thread has seen. PUSH. BITS, before a pull after a push: the last list is
settled, and what is claimed is visited. PULL. LIST, before a push after a pull: what it has found is the
list, one segment for each chunk, and what was visited is claimed.

Encoding: ``claim`` of what nobody has found is `UNSEEN`; `SETTLED` is that of lists that need no settling.
``found[w]`` is the list of thread w, as ``order`` is: the vertex below the one that found it. It is never
begun anew, because a thread finds a vertex once. ``segments`` and ``chunks`` have a row for each chunk.
Paper: S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import clock_ns, compare_and_swap, popcount, prefetch
from gpop.common.by_reference import Reference
from gpop.common.inlined import inline
from gpop.direct.breadth_first_steps import (
    DEPTH,
    EDGES,
    FROM,
    LEFT,
    PULLS,
    REST,
    SIZE,
    TO,
    pays_to_pull,
    pull,
)
from gpop.direct.crew import CHUNKS, KIND, announce, apart, chunk_done, end, make_crew, next_chunk
from gpop.direct.phases import kernel
from gpop.direct.shared_job import share

CLAIMS, PUSH, BITS, PULL, LIST, OVER = range(6)
MARKED, PARITY, CLAIM, ORDERED, MOST, LENGTH, PER, SEEN, BEGUN, SLOTS = range(8, 18)
"""Slots of ``now`` after those of ``left_off``: segments of the list; which rows are read and which written;
the claim of the first chunk; the end of ``order``; chunks at most; what is divided among them, and how much
of it each has; whether bits are those of ``seen``; when the step began."""

ROW, FIRST, COUNT, BY, NEW, REACH, LOOKED, FIELDS = range(8)
"""Of a segment: whose list, where it begins, how long it is, its claim; how many nobody had claimed, and
their edges; edges looked at. A cache line, which one thread writes."""

UNSEEN, SETTLED = 0xFFFFFFFF, 0

COMMON = -1
"""In place of a thread: the list is ``order``."""

CHUNK_EDGES, CHUNK_WORDS = 1 << 10, 1 << 4
"""Of a chunk: about a microsecond."""

MOST_CHUNKS = 8
"""For each thread."""

_BATCH = 256  # edges that are walked before those found are claimed
_AHEAD = np.uint64(8)
_ZERO, _ONE, _SIX, _WORD, _HALF = (np.uint64(number) for number in (0, 1, 6, 64, 32))
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


def space_for(n: int, most: int, threads: int) -> TogetherSpace:
    """For a graph of n vertices with at most so many edges each."""
    chunks = MOST_CHUNKS * threads
    return TogetherSpace(
        np.empty(n, np.uint32), np.empty((threads, n + most + _BATCH), np.uint64),
        apart(8 * threads).reshape(threads, 8), np.empty((n + 63) // 64, np.uint64),
        apart(2 * chunks * 8).reshape(2, chunks, 8), np.empty((chunks + 1, 2), np.int64),
        make_crew(), apart(SLOTS),
    )  # fmt: skip


@inline
def _range(k, together):
    """What chunk k has of a step that is divided evenly."""
    per, length = np.uint64(together.now[PER]), np.uint64(together.now[LENGTH])
    first = np.uint64(k) * per
    return first, min(first + per, length)


@inline
def _claim_seen(k, together, space):
    """What one thread has seen is claimed."""
    first, last = _range(k, together)
    n = np.uint64(len(together.claim))
    for v in range(first << _SIX, min(last << _SIX, n)):
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
        if by != _SETTLED:
            for i in range(begin, begin + np.uint64(segment[COUNT])):
                v = list[i] & _ID
                if claim[v] == by:
                    _settle(v, list[i], np.int32(now[DEPTH]), parent, level)
    else:
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
def _do(worker, kind, k, together, space, parent, level):
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
        _claim_seen(k, together, space)


@inline
def _add_up(together):
    """What came of all chunks of a step that is over: found, their edges, and edges looked at."""
    segments, new, reach, looked = together.segments[together.now[PARITY]], 0, 0, 0
    for k in range(together.crew[CHUNKS]):
        new += segments[k, NEW]
        reach += segments[k, REACH]
        looked += segments[k, LOOKED]
    return new, reach, looked


@inline
def _count(kind, together, space):
    """Count what a step has brought, and its time."""
    now, tally, pulled = together.now, space.tally, kind in (BITS, PULL)
    moment = clock_ns()
    tally[2 + pulled] += moment - now[BEGUN]
    now[BEGUN] = moment
    if kind == LIST:
        _, now[EDGES], _ = _add_up(together)
    elif kind == BITS:
        now[SEEN] = 0
    elif kind in (PUSH, PULL):
        now[PARITY] = 1 - now[PARITY]
        now[SIZE], edges, looked = _add_up(together)
        tally[0 + pulled] += looked
        now[LEFT] -= now[LEFT] * now[SIZE] // max(now[REST], 1) if pulled else looked
        now[REST] -= now[SIZE]
        now[EDGES] = edges
        now[DEPTH] += 1
        now[MARKED] = together.crew[CHUNKS]
        now[CLAIM] += 0 if pulled else together.crew[CHUNKS]


@inline
def _next(kind, together, space):
    """The step after this one."""
    now = together.now
    if kind in (CLAIMS, LIST):
        return PUSH
    if kind == BITS:
        return PULL
    if now[SIZE] == 0:
        return OVER
    pulls = pays_to_pull(
        kind == PULL, now[SIZE], now[EDGES], now[REST], now[LEFT], np.int64(len(space.visited))
    )
    if kind == PULL:
        return PULL if pulls else LIST
    return BITS if pulls else PUSH


@inline
def _announce(kind, others, length, work, together):
    """Divide what a step goes through among as many chunks as ``work`` is worth, behind ``others``."""
    now = together.now
    chunks = max(1, min(work, now[MOST], length))
    now[LENGTH], now[PER] = length, (length + chunks - 1) // chunks
    chunks = (length + now[PER] - 1) // now[PER]
    announce(together.crew, kind, others + chunks, False)


@inline
def _cut_list(together):
    """The list, which is a row of segments, is cut into chunks of equal lengths."""
    now, segments, chunks = together.now, together.segments[together.now[PARITY]], together.chunks
    length = 0
    for s in range(now[MARKED]):
        length += segments[s, COUNT]
    parts = max(1, min(now[EDGES] // CHUNK_EDGES, now[MOST], length))
    per = (length + parts - 1) // parts
    parts = (length + per - 1) // per
    s = at = 0
    for k in range(parts):
        while at + segments[s, COUNT] <= k * per:
            at += segments[s, COUNT]
            s += 1
        chunks[k, 0], chunks[k, 1] = s, k * per - at
    chunks[parts, 0], chunks[parts, 1] = now[MARKED], 0
    return parts


@inline
def _begin_step(kind, together, space):
    """Cut a step into chunks, and announce it."""
    now, words = together.now, np.int64(len(space.visited))
    if kind == PUSH:
        announce(together.crew, kind, _cut_list(together), False)
    elif kind == BITS:
        _announce(kind, now[MARKED], words, words // CHUNK_WORDS, together)
    elif kind == PULL:
        _announce(kind, 0, words, min(words // CHUNK_WORDS, now[REST] // CHUNK_EDGES), together)
    elif kind == LIST:
        segments, at = together.segments[now[PARITY]], now[ORDERED]
        for s in range(now[MARKED]):
            segments[s, FIRST] = at
            at += segments[s, COUNT]
        now[ORDERED] = at
        announce(together.crew, kind, now[MARKED], False)
    else:
        _announce(kind, 0, words, words // CHUNK_WORDS, together)


@kernel
def begin_together(threads, together, space):
    """Announce the first step of so many threads, of a search that was left off with this frontier."""
    now, segment, left_off = together.now, together.segments[0, 0], space.left_off
    together.crew[:], together.filled[:] = 0, 0
    first, last, now[SEEN] = left_off[FROM], left_off[TO], left_off[PULLS]
    for slot in (SIZE, EDGES, REST, LEFT, DEPTH):
        now[slot] = left_off[slot]
    now[MARKED], now[PARITY], now[CLAIM], now[ORDERED] = 1, 0, SETTLED + 1, last
    now[MOST], now[BEGUN] = MOST_CHUNKS * threads, clock_ns()
    segment[ROW], segment[FIRST], segment[COUNT], segment[BY] = COMMON, first, last - first, SETTLED
    _begin_step(BITS if now[SEEN] else CLAIMS, together, space)


class _Search(NamedTuple):
    """What threads are called with."""

    together: Reference
    space: Reference
    parent: np.ndarray
    level: np.ndarray


@inline
def _search(worker, job):
    """The rest of a search: what the leader does, worker 0, and who follows."""
    together, space, parent, level = job.together, job.space, job.parent, job.level
    crew = together.crew
    while True:
        k = next_chunk(crew, worker)
        if k >= 0:
            _do(worker, crew[KIND], k, together, space, parent, level)
            chunk_done(crew)
        elif worker > 0:
            return
        else:
            kind = crew[KIND]
            _count(kind, together, space)
            kind = _next(kind, together, space)
            if kind == OVER:
                end(crew)
                return
            _begin_step(kind, together, space)


def go_on(together, space, parent, level, threads: int) -> None:
    """The rest of a search that has begun."""
    share(_search, _Search(together, space, parent, level), threads)

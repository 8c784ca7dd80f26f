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

What threads do in a step is in breadth_first_together_steps.py.
Paper: S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import clock_ns
from gpop.common.by_reference import Reference
from gpop.common.inlined import inline
from gpop.direct.breadth_first_steps import (
    BARE,
    DEPTH,
    EDGES,
    FROM,
    LEFT,
    PULLS,
    REST,
    SIZE,
    TO,
    pays_to_pull,
    words_to_pull,
)
from gpop.direct.breadth_first_together_steps import (
    BEGUN,
    BITS,
    BY,
    CHUNK_WORDS,
    CHUNKED,
    CLAIM,
    CLAIMS,
    COMMON,
    COUNT,
    FIRST,
    LENGTH,
    LIST,
    LOOKED,
    MARKED,
    MOST,
    MOST_CHUNKS,
    NEW,
    ORDERED,
    OVER,
    PARITY,
    PER,
    PULL,
    PUSH,
    REACH,
    ROW,
    SEEN,
    SEGMENT,
    SETTLED,
    do_chunk,
)
from gpop.direct.crew import CHUNKS, KIND, THREADS, announce, end, next_chunk


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
    elif kind in (BITS, CLAIMS):
        now[SEEN] = now[BARE] = 0
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
    pulls = pays_to_pull(kind == PULL, now[SIZE], now[EDGES], now[REST], now[LEFT], words_to_pull(space))
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
    parts = max(1, min(now[EDGES] // now[CHUNKED], now[MOST], length))
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
        _announce(kind, 0, words, words // CHUNK_WORDS, together)
    elif kind == LIST:
        segments, at = together.segments[now[PARITY]], now[ORDERED]
        for s in range(now[MARKED]):
            segments[s, FIRST] = at
            at += segments[s, COUNT]
        now[ORDERED] = at
        announce(together.crew, kind, now[MARKED], False)
    else:
        _announce(kind, 0, words, words // CHUNK_WORDS, together)


@inline
def begin_together(threads, chunk_edges, together, space):
    """Announce the first step of so many threads, of a search that was left off with this frontier."""
    now, left_off = together.now, space.left_off
    together.crew[:], together.filled[:] = 0, 0
    together.crew[THREADS] = threads
    first, last, now[SEEN] = left_off[FROM], left_off[TO], left_off[PULLS]
    for slot in (SIZE, EDGES, REST, LEFT, DEPTH, BARE):
        now[slot] = left_off[slot]
    now[PARITY], now[CLAIM], now[ORDERED] = 0, SETTLED + 1, last
    now[CHUNKED] = chunk_edges
    now[MOST], now[BEGUN] = MOST_CHUNKS * threads, clock_ns()
    now[MARKED] = min(now[MOST], 1 + (last - first) // SEGMENT) if now[SEEN] else 1
    for s in range(now[MARKED]):
        segment, begin = together.segments[0, s], first + (last - first) * s // now[MARKED]
        segment[ROW], segment[FIRST], segment[BY] = COMMON, begin, SETTLED
        segment[COUNT] = first + (last - first) * (s + 1) // now[MARKED] - begin
    _begin_step(BITS if now[SEEN] else CLAIMS, together, space)


class SharedSearch(NamedTuple):
    """What threads are called with."""

    together: Reference
    space: Reference
    parent: np.ndarray
    level: np.ndarray


PARENT_AT, LEVEL_AT = 2, 4
"""Slots of the addresses in its table (`gpop.common.by_reference`)."""


@inline
def go_on(worker, job):
    """The rest of a search: what the leader does, worker 0, and who follows."""
    together, space, parent, level = job.together, job.space, job.parent, job.level
    crew = together.crew
    owed = 0
    while True:
        k, owed = next_chunk(crew, worker, owed)
        if k >= 0:
            do_chunk(worker, crew[KIND], k, together, space, parent, level)
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

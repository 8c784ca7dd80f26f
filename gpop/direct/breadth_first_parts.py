"""Breadth-first search by threads where lists are short and neighbours near: each has a part of every level.

Levels of roads and meshes are many and small, and what takes the time is waiting for memory, which several
do together. There is one barrier a level, and the same tree as that of one thread. A level is a list, in the
order in which one thread would have found it, and each thread pushes from its part of that list: the first,
the second, and so on. Who finds a vertex marks it with the number of the level and of the part, and a mark is
lost to a smaller one: of all that lead to a vertex the first on the list is its parent. Neighbours of two
parts are few. The next level's list is what the first part has found, then the second, and so on, less what
was lost, which who reads it sees by the mark.

What is found is put behind the list in blocks of 4 edges without a branch, and marked some dozens of vertices
later, when it is known for almost all that they are new. How many each has found is all that a barrier tells.
Small levels have few parts, and who has none only listens. Until the others are there the leader is alone,
and nobody is waited for that never comes. Roads are not pulled from.

Bytes per edge: 4, and an access to a mark; per vertex 8 in order, its parent and where its list begins.
Encoding: while parts are pushed ``level`` is the mark: level and part (`_PART_BITS`), `UNSEEN` where nobody
has been: 2**27 levels fit. ``found[w]`` is all that thread w has found, level by level, encoded as ``order``.
``parts`` (int64, in cache lines) has slots for who comes; from `TOLD` on a ring of levels for each thread, in
which it tells what it has found, from level 1 on, as in breadth_first_halves.py; from `HEARD` on a line for
each thread with a level up to which it has heard all others.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import clock_ns, compare_and_swap, fetch_add, load_acquire, store_release
from gpop.common.inlined import inline
from gpop.direct.breadth_first_halves import hear, tell
from gpop.direct.breadth_first_steps import DEPTH, FROM, NARROW, NOBODY, TO, look_ahead, push, say_unseen
from gpop.direct.phases import wait_until
from gpop.model.sharing import MOST_PARTS

LEAST_PART = 16
"""Vertices of a part."""

PATIENCE_NS = 40_000
"""For which the leader goes on alone, though somebody has come, until all have."""

COME, WANTED, PARTS, WRITTEN, BEGUN = 0, 8, 9, 16, 24
"""How many have come, or `_CLOSED` and more; how many are called; parts, once that is decided; how many have
written their marks; and whether all have."""

_LINE, _RING = 8, 64
TOLD = 32
HEARD = TOLD + MOST_PARTS * _RING * _LINE
SLOTS = HEARD + MOST_PARTS * _LINE

UNSEEN = 0x7FFFFFFF

_CLOSED = 1 << 32
_PART_BITS = 4
_BATCH = np.uint64(128)  # of what is found, before it is marked
_UNEVEN = np.uint64(4)  # parts differ by so many and one in so many, at most
_PUSH_EDGES, _PUSH_NANOSECONDS = 0, 2  # slots of ``tally``
_UNSEEN, _PART, _PARTS = np.int32(UNSEEN), np.int32(_PART_BITS), np.int32(MOST_PARTS - 1)
_ONE, _HALF, _ID = (np.uint64(number) for number in (1, 32, 0xFFFFFFFF))


@inline
def begin_parts(wanted, parts):
    """Nobody has come, nothing is told, and so many are called."""
    parts[:], parts[WANTED] = 0, wanted


@inline
def _mark(begin, end, mark, row, level):
    """Mark what ``row[begin:end]`` says was found, unless somebody before has; the end of what is kept.

    The first part's marks are lost to none of this level: it need not look whether somebody was quicker.
    """
    kept, first = begin, mark & _PARTS == 0
    for i in range(begin, end):
        u = row[i] & _ID
        before, mine = level[u], False
        while before > mark and not mine:
            if first:
                level[u], mine = mark, True
            else:
                mine = compare_and_swap(level, u, before, mark)
                before = level[u]
        row[kept] = row[i]
        kept += np.uint64(mine)
    return kept


@inline
def _push(first, last, list, its, tail, row, mark, space, parent, level):
    """Push from those of ``list[first:last]`` whose mark is still ``its``; what they lead to is put behind
    ``row[:tail]``. Its end and the edges."""
    indptr, indices, edges, walked = space.indptr, space.indices, np.uint64(len(space.indices)), np.uint64(0)
    marked = tail
    for i in range(first, last):
        look_ahead(i, last, list, indptr, indices, parent, level)
        v = list[i] & _ID
        if level[v] != its:
            continue
        parent[v] = np.uint32(list[i] >> _HALF)
        e, stop = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])
        walked += stop - e
        while e < stop and e + NARROW <= edges:
            for j in range(NARROW):
                u = np.uint64(indices[e + j]) if e + j < stop else v  # which is marked
                row[tail] = v << _HALF | u
                tail += np.uint64(level[u] > mark)
            e += NARROW
        while e < stop:
            u = np.uint64(indices[e])
            row[tail] = v << _HALF | u
            tail += np.uint64(level[u] > mark)
            e += _ONE
        if tail - marked >= _BATCH:
            marked = tail = _mark(marked, tail, mark, row, level)
    return _mark(marked, tail, mark, row, level), walked


@inline
def _told(levels, worker):
    """The slot in which this one tells of so many levels."""
    return TOLD + (worker * _RING + levels % _RING) * _LINE


@inline
def _keep_up(worker, levels, crew, parts):
    """Twice in a ring: nobody is so far ahead of others that it tells what they have not heard."""
    if levels % (_RING // 2) == 0:
        store_release(parts, HEARD + _LINE * worker, levels)
        for other in range(crew):
            wait_until(parts, HEARD + _LINE * other, levels - _RING // 2)


@inline
def _part(worker, shares, crew, size, bounds):
    """Where this one's part of a level begins and ends: what it has found itself, unless some have found much
    more than others. What another pushes has to be fetched, with all that it leads to: to cut every level
    evenly took 1.2 to 2 times as long on an Intel machine."""
    before, most, theirs, own = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for other in range(crew):
        length = bounds[MOST_PARTS + other] - bounds[other]
        before += length if other < worker else np.uint64(0)
        theirs += length if other < shares else np.uint64(0)
        own = length if other == worker else own
        most = max(most, length)
    even = size // np.uint64(shares)
    if theirs == size and most <= even + even // _UNEVEN + _UNEVEN:
        return before, before + own
    part, parts = np.uint64(min(worker, shares)), np.uint64(shares)
    return size * part // parts, size * np.uint64(min(worker + 1, shares)) // parts


@inline
def _push_part(worker, crew, size, depth, together, space, parent, level):
    """All levels that are left, of which the first has so many vertices; the edges of this part."""
    parts, row, bounds = together.parts, together.found[worker], together.bounds[worker]
    bounds[:] = 0  # where this level begins in what each has found, then where it ends
    bounds[MOST_PARTS] = size
    levels, walked = np.int64(0), np.uint64(0)
    while size > 0:
        shares = min(crew, max(np.int64(1), np.int64(size) // LEAST_PART))
        _keep_up(worker, levels, crew, parts)
        levels += 1
        begin = tail = bounds[MOST_PARTS + worker]
        first, last = _part(worker, shares, crew, size, bounds)
        if first < last:
            mark = (depth + np.int32(1)) << _PART | np.int32(worker)
            for other in range(crew):
                its_begin, its_end = bounds[other], bounds[MOST_PARTS + other]
                length = its_end - its_begin
                if first < length and last > first:
                    its = depth << _PART | np.int32(other)
                    end = its_begin + min(last, length)
                    found = tail, row, mark, space, parent, level
                    tail, edges = _push(its_begin + first, end, together.found[other], its, *found)
                    walked += edges
                first -= min(first, length)
                last -= min(last, length)
        if worker < shares:
            tell(_told(levels, worker), levels, np.int64(tail - begin), parts)
        size = np.uint64(0)
        for other in range(crew):
            new = np.uint64(hear(_told(levels, other), levels, parts)) if other < shares else np.uint64(0)
            bounds[other] = bounds[MOST_PARTS + other]
            bounds[MOST_PARTS + other] += new
            size += new
        depth += np.int32(1)
    return walked


@inline
def _range(worker, crew, level):
    """The vertices of which this one writes marks, and makes levels of them."""
    n = len(level)
    return np.uint64(n * worker // crew), np.uint64(n * (worker + 1) // crew)


@inline
def _write_marks(worker, crew, space, level):
    """Of what one thread has seen; those of the level that is next are wrong."""
    first, last = _range(worker, crew, level)
    for v in range(first, last):
        level[v] = level[v] << _PART if space.seen[v] else _UNSEEN


@inline
def _write_levels(worker, crew, parent, level):
    """In two loops, of which the first has no branch and the second is seldom run."""
    first, last = _range(worker, crew, level)
    unseen = np.int64(0)
    for v in range(first, last):
        mark = level[v]
        level[v] = np.int32(-1) if mark == _UNSEEN else mark >> _PART
        unseen += mark == _UNSEEN
    if unseen > 0:
        for v in range(first, last):
            if level[v] < 0:
                parent[v] = np.uint32(NOBODY)


@inline
def _share(worker, crew, together, space, parent, level):
    """The rest of a search, of which the leader has said where it begins. Once nobody finds anything, nobody
    looks at marks."""
    now = space.left_off
    size, depth = np.uint64(now[TO] - now[FROM]), np.int32(now[DEPTH])
    walked = _push_part(worker, crew, size, depth, together, space, parent, level)
    _write_levels(worker, crew, parent, level)
    fetch_add(space.tally, _PUSH_EDGES, np.int64(walked))


@inline
def _lead(together, space, parent, level):
    """The leader: alone until the others have come, or nothing is left."""
    parts, now, started = together.parts, space.left_off, clock_ns()
    begin, end, depth = np.uint64(now[FROM]), np.uint64(now[TO]), np.int32(now[DEPTH])
    waits = True
    while begin < end and waits:
        tail, edges = push(begin, end, NARROW, True, depth, space, parent, level)
        space.tally[_PUSH_EDGES] += edges
        begin, end, depth = end, tail, depth + np.int32(1)
        came = load_acquire(parts, COME)
        waits = came == 0 or (came < parts[WANTED] and clock_ns() < started + PATIENCE_NS)
    crew = 1 + min(fetch_add(parts, COME, _CLOSED), MOST_PARTS - 1)
    if begin == end:
        store_release(parts, PARTS, np.int64(1))  # those who came leave
        say_unseen(np.uint64(0), np.uint64(len(level)), space.seen, parent, level)
    else:
        now[DEPTH], now[FROM], now[TO] = depth, begin, end
        store_release(parts, PARTS, crew)
        _write_marks(np.int64(0), crew, space, level)
        for i in range(begin, end):
            together.found[0, i - begin] = space.order[i]
        wait_until(parts, WRITTEN, crew - 1)
        for i in range(begin, end):
            level[space.order[i] & _ID] = depth << _PART
        store_release(parts, BEGUN, np.int64(1))
        _share(np.int64(0), crew, together, space, parent, level)
    space.tally[_PUSH_NANOSECONDS] += clock_ns() - started


@inline
def _follow(together, space, parent, level):
    """Who comes, if it is in time and there are not too many."""
    parts = together.parts
    number = fetch_add(parts, COME, 1) + 1
    if number < MOST_PARTS:
        wait_until(parts, PARTS, 1)
        crew = parts[PARTS]
        if number < crew:
            _write_marks(number, crew, space, level)
            fetch_add(parts, WRITTEN, 1)
            wait_until(parts, BEGUN, 1)
            _share(number, crew, together, space, parent, level)


@inline
def push_parts(worker, job):
    """The rest of a search: the leader, worker 0, and who comes."""
    if worker == 0:
        _lead(job.together, job.space, job.parent, job.level)
    else:
        _follow(job.together, job.space, job.parent, job.level)

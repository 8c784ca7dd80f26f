"""Breadth-first search by two threads on roads and meshes: each has half of a level.

Levels of roads and meshes are many and small, and what takes the time is waiting for memory, which two do
together. There is one barrier a level, no atomics, and the same tree as that of one thread. The list of a
level is what the leader has found, in the order in which one thread would have, then what the other one has.
The leader pushes from the first half of it, the other from the second. Each marks what it finds in an array
of its own, and looks into both. What both find at one level is the leader's, as one thread comes to it in the
first half first: so the leader takes no notice of what the other one finds meanwhile, and the other, behind
the barrier, passes over what the leader has marked, too. Neighbours of the two halves are few.

Where one has found much more than the other, the halves begin elsewhere: some entries of one are pushed from
by the other. Until the other one is there the leader is alone, and nobody is waited for that never comes.
On 2 AMD cores roads and grids took .60 to .81 of the time of one thread. They are not pulled from.

Encoding: marks of the leader (``seen``) are 0 or 1; those of the other are 0, 1 or 2 in turns for what it
finds at this level, and `OLD` behind it. ``found[w]`` is all that thread w has found, level by level, encoded
as ``order``. ``halves`` (int64) has a line for what each tells: at `WORD`, and behind it in turns, how many
levels it has pushed, above `_BITS` bits that say how many vertices it has found at the last of them.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import clock_ns, compare_and_swap, load_acquire, store_release
from gpop.common.inlined import inline
from gpop.direct.breadth_first_steps import DEPTH, FROM, NARROW, NOBODY, TO, look_ahead, push, say_unseen
from gpop.direct.phases import back_off, wait_until

WORD, EDGES = 0, 2
"""What each tells, the leader from slot 0 on, the other one from `_OTHER` on; edges that it has walked."""

BEGUN, BASE, SIZE_AT, CLAIM, READY, SLOTS = 3, 4, 5, 16, 17, 24
"""That the two begin, at which level, with how many vertices; that the other one comes, or none is to come
any more (`_CLOSED`), and that it is ready."""

OLD = 3

_OTHER = 8
_COMES, _CLOSED = 1, 2
_BITS = 32
_COUNT = (1 << _BITS) - 1
_EVEN = 8  # halves of a level differ by less than one in so many of its vertices

_PUSH_EDGES, _PUSH_NANOSECONDS = 0, 2  # slots of ``tally``
_ONE, _HALF, _ID = (np.uint64(number) for number in (1, 32, 0xFFFFFFFF))


@inline
def begin_halves(halves):
    """Nobody has come, and nothing is told."""
    halves[:] = 0


@inline
def _find(u, v, tail, row, mine, theirs, mark, meanwhile):
    """Put u, to which v leads, behind ``row[:tail]`` and mark it, if neither has but for what the other marks
    `meanwhile`; where the row ends."""
    own, other = mine[u], theirs[u]
    new = (own == 0) & ((other == 0) | (other == meanwhile))
    row[tail] = v << _HALF | u
    mine[u] = mark if new else own
    return tail + np.uint64(new)


@inline
def _push(first, last, list, passes, tail, row, mine, theirs, mark, meanwhile, depth, space, parent, level):
    """Settle ``list[first:last]`` at this depth, and put what they lead to behind ``row[:tail]``; its end and
    the edges. ``passes``: over entries that the leader has found, too."""
    indptr, indices, edges, walked = space.indptr, space.indices, np.uint64(len(space.indices)), np.uint64(0)
    for i in range(first, last):
        look_ahead(i, last, list, indptr, indices, parent, level)
        v = list[i] & _ID
        if passes and space.seen[v] != 0:
            continue
        parent[v], level[v] = np.uint32(list[i] >> _HALF), depth
        e, stop = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])
        walked += stop - e
        while e < stop and e + NARROW <= edges:
            for j in range(NARROW):
                u = np.uint64(indices[e + j]) if e + j < stop else v  # which has been found
                tail = _find(u, v, tail, row, mine, theirs, mark, meanwhile)
            e += NARROW
        while e < stop:
            tail = _find(np.uint64(indices[e]), v, tail, row, mine, theirs, mark, meanwhile)
            e += _ONE
    return tail, walked


@inline
def tell(slot, levels, count, words):
    """Say how many vertices were found when so many levels had been pushed."""
    store_release(words, slot, (levels << _BITS) + count)


@inline
def hear(slot, levels, words):
    """The same of another thread, once it has."""
    tries = 0
    while True:
        word = load_acquire(words, slot)
        if word >> _BITS == levels:
            return word & _COUNT
        back_off(tries)
        tries += 1


@inline
def _meet(worker, levels, count, halves):
    """Tell what was found, and hear it of the other one."""
    turn = levels & 1  # who is ahead tells of the next level before this one is heard of
    tell(WORD + turn + _OTHER * worker, levels, count, halves)
    return hear(WORD + turn + _OTHER * (1 - worker), levels, halves)


@inline
def _push_half(worker, together, space, parent, level):
    """All levels that are left; ``a`` and ``b`` are what the leader and the other have found at the last."""
    halves, leads = together.halves, worker == 0
    a_list, b_list, row = together.found[0], together.found[1], together.found[worker]
    mine, theirs = (space.seen, together.marks) if leads else (together.marks, space.seen)
    depth, levels, walked = np.int32(halves[BASE]), np.int64(0), np.uint64(0)
    a, a_end, b, b_end = np.uint64(0), np.uint64(halves[SIZE_AT]), np.uint64(0), np.uint64(0)
    while a < a_end or b < b_end:
        turn = np.uint8(1 + (levels & 1))
        mark, meanwhile = (np.uint8(1), turn) if leads else (turn, np.uint8(0))
        all, half = a_end - a + b_end - b, a_end - a
        uneven = max(half, all - half) - min(half, all - half)
        if uneven * np.uint64(_EVEN) > all:
            half = all >> _ONE
        of_a = min(half, a_end - a)  # where the second half begins, in both
        of_b = half - of_a
        tail = begin = a_end if leads else b_end
        first, last, b_first, b_last = a, a + of_a, b, b + of_b
        if not leads:
            for i in range(b, b_end):
                mine[b_list[i] & _ID] = OLD
            first, last, b_first, b_last = last, a_end, b_last, b_end
        found = row, mine, theirs, mark, meanwhile, depth, space, parent, level
        tail, some = _push(first, last, a_list, False, tail, *found)
        tail, more = _push(b_first, b_last, b_list, True, tail, *found)
        walked += some + more
        levels += 1
        depth += np.int32(1)
        own = np.int64(tail - begin)
        other = _meet(worker, levels, own, halves)
        a, b = a_end, b_end
        a_end += np.uint64(own if leads else other)
        b_end += np.uint64(other if leads else own)
    halves[EDGES + _OTHER * worker] = walked
    first, last = np.uint64(0), np.uint64(len(level)) >> _ONE
    if not leads:
        first, last = last, np.uint64(len(level))
    for v in range(first, last):
        if (mine[v] | theirs[v]) == 0:
            parent[v], level[v] = np.uint32(NOBODY), np.int32(-1)
    _meet(worker, levels + 1, np.int64(0), halves)


@inline
def _lead(together, space, parent, level):
    """The leader: alone until the other one is ready, or nothing is left."""
    halves, now, started = together.halves, space.left_off, clock_ns()
    begin, end, depth = np.uint64(now[FROM]), np.uint64(now[TO]), np.int32(now[DEPTH])
    while begin < end and load_acquire(halves, READY) == 0:
        tail, edges = push(begin, end, NARROW, True, depth, space, parent, level)
        space.tally[_PUSH_EDGES] += edges
        begin, end, depth = end, tail, depth + np.int32(1)
    if begin == end and compare_and_swap(halves, CLAIM, np.int64(0), np.int64(_CLOSED)):
        say_unseen(np.uint64(0), np.uint64(len(level)), space.seen, parent, level)
    else:
        for i in range(begin, end):
            together.found[0, i - begin] = space.order[i]
        halves[BASE], halves[SIZE_AT] = depth, end - begin
        wait_until(halves, READY, 1)
        store_release(halves, BEGUN, np.int64(1))
        _push_half(np.int64(0), together, space, parent, level)
        space.tally[_PUSH_EDGES] += halves[EDGES] + halves[EDGES + _OTHER]
    space.tally[_PUSH_NANOSECONDS] += clock_ns() - started


@inline
def _follow(together, space, parent, level):
    """The other one, who comes first."""
    halves = together.halves
    if compare_and_swap(halves, CLAIM, np.int64(0), np.int64(_COMES)):
        together.marks[:] = 0
        store_release(halves, READY, np.int64(1))
        wait_until(halves, BEGUN, 1)
        _push_half(np.int64(1), together, space, parent, level)


@inline
def push_halves(worker, job):
    """The rest of a search: the leader, worker 0, and who comes first."""
    if worker == 0:
        _lead(job.together, job.space, job.parent, job.level)
    else:
        _follow(job.together, job.space, job.parent, job.level)

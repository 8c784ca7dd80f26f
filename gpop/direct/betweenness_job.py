"""All searches of a call of betweenness, and the sum of their scores: what each thread does, from end to end.

To enter compiled code for each source, on a thread of Python's, takes longer than a search of a small graph.
So threads are called once, by an address (`gpop.common.standby`), with a table of all that they share.

Threads claim lanes of sources, each of which one of them leads (`gpop.direct.phases`). Who finds none left
joins one that is still searched and follows its leader (`gpop.direct.crew`), until all are done: with fewer
lanes than threads some do so from the beginning. Then pieces of the scores are claimed.
Bytes per vertex and lane of the sum: 8 that are read and 8 that are cleared for the next call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add, load_acquire, store_release
from gpop.common.by_reference import Reference
from gpop.common.inlined import inline
from gpop.direct.betweenness_steps import (
    CHUNK_EDGES,
    DEPTH,
    EDGES,
    FIRST,
    INFINITE,
    LAST,
    OVER,
    PARITY,
    PULL,
    SIZE,
    PathSpace,
    begin,
    next_step,
    step,
)
from gpop.direct.crew import KIND, THREADS, WORD, announce, end, next_chunk
from gpop.direct.phases import back_off, claim, done, finish, wait_for


class PathJob(NamedTuple):
    """What threads share: searches from the sources from ``first`` to before ``last``.

    Each ``lanes``-th of them is in a lane. ``spaces``: a `PathSpace` whose arrays have a row for each lane
    that is searched at the same time, and ``rows`` are so many, each with a crew (``crews``).
    ``found`` has a row for each thread. ``ways``: `PathWays`. ``scores`` [lanes, n] are zero between calls;
    what they add up to is written to ``score`` after the last source, divided by ``pairs``. ``told``: edges
    looked at, and searches in which a count was infinite.
    """

    rows: np.int64
    lanes: np.int64
    first: np.int64
    last: np.int64
    pairs: np.int64
    sources: np.ndarray
    score: np.ndarray
    ways: Reference
    spaces: Reference
    scores: np.ndarray
    crews: np.ndarray
    phases: np.ndarray
    told: np.ndarray


SEARCH, SUM, PHASES = range(3)
"""Of ``phases``: lanes, and pieces of the scores; how many."""

LINE = 8
"""Where what is written in a row of ``now`` and ``crews`` begins, and after how many numbers another line of
the cache does: rows of different threads lie in no common one."""

BEGUN, JOINED, LANE = range(3)
"""Before the crew in its row: whether somebody leads it; how many have come to follow; which lane it is."""

_PIECE, _ONE = np.uint64(4096), np.uint64(1)  # vertices


@inline
def _row_to_help(number, searches, job):
    """A lane that somebody leads and others may still join, and the number there; -1 when all are done."""
    tries = 0
    while done(job.phases, SEARCH) < searches:
        for k in range(job.rows):
            row = (number + k) % job.rows
            crew = job.crews[row]
            if load_acquire(crew, BEGUN) and load_acquire(crew, LINE + WORD) >= 0:
                if crew[JOINED] < crew[LINE + THREADS] - 1:
                    worker = fetch_add(crew, JOINED, 1) + 1
                    if worker < crew[LINE + THREADS]:
                        return row, worker
        back_off(tries)
        tries += 1
    return np.int64(-1), np.int64(0)


@inline
def _search(worker, lane, space, row, job):
    """Forward and backward from the sources of a lane: what the leader does, worker 0, and who follows.

    Who follows goes on with the leader's next lane.
    """
    now, crew, ways, sources, scores = space.now, row[LINE:], job.ways, job.sources, job.scores
    kind, alone, first = PULL, False, job.first + lane
    if worker == 0:
        begin(np.uint64(sources[first]), ways, space)
        row[LANE] = lane
        store_release(row, BEGUN, 1)
    owed = 0
    while True:
        chunk, owed = next_chunk(crew, worker, owed)
        if chunk >= 0:
            step(crew[KIND], chunk, alone, ways, space, scores[row[LANE]])
        elif worker > 0:
            return
        else:
            kind, head, tail, edges = next_step(kind, space)
            if kind == OVER:
                first += job.lanes
                if first >= job.last:
                    return
                begin(np.uint64(sources[first]), ways, space)
                kind = PULL
                continue
            chunks = max(1, min(tail - head, edges // CHUNK_EDGES))
            size = max(1, (tail - head + chunks - 1) // chunks)
            now[FIRST], now[LAST], now[SIZE], now[PARITY] = head, tail, size, now[DEPTH] & 1
            chunks = (tail - head + size - 1) // size
            alone = chunks <= 1 or load_acquire(row, JOINED) == 0
            announce(crew, kind, chunks, alone)


@inline
def _add_up(first, last, lanes, pairs, scores, score):
    """Scores of some vertices, in the order of lanes, which are zero then; for each of so many pairs."""
    for v in range(first, last):
        score[v] = scores[0, v]
        scores[0, v] = 0.0
    for lane in range(1, lanes):
        for v in range(first, last):
            score[v] += scores[lane, v]
            scores[lane, v] = 0.0
    if pairs != 1:
        for v in range(first, last):
            score[v] /= pairs


@inline
def work(number, job):
    """One thread's share of the searches from some sources, and of their sum where they are the last."""
    phases, spaces, crews = job.phases, job.spaces, job.crews
    now, searches = spaces.now, min(job.lanes, job.last - job.first)
    row, worker, lane = number, np.int64(0), searches
    if number < job.rows:
        lane = claim(phases, SEARCH)
    while True:
        if lane >= searches:
            row, worker = _row_to_help(number, searches, job)
            if row < 0:
                break
        space = PathSpace(
            spaces.sigma[row], spaces.share[row], spaces.visited[row], now[row, LINE:], spaces.order[row],
            spaces.starts[row], spaces.outs[row], spaces.found[number],
        )  # fmt: skip
        _search(worker, lane, space, crews[row], job)
        if worker == 0:
            finish(phases, SEARCH)
            lane = claim(phases, SEARCH)
            if lane >= searches:
                end(crews[row, LINE:])
    if job.last < len(job.sources):
        return
    n = np.uint64(len(job.score))
    pieces = np.int64((n + _PIECE - _ONE) // _PIECE)
    p = claim(phases, SUM)
    while p < pieces:
        first = np.uint64(p) * _PIECE
        _add_up(first, min(n, first + _PIECE), job.lanes, job.pairs, job.scores, job.score)
        finish(phases, SUM)
        p = claim(phases, SUM)
    if number == 0:
        wait_for(phases, SUM, pieces)
        told = job.told
        told[:] = 0
        for row in range(len(now)):
            told[0] += now[row, LINE + EDGES]
            told[1] += now[row, LINE + INFINITE]
            now[row] = 0

"""All searches of a call of betweenness, and the sum of their scores: what each thread does, from end to end.

To enter compiled code for each source, on a thread of Python's, takes longer than a search of a small graph.
So threads are called once, by an address (`gpop.common.standby`), with a table of all that they share.

Where each lane of sources has a thread, lanes are claimed (`gpop.direct.phases`); else the leader goes from
source to source and the others follow it (`gpop.direct.crew`). Then pieces of the scores are claimed.
Bytes per vertex and lane of the sum: 8 that are read and 8 that are cleared for the next call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
from gpop.direct.crew import KIND, announce, end, next_chunk
from gpop.direct.phases import claim, finish, wait_for


class PathJob(NamedTuple):
    """What threads share: searches from the sources from ``first`` to before ``last``.

    Each ``lanes``-th of them is in a lane. ``spaces``: a `PathSpace` whose arrays have a row for each search
    that is on. ``alone``: whether each lane has a thread of its own, and that thread such a row; else all
    share the first one. ``ways``: `PathWays`. ``scores`` [lanes, n] are zero
    between calls, and what they add up to is written to ``score`` after the last source. ``told``: edges
    looked at, and searches in which a count was infinite.
    """

    alone: np.bool_
    lanes: np.int64
    first: np.int64
    last: np.int64
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

_PIECE, _ONE = np.uint64(4096), np.uint64(1)  # vertices


@inline
def _search(worker, alone, first, last, stride, sources, ways, space, score, crew):
    """Forward and backward from some sources: what the leader does, worker 0, and who follows."""
    now, kind = space.now, PULL
    if worker == 0:
        begin(np.uint64(sources[first]), ways, space)
    owed = 0
    while True:
        chunk, owed = next_chunk(crew, worker, owed)
        if chunk >= 0:
            step(worker, crew[KIND], chunk, alone, ways, space, score)
        elif worker > 0:
            return
        else:
            kind, head, tail, edges = next_step(kind, space)
            if kind == OVER:
                first += stride
                if first >= last:
                    if not alone:
                        end(crew)
                    return
                begin(np.uint64(sources[first]), ways, space)
                kind = PULL
                continue
            chunks = max(1, min(tail - head, edges // CHUNK_EDGES))
            size = max(1, (tail - head + chunks - 1) // chunks)
            now[FIRST], now[LAST], now[SIZE], now[PARITY] = head, tail, size, now[DEPTH] & 1
            announce(crew, kind, (tail - head + size - 1) // size, alone)


@inline
def _add_up(first, last, lanes, scores, score):
    """Scores of some vertices, in the order of lanes, which are zero then."""
    for v in range(first, last):
        score[v] = scores[0, v]
        scores[0, v] = 0.0
    for lane in range(1, lanes):
        for v in range(first, last):
            score[v] += scores[lane, v]
            scores[lane, v] = 0.0


@inline
def work(number, job):
    """One thread's share of the searches from some sources, and of their sum where they are the last."""
    alone, lanes, phases, spaces = job.alone, job.lanes, job.phases, job.spaces
    worker, row = (0, number) if alone else (number, 0)
    now = spaces.now
    space = PathSpace(
        spaces.sigma[row], spaces.share[row], spaces.visited[row], now[row, LINE:], spaces.order[row],
        spaces.starts[row], spaces.outs[row], spaces.found[number - worker :],
    )  # fmt: skip
    used = min(lanes, job.last - job.first)
    lane = claim(phases, SEARCH) if alone else np.int64(0)
    while lane < used:
        _search(
            worker, alone, job.first + lane, job.last, lanes, job.sources, job.ways, space,
            job.scores[lane], job.crews[row, LINE:],
        )  # fmt: skip
        lane = used
        if alone:
            finish(phases, SEARCH)
            lane = claim(phases, SEARCH)
    if alone:
        wait_for(phases, SEARCH, used)
    if job.last < len(job.sources):
        return
    n = np.uint64(len(job.score))
    pieces = np.int64((n + _PIECE - _ONE) // _PIECE)
    p = claim(phases, SUM)
    while p < pieces:
        first = np.uint64(p) * _PIECE
        _add_up(first, min(n, first + _PIECE), lanes, job.scores, job.score)
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

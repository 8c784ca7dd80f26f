"""The exchange between ranks: one value for each vertex that is active, and rank that has edges of it.

A rank owns a contiguous range of vertices and all edges into it; vertices of other ranks that have such edges
are its *mirrors*, with local ids in partitions of their own (gpop/ranks/part.py). Before every iteration each
rank sends the messages of its own active vertices to the ranks that mirror these, where they lie in an array
(``state.gpop_message``) until the mirrors scatter. What arrives puts mirrors into the frontier, in the order
in which their owner has them. From then on the iteration is one like any other, over the local graph: a run
is bitwise the same on any number of ranks.

What goes from rank to rank is in exchange_wire.py, what is chosen for it in exchange_out.py, and what
becomes of it in exchange_in.py.

Nothing is computed while it travels: a column is read in ascending order of its sources, so that messages of
lower ranks come before those of own vertices. Only the scatter of own partitions could be done meanwhile.

MPI is called by the addresses of its functions: a return to Python for each iteration would take longer than
many an iteration does. Known before: Gluon (Dathathri et al., PLDI 2018) exchanges lists of mirrors once and
values with offsets or bits; Gemini (Zhu et al., OSDI 2016) sends pairs.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import clock_ns, pause, yield_core
from gpop.common.foreign import call_c
from gpop.common.inlined import inline
from gpop.cpu.active import WORD_BITS, sort_list
from gpop.cpu.exchange_in import AS_BITS, clear_mirrors, read_as_bits, read_as_lists
from gpop.cpu.exchange_out import SCANNED, ascends, choose_of, choose_scanning
from gpop.cpu.exchange_wire import (
    ACTIVE,
    BYTE,
    BYTES,
    CHOSEN,
    COMM,
    EXCHANGES,
    FLAG,
    FLAG_ADDRESS,
    IN,
    IN_ADDRESS,
    IN_BYTES,
    IRECV,
    ISEND,
    KIND,
    LATEST,
    LEAST,
    ORDERED,
    OUT_ADDRESS,
    PAIRS,
    REQUEST_BYTES,
    REQUESTS,
    STATUSES,
    TESTALL,
    WAITED,
)  # fmt: skip
from gpop.cpu.tournament import HIGHEST

SPINS = 200
"""Times that MPI is asked whether all has come before other processes may have the core: MPI's own waiting
does not let go of one, and where there are more processes than cores takes milliseconds."""

TAG = 17

SIZE, ACTIVE_HERE, EDGES_HERE, WHOLE, LEAST_ANYWHERE = range(5)
"""Slots of ``exchanged`` in the workspace: the length of ``scatter_list``; own active vertices (where all are
active, those that are not settled); edges of what is active here, after the exchange mirrors included; active
vertices of all ranks; the lowest priority that waits, before the exchange here, after it anywhere."""


@inline
def _begin(function, address, size, rank, number, wire):
    """Begin to send or to receive so many bytes."""
    calls = wire.calls
    request = calls[REQUESTS] + calls[REQUEST_BYTES] * number
    call_c(
        calls[function],
        (address, np.int64(size), calls[BYTE], np.int64(rank), np.int64(TAG), calls[COMM], request),
    )


@inline
def wait_for_all(number, calls):
    """Return when so many requests are done."""
    calls[FLAG] = 0
    tries = 0
    while True:
        call_c(calls[TESTALL], (np.int64(number), calls[REQUESTS], calls[FLAG_ADDRESS], calls[STATUSES]))
        if calls[FLAG] != 0:
            break
        tries += 1
        if tries < SPINS:
            pause()
        else:
            yield_core()


def make_exchange(fill_buffer, all_active, prioritised, takes_bits):
    """Kernel: exchange messages before an iteration; what comes of it is in ``exchanged``.

    ``prioritised``: ``in_frontier`` is set of vertices that wait, too; ``takes_bits``: see exchange_in.py.
    """

    def exchange(layout, space, wire, state):
        told = space.exchanged
        size, unsettled, edges, least = told[SIZE], told[ACTIVE_HERE], told[EDGES_HERE], told[LEAST_ANYWHERE]
        message, pairs = state.gpop_message, wire.pairs
        ranks = pairs.shape[0]
        active = unsettled
        if not all_active:
            active = np.int64(0)
            for r in range(ranks):
                pairs[r, CHOSEN], pairs[r, LATEST], pairs[r, ORDERED] = 0, -1, 1
            for i in range(size):
                space.listed[space.scatter_list[i]] = 1
                active += space.frontier_size[space.scatter_list[i]]
            scans = not prioritised and active * SCANNED >= wire.sends.size
            if scans and ascends(size, layout, space):
                for r in range(ranks):
                    choose_scanning(r, space, wire)
            else:
                for i in range(size):
                    choose_of(space.scatter_list[i], layout, space, wire, state)
        number = 0
        for r in range(ranks):
            if r != wire.rank:
                _begin(IRECV, pairs[r, IN_ADDRESS], pairs[r, IN_BYTES], r, number, wire)
                number += 1
        for r in range(ranks):
            if r != wire.rank:
                sent = fill_buffer(r, all_active and active > 0, active, least, wire, state)
                wire.traffic[BYTES] += sent
                _begin(ISEND, pairs[r, OUT_ADDRESS], sent, r, number, wire)
                number += 1
        before = clock_ns()
        if number > 0:
            wait_for_all(number, wire.calls)
        wire.traffic[WAITED] += clock_ns() - before
        wire.traffic[EXCHANGES] += 1
        as_bits = False
        if takes_bits:
            as_bits = layout.bits >= WORD_BITS
            for r in range(ranks):
                if r != wire.rank:
                    as_bits &= wire.in_words[pairs[r, IN] + KIND] != PAIRS
            if as_bits:
                clear_mirrors(layout, space, state)
            told[AS_BITS] = as_bits
        whole = active
        lowest = least
        own_size = size
        for r in range(ranks):
            if r != wire.rank:
                header = pairs[r, IN]
                whole += wire.in_words[header + ACTIVE]
                lowest = min(lowest, wire.in_words[header + LEAST])
                if as_bits:
                    size, more = read_as_bits(r, size, layout, space, wire, message)
                else:
                    size, more = read_as_lists(r, all_active, size, layout, space, wire, message)
                edges += more
        if not all_active:
            if size > own_size:
                sort_list(space.scatter_list, size, space.listed, layout.k)
            for i in range(size):
                space.listed[space.scatter_list[i]] = 0
        told[SIZE], told[ACTIVE_HERE], told[EDGES_HERE] = size, active, edges
        told[WHOLE], told[LEAST_ANYWHERE] = whole, lowest

    return exchange


@inline
def is_over(whole, lowest):
    """Whether nothing is active on any rank, and nothing waits."""
    return whole == 0 and lowest == HIGHEST


@inline
def own_range(first, last, state):
    """What is own of a range of vertices."""
    own, end = np.uint64(state.gpop_first), np.uint64(state.gpop_last)
    first = min(max(np.uint64(first), own), end)
    return first, max(min(np.uint64(last), end), first)

"""Ranks speak to each other (exchange.py): what is said is seen or sent, later all are waited for.

Ranks of a machine see each other's buffers (exchange_wire.py); to others they are sent by MPI. It is called
by the addresses of its functions: a return to Python for each iteration would take longer than many an
iteration does. Between the two the main thread calls it now and then (`help_along`): large messages move in
calls of MPI only.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import load_acquire, ns_of, pause, store_release, yield_core
from gpop.common.foreign import call_c
from gpop.common.inlined import inline
from gpop.cpu.exchange_wire import (
    ACTIVE,
    BYTE,
    BYTES,
    CHOSEN,
    CLOCK,
    COMM,
    COUNT,
    DUE,
    EDGES,
    EXCHANGE_TURN,
    EXCHANGES,
    FLAG,
    FLAG_ADDRESS,
    FORM,
    HEADER,
    IN_ADDRESS,
    IN_BYTES,
    IRECV,
    ISEND,
    KIND,
    LEAST,
    ON_THE_WAY,
    OUT_ADDRESS,
    PAIRS,
    REQUEST_BYTES,
    REQUESTS,
    SENDS,
    SHARED,
    STATUSES,
    TESTALL,
    TURN,
    VALUES,
    WAITED,
    come,
    exchange_of,
    in_at,
    index_words,
    out_at,
    out_of,
    said,
)  # fmt: skip

SPINS = 200
"""Times that is asked whether all has come before other processes may have the core: MPI's own waiting
does not let go of one, and where there are more processes than cores takes milliseconds."""

TAG = 17


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
def _let_pass(tries):
    """What is done between two looks at whether others have come."""
    if tries < SPINS:
        pause()
    else:
        yield_core()


@inline
def help_along(calls):
    """Let MPI move what is on the way, if anything is."""
    number = calls[ON_THE_WAY]
    if number > 0:
        calls[FLAG] = 0
        call_c(calls[TESTALL], (number, calls[REQUESTS], calls[FLAG_ADDRESS], calls[STATUSES]))
        if calls[FLAG] != 0:
            calls[ON_THE_WAY] = 0


@inline
def wait_for_all(calls):
    """Return when nothing is on the way any more."""
    tries = 0
    help_along(calls)
    while calls[ON_THE_WAY] > 0:
        tries += 1
        _let_pass(tries)
        help_along(calls)


@inline
def tell_neighbours(turn, wire):
    """Let the ranks that share memory with this one see all that it has written, and ``turn``."""
    for r in range(wire.pairs.shape[0]):
        if wire.pairs[r, SHARED] != 0:
            store_release(wire.words, out_of(r, exchange_of(turn), wire) + TURN, turn)


@inline
def wait_for_neighbours(turn, wire):
    """Return when all of them have come so far."""
    for r in range(wire.pairs.shape[0]):
        if wire.pairs[r, SHARED] != 0:
            tries = 0
            while load_acquire(wire.words, in_at(r, wire) + TURN) < turn:
                tries += 1
                _let_pass(tries)


@inline
def come_together(wire):
    """Return when none of them reads any more what was before this exchange."""
    before, turn = ns_of(wire.calls[CLOCK]), come(wire.calls[EXCHANGE_TURN])
    tell_neighbours(turn, wire)
    wait_for_neighbours(turn, wire)
    wire.traffic[WAITED] += ns_of(wire.calls[CLOCK]) - before


@inline
def have_read(wire):
    """Tell them that this rank reads nothing any more of what was before the next exchange."""
    tell_neighbours(come(wire.calls[EXCHANGE_TURN] + 1), wire)


@inline
def hear(wire):
    """Return when all that comes in this exchange is there."""
    before = ns_of(wire.calls[CLOCK])
    wait_for_neighbours(said(wire.calls[EXCHANGE_TURN]), wire)
    wait_for_all(wire.calls)
    wire.traffic[WAITED] += ns_of(wire.calls[CLOCK]) - before
    wire.traffic[EXCHANGES] += 1


def make_post(fill_pairs):
    """Kernel: send what is in the buffers."""

    def post(active, edges, least, due, wire, state):
        pairs, words, number = wire.pairs, wire.words, 0
        for r in range(pairs.shape[0]):
            if r != wire.rank and pairs[r, SHARED] == 0:
                _begin(IRECV, pairs[r, IN_ADDRESS], pairs[r, IN_BYTES], r, number, wire)
                number += 1
        for r in range(pairs.shape[0]):
            if r != wire.rank:
                form, count, out = pairs[r, FORM], pairs[r, CHOSEN], out_at(r, wire)
                if form == PAIRS:
                    fill_pairs(r, wire, state)
                words[out + KIND], words[out + COUNT] = form, count
                words[out + ACTIVE], words[out + EDGES], words[out + LEAST] = active, edges, least
                words[out + DUE] = due
                size = HEADER + index_words(form, count, pairs[r, SENDS])
                sent = 8 * (size + ((count * wire.value_bytes + 7) >> 3))
                wire.traffic[BYTES] += sent
                wire.traffic[VALUES] += count
                if pairs[r, SHARED] == 0:
                    _begin(ISEND, pairs[r, OUT_ADDRESS], sent, r, number, wire)
                    number += 1
        wire.calls[ON_THE_WAY] = number
        tell_neighbours(said(wire.calls[EXCHANGE_TURN]), wire)

    return post

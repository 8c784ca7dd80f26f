"""What goes from rank to rank, and the buffers and lists that it goes through (gpop/cpu/exchange.py).

A header of 7 int64,

    kind, count, active, edges, least, due, turn

(active vertices of the sender and all edges of theirs; its lowest priority that waits; 1 where its Python
wants to be asked; `come` or `said`), from which every rank knows when nothing is active anywhere, and when
all return; then whichever is smallest, or takes the least time where memory is shared, in multiples of 8:

    NOTHING
    ALL     a value for every mirror, where all are active
    BITS    a bit for every mirror, then a value for each that is active; only in ascending order
    PAIRS   the number of every active mirror (uint32), then their values

Values are left out where the receiver can tell them (`Wire.value_bytes` is 0).

Ranks of one machine read each other's buffers where they are (gpop/ranks/shared.py): nothing is copied, and
``turn`` in the header says that what an exchange has to say is there (`said`). Each such buffer is there
twice, for exchanges with an even and with an odd number: who says something in the next one has read this
one. Where all vertices are active a value is written at once to where its mirror reads it: before, all say
that they read nothing any more (`come`), as soon as their mirrors have scattered. Elsewhere buffers are sent
by MPI.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.inlined import inline

NOTHING, ALL, BITS, PAIRS = range(4)
"""Kinds of what goes from rank to rank."""

KIND, COUNT, ACTIVE, EDGES, LEAST, DUE, TURN, HEADER = range(8)
"""Words of a header, and how many there are."""

(
    OUT, OUT_ADDRESS, OUT_STEP, SENDS, SEND_FIRST, IN, IN_ADDRESS, IN_STEP, IN_BYTES, MIRRORS, MIRROR_FIRST,
    SHARED, PLACES, CHOSEN, FORM, PAIR_COLUMNS,
) = range(16)  # fmt: skip
"""Columns of `Wire.pairs`, a row for each rank: where its buffer begins (in words, and the address), how far
behind it that of odd exchanges is, how many own vertices it mirrors and where they begin in ``sends``; the
same of what comes from it, with the room for that; whether it reads and writes the same memory, and where in
``messages`` its own then begin; and, while a buffer is filled, how many mirrors are active, and the kind of
what is sent."""

OF_RANK, FIRST_WORD, LAST_WORD, OWN_WORD, SKIPPED, VALUE, FOUND, PIECE_COLUMNS = range(8)
"""Columns of `Wire.pieces` and `Wire.pieces_in`, each a piece of the mirrors of a rank, which one thread is
at: its words in the rank's row of bits; the word of own vertices with which it begins and how many of that
one's belong to the piece before; where its values begin among the rank's; how many are active in it."""

(
    SEGMENT_RANK, SEGMENT_FIRST, SEGMENT_LAST, SEGMENT_NUMBER, SEGMENT_PARTITION, SEGMENT_FOUND,
    SEGMENT_COLUMNS,
) = range(7)  # fmt: skip
"""Columns of `Wire.segments`, each the mirrors of one rank in one partition: whose they are, their words in
the bitmap, the number of the first among the mirrors of that rank; the partition, and how many are active."""

(
    ISEND, IRECV, TESTALL, COMM, BYTE, REQUESTS, STATUSES, REQUEST_BYTES, FLAG_ADDRESS, FLAG, EXCHANGE_TURN,
    ON_THE_WAY, CLOCK, CALL_SLOTS,
) = range(14)  # fmt: skip
"""Slots of `Wire.calls`: addresses of functions, handles, addresses of arrays; an int that MPI sets; the
number of the latest exchange; how many requests MPI has to end; and by which clock waiting is told."""

BYTES, VALUES, WAITED, EXCHANGES = range(4)
"""Slots of `Wire.traffic`: bytes and values sent, nanoseconds in which others were waited for, exchanges."""


class Wire(NamedTuple):
    """What a rank exchanges with the others.

    ``sends[SEND_FIRST of r:][:SENDS of r]`` are the own vertices that rank r mirrors and
    ``mirrors[MIRROR_FIRST of r:][:MIRRORS of r]`` the mirrors of r's vertices; local ids, ascending.
    ``mirrored[r]`` has a bit for each own vertex, by word of the bitmap from the first own one on, and
    ``heard`` one for each vertex: whether r mirrors it, whether it is a mirror. ``share_in[r]``: how many of
    the edges of r's vertices end here. ``where[where_offsets[v]:where_offsets[v + 1]]`` says who mirrors own
    vertex number v: the rank times 2**32, plus the number of v among the mirrors there. ``places`` has the
    local id at the other rank for each of ``sends``. ``words``: all buffers, also as uint32 and as values;
    ``messages``: those of mirrors, of all ranks that share memory.
    """

    rank: np.int64
    value_bytes: np.int64
    pairs: np.ndarray
    calls: np.ndarray
    sends: np.ndarray
    mirrors: np.ndarray
    places: np.ndarray
    mirrored: np.ndarray
    heard: np.ndarray
    share_in: np.ndarray
    pieces: np.ndarray
    pieces_in: np.ndarray
    segments: np.ndarray
    where_offsets: np.ndarray
    where: np.ndarray
    chosen: np.ndarray
    words: np.ndarray
    numbers: np.ndarray
    values: np.ndarray
    messages: np.ndarray
    traffic: np.ndarray


@inline
def first_value(word, values):
    """Index in ``values`` of what begins at this word of the same buffer."""
    return np.uint64(word) * np.uint64(8) // np.uint64(values.itemsize)


@inline
def come(number):
    """What ``turn`` is at least when a rank reads nothing any more of what was before this exchange."""
    return 2 * number


@inline
def said(number):
    """What ``turn`` is at least when a rank has said what it has to say in this exchange."""
    return 2 * number + 1


@inline
def exchange_of(turn):
    """The number of the exchange that ``turn`` is about."""
    return turn >> 1


@inline
def out_of(r, number, wire):
    """Where what goes to rank ``r`` in the exchange of this number begins."""
    return wire.pairs[r, OUT] + wire.pairs[r, OUT_STEP] * (number & 1)


@inline
def out_at(r, wire):
    """The same in this exchange."""
    return out_of(r, wire.calls[EXCHANGE_TURN], wire)


@inline
def in_at(r, wire):
    """Where what comes from rank ``r`` in this exchange begins."""
    return wire.pairs[r, IN] + wire.pairs[r, IN_STEP] * (wire.calls[EXCHANGE_TURN] & 1)


@inline
def bit_words(mirrors):
    """Words of a row of bits."""
    return (mirrors + 63) >> 6


@inline
def index_words(kind, count, mirrors):
    """Words between a header and its values."""
    if kind == BITS:
        return bit_words(mirrors)
    if kind == PAIRS:
        return (count + 1) >> 1
    return np.int64(0)

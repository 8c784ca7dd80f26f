"""What a rank sends: which of its active vertices others mirror, and the buffer that says so.

Where few vertices are active, or their order has to be told, each is looked up in the lists of who mirrors
it, in the order in which it was activated. Where many are, they become bits of the bitmap, and of each word
those that a rank mirrors are put together, 64 vertices at a time. Pieces of that may be done by several
threads.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import popcount, prefetch
from gpop.common.bits import extract
from gpop.common.inlined import inline
from gpop.cpu.active import WORD_BITS, list_of
from gpop.cpu.bitmap import lowest_bit
from gpop.cpu.exchange_wire import (
    ALL,
    BITS,
    CHOSEN,
    FIRST_WORD,
    FORM,
    FOUND,
    HEADER,
    LAST_WORD,
    NOTHING,
    OF_RANK,
    OWN_WORD,
    PAIRS,
    PLACES,
    SEND_FIRST,
    SENDS,
    SHARED,
    SKIPPED,
    VALUE,
    bit_words,
    first_value,
    index_words,
    out_at,
)  # fmt: skip

AHEAD = 8
"""Active vertices between the prefetch of what is known of one and its use."""

SCANNED = 4
"""Words that are looked at for a rank in the time that one active vertex takes to be looked up, or to be
taken in as one of `PAIRS`."""

_ZERO, _ONE, _WORD = np.uint64(0), np.uint64(1), np.uint64(64)


@inline
def ascends(size, layout, space):
    """Whether the frontier, partition by partition, is in ascending order."""
    ascends = True
    for i in range(size):
        p = space.scatter_list[i]
        start = list_of(p, layout)
        for j in range(np.uint64(1), np.uint64(space.frontier_size[p])):
            ascends &= space.frontier[start + j - np.uint64(1)] < space.frontier[start + j]
    return ascends


@inline
def choose_of(p, layout, space, wire, state):
    """For each rank choose the active vertices of ``p`` that it mirrors, in the order of their list."""
    pairs, offsets = wire.pairs, wire.where_offsets
    own = (np.uint64(p) << np.uint64(layout.bits)) - np.uint64(state.gpop_first)
    start, count = list_of(p, layout), np.uint64(space.frontier_size[p])
    for j in range(count):
        if j + np.uint64(2 * AHEAD) < count:
            prefetch(offsets, own + np.uint64(space.frontier[start + j + np.uint64(2 * AHEAD)]))
            later = own + np.uint64(space.frontier[start + j + np.uint64(AHEAD)])
            prefetch(wire.where, np.uint64(offsets[later]))
        v = own + np.uint64(space.frontier[start + j])
        for at in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            r = wire.where[at] >> np.uint64(32)
            number = np.int64(wire.where[at] & np.uint64(0xFFFFFFFF))
            wire.chosen[pairs[r, SEND_FIRST] + pairs[r, CHOSEN]] = number
            pairs[r, CHOSEN] += 1


@inline
def pack_piece(i, space, wire, state):
    """Write the bits of a piece of what a rank mirrors into its buffer, and count them."""
    piece, words, bitmap = wire.pieces[i], wire.words, space.bitmap
    r = piece[OF_RANK]
    at = np.uint64(out_at(r, wire) + HEADER)
    own = np.uint64(state.gpop_first) >> np.uint64(WORD_BITS)
    word, last, skipped = np.uint64(piece[OWN_WORD]), np.uint64(piece[LAST_WORD]), np.uint64(piece[SKIPPED])
    end = np.uint64(wire.mirrored.shape[1])
    to, filled, row, found = np.uint64(piece[FIRST_WORD]), _ZERO, _ZERO, _ZERO
    while to < last:
        bits = count = _ZERO
        if word < end:
            mask = wire.mirrored[r, word]
            bits = extract(bitmap[own + word], mask) >> skipped
            count = popcount(mask) - skipped
        row |= bits << filled
        filled += count
        skipped = _ZERO
        if filled >= _WORD or word >= end:
            words[at + to] = np.int64(row)
            found += popcount(row)
            to += _ONE
            filled = filled - _WORD if filled >= _WORD else _ZERO
            row = _ZERO
            if filled > _ZERO:
                row = bits >> (count - filled)
        word += _ONE
    piece[FOUND] = np.int64(found)


@inline
def sum_pieces(wire):
    """How many are active of what each rank mirrors, and what form they go in, from the pieces."""
    pairs, pieces = wire.pairs, wire.pieces
    for r in range(pairs.shape[0]):
        pairs[r, CHOSEN] = 0
    for i in range(pieces.shape[0]):
        r = pieces[i, OF_RANK]
        pieces[i, VALUE] = pairs[r, CHOSEN]
        pairs[r, CHOSEN] += pieces[i, FOUND]
    for r in range(pairs.shape[0]):
        count, mirrored = pairs[r, CHOSEN], pairs[r, SENDS]
        pairs[r, FORM] = BITS
        if count == 0:
            pairs[r, FORM] = NOTHING
        elif count == mirrored:
            pairs[r, FORM] = ALL
        else:  # bytes that are sent, or the time that the other rank takes to read them
            as_pairs = count * SCANNED if pairs[r, SHARED] != 0 else (count + 1) >> 1
            if as_pairs < bit_words(mirrored):
                pairs[r, FORM] = PAIRS
                _number_bits(r, wire)


@inline
def _number_bits(r, wire):
    """Choose what has a bit in the buffer of rank ``r``."""
    at, to = out_at(r, wire) + HEADER, np.uint64(wire.pairs[r, SEND_FIRST])
    for i in range(np.uint64(bit_words(wire.pairs[r, SENDS]))):
        row = np.uint64(wire.words[np.uint64(at) + i])
        while row > _ZERO:
            wire.chosen[to] = i * _WORD + lowest_bit(row)
            row &= row - _ONE
            to += _ONE


def make_fill_piece(messageFunc, all_active):
    """Kernel: write the values of a piece of what goes to a rank as `ALL` or `BITS`.

    Where all vertices are active and memory is shared, at once to where its mirrors are.
    """

    def fill_piece(i, wire, state):
        piece, words = wire.pieces[i], wire.words
        r = piece[OF_RANK]
        form, first = wire.pairs[r, FORM], np.uint64(wire.pairs[r, SEND_FIRST])
        index = out_at(r, wire) + HEADER
        begin, end = np.uint64(piece[FIRST_WORD]), np.uint64(piece[LAST_WORD])
        if form == ALL and all_active and wire.pairs[r, SHARED] != 0:
            place, count = np.uint64(wire.pairs[r, PLACES]), np.uint64(wire.pairs[r, SENDS])
            for number in range(first + _WORD * begin, first + min(_WORD * end, count)):
                at = place + np.uint64(wire.places[number])
                wire.messages[at] = messageFunc(state, wire.sends[number])
        elif form == ALL:
            value = first_value(index, wire.values)
            for number in range(_WORD * begin, min(_WORD * end, np.uint64(wire.pairs[r, SENDS]))):
                wire.values[value + number] = messageFunc(state, wire.sends[first + number])
        if form == BITS:
            value = first_value(index + bit_words(wire.pairs[r, SENDS]), wire.values)
            value += np.uint64(piece[VALUE])
            for word in range(begin, end):
                row = np.uint64(words[np.uint64(index) + word])
                while row > _ZERO:
                    v = wire.sends[first + word * _WORD + lowest_bit(row)]
                    row &= row - _ONE
                    wire.values[value] = messageFunc(state, v)
                    value += _ONE

    return fill_piece


def make_fill_pairs(messageFunc):
    """Kernel: write what was chosen for rank ``r`` as `PAIRS`."""

    def fill_pairs(r, wire, state):
        index, count = out_at(r, wire) + HEADER, np.uint64(wire.pairs[r, CHOSEN])
        first = np.uint64(wire.pairs[r, SEND_FIRST])
        at = np.uint64(index) << np.uint64(1)
        for i in range(count):
            wire.numbers[at + i] = wire.chosen[first + i]
        if wire.value_bytes > 0:
            at = first_value(index + index_words(PAIRS, wire.pairs[r, CHOSEN], 0), wire.values)
            for i in range(count):
                v = wire.sends[first + np.uint64(wire.chosen[first + i])]
                wire.values[at + i] = messageFunc(state, v)

    return fill_pairs

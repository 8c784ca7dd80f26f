"""What a rank takes in: messages of mirrors, and the mirrors that join the frontier.

As bits, where any rank has sent some: those of a word of mirrors become a word of the bitmap that is pulled
from, and a partition only knows how many there are. That is all an iteration that pulls wants of them; one
that does not makes the lists where it scatters (`list_mirrors`). As lists, where few are active, or where an
order of them has to be kept: a mirror is put on the list of its partition, in the order in which its owner
has it. How many edges mirrors have is estimated: their owner knows those of all that it has active.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import popcount
from gpop.common.bits import deposit
from gpop.common.inlined import inline
from gpop.cpu.active import WORD_BITS, list_of
from gpop.cpu.bitmap import lowest_bit
from gpop.cpu.exchange_wire import (
    ALL,
    BITS,
    COUNT,
    EDGES,
    FIRST_WORD,
    FOUND,
    HEADER,
    KIND,
    LAST_WORD,
    MIRROR_FIRST,
    MIRRORS,
    OF_RANK,
    PAIRS,
    SEGMENT_FIRST,
    SEGMENT_FOUND,
    SEGMENT_LAST,
    SEGMENT_NUMBER,
    SEGMENT_PARTITION,
    SEGMENT_RANK,
    SHARED,
    VALUE,
    bit_words,
    first_value,
    in_at,
    index_words,
)

AS_BITS, OWN_BITS, EARLY = 6, 7, 14
"""Slots of ``exchanged`` in the workspace: 1 where mirrors have come as bits, where own vertices are bits;
and whose partitions scatter now, when a phase is to be for some of them."""

EVERY, OWN_ONES, MIRRORS_ONLY = range(3)
"""Those of all; own ones, before it is known what mirrors send; what was left."""

_ZERO, _ONE, _WORD = np.uint64(0), np.uint64(1), np.uint64(64)


@inline
def is_mirrored(p, layout, state):
    """Whether ``p`` is a partition of mirrors."""
    base = np.uint64(p) << np.uint64(layout.bits)
    return base < np.uint64(state.gpop_first) or base >= np.uint64(state.gpop_last)


@inline
def is_left_out(p, layout, space, state):
    """Whether ``p`` scatters at another time."""
    whose = space.exchanged[EARLY]
    return whose != EVERY and is_mirrored(p, layout, state) != (whose == MIRRORS_ONLY)


@inline
def edges_of_one(r, wire):
    """Edges here of an active mirror of rank ``r``, on average; about."""
    header = in_at(r, wire)
    count = max(1, wire.words[header + COUNT])
    return max(1, np.int64(wire.share_in[r] * wire.words[header + EDGES] / count))


@inline
def _join(p, vertices, edges, size, space):
    """More active mirrors in ``p``; returns the length of ``scatter_list``."""
    if space.listed[p] == 0:
        space.listed[p] = 1
        space.scatter_list[size] = p
        space.active_edges[p] = 0
        size += 1
    space.frontier_size[p] += vertices
    space.active_edges[p] += edges
    return size


@inline
def unpack_segment(i, space, wire):
    """Make the words of a segment those of the bitmap, and count the bits."""
    segment, words, bitmap = wire.segments[i], wire.words, space.bitmap
    r = segment[SEGMENT_RANK]
    header = in_at(r, wire)
    kind, index = words[header + KIND], np.uint64(header + HEADER)
    first, last = np.uint64(segment[SEGMENT_FIRST]), np.uint64(segment[SEGMENT_LAST])
    number, found = np.uint64(segment[SEGMENT_NUMBER]), _ZERO
    if kind == BITS:
        for word in range(first, last):
            mask = wire.heard[word]
            count = popcount(mask)
            at, shift = index + (number >> np.uint64(6)), number & (_WORD - _ONE)
            bits = np.uint64(words[at]) >> shift  # more of them, needed or not: a branch is hard to predict
            bits |= (np.uint64(words[at + _ONE]) << _ONE) << (_WORD - _ONE - shift)
            bits = deposit(bits, mask)
            bitmap[word] = bits
            found += popcount(bits)
            number += count
    else:
        for word in range(first, last):
            mask = wire.heard[word] if kind == ALL else _ZERO
            bitmap[word] = mask
            found += popcount(mask)
    segment[SEGMENT_FOUND] = np.int64(found)


@inline
def join_segments(size, space, wire):
    """The mirrors of all segments join the frontier; the length of ``scatter_list``, and their edges."""
    edges = np.int64(0)
    for i in range(wire.segments.shape[0]):
        found = wire.segments[i, SEGMENT_FOUND]
        if found > 0:
            more = found * edges_of_one(wire.segments[i, SEGMENT_RANK], wire)
            size = _join(wire.segments[i, SEGMENT_PARTITION], found, more, size, space)
            edges += more
    return size, edges


@inline
def list_mirrors(p, layout, space):
    """Make the list of ``p`` from its bits."""
    bits, base, at = np.uint64(WORD_BITS), np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
    end = min(np.uint64(layout.n), base + (_ONE << np.uint64(layout.bits)))
    for i in range(base >> bits, (end + _WORD - _ONE) >> bits):
        word = space.bitmap[i]
        while word > _ZERO:
            v = (np.uint64(i) << bits) + lowest_bit(word)
            word &= word - _ONE
            space.frontier[at] = v - base
            at += _ONE


@inline
def flag_mirrors(p, flag, layout, space):
    """Say of all mirrors on the list of ``p`` whether they are in the frontier."""
    base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
    for i in range(np.uint64(space.frontier_size[p])):
        space.in_frontier[base + np.uint64(space.frontier[start + i])] = flag


@inline
def _activate(v, edges, as_bits, size, layout, space):
    """The mirror ``v`` joins the frontier; returns the length of ``scatter_list``."""
    p = np.int64(np.uint64(v) >> np.uint64(layout.bits))
    if as_bits:
        space.bitmap[np.uint64(v) >> np.uint64(WORD_BITS)] |= _ONE << (np.uint64(v) & (_WORD - _ONE))
    else:
        at = list_of(p, layout) + np.uint64(space.frontier_size[p])
        space.frontier[at] = np.uint64(v) - (np.uint64(p) << np.uint64(layout.bits))
    return _join(p, 1, edges, size, space)


@inline
def read_pairs(r, as_bits, size, layout, space, wire, message):
    """Take in what rank ``r`` has sent as `PAIRS`; the length of ``scatter_list``, and edges of mirrors."""
    header, first = in_at(r, wire), np.uint64(wire.pairs[r, MIRROR_FIRST])
    count, edges = wire.words[header + COUNT], edges_of_one(r, wire)
    index = header + HEADER
    value = first_value(index + index_words(PAIRS, count, 0), wire.values)
    number = np.uint64(index) << np.uint64(1)
    for i in range(np.uint64(count)):
        v = wire.mirrors[first + np.uint64(wire.numbers[number + i])]
        if wire.value_bytes > 0:
            message[v] = wire.values[value + i]
        size = _activate(v, edges, as_bits, size, layout, space)
    return size, edges * count


@inline
def read_bits_as_lists(r, size, layout, space, wire):
    """The same of `ALL` and `BITS`, but for the values, where they are to become lists."""
    header, first = in_at(r, wire), np.uint64(wire.pairs[r, MIRROR_FIRST])
    kind, left = wire.words[header + KIND], np.uint64(wire.pairs[r, MIRRORS])
    edges, count = edges_of_one(r, wire), np.int64(0)
    for word in range(np.uint64(bit_words(wire.pairs[r, MIRRORS]))):
        row = ~_ZERO
        if kind == BITS:
            row = np.uint64(wire.words[np.uint64(header + HEADER) + word])
        elif left < _WORD:
            row = (_ONE << left) - _ONE
        left -= min(left, _WORD)
        while row > _ZERO:
            v = wire.mirrors[first + word * _WORD + lowest_bit(row)]
            row &= row - _ONE
            count += 1
            size = _activate(v, edges, False, size, layout, space)
    return size, edges * count


@inline
def sum_pieces_in(wire):
    """Where the values of each piece begin."""
    before = np.int64(0)
    for i in range(wire.pieces_in.shape[0]):
        piece = wire.pieces_in[i]
        header = in_at(piece[OF_RANK], wire)
        if piece[FIRST_WORD] == 0:
            before = np.int64(0)
        piece[VALUE] = before
        if wire.words[header + KIND] == BITS:
            for word in range(np.uint64(piece[FIRST_WORD]), np.uint64(piece[LAST_WORD])):
                before += np.int64(popcount(np.uint64(wire.words[np.uint64(header + HEADER) + word])))
        piece[FOUND] = before - piece[VALUE]


@inline
def take_piece(i, all_active, wire, message):
    """Put the values of a piece that came as `ALL` or `BITS` where their mirrors are."""
    piece, words = wire.pieces_in[i], wire.words
    r = piece[OF_RANK]
    header, first = in_at(r, wire), np.uint64(wire.pairs[r, MIRROR_FIRST])
    kind, index = words[header + KIND], header + HEADER
    begin, end = np.uint64(piece[FIRST_WORD]), np.uint64(piece[LAST_WORD])
    if kind == ALL and not (all_active and wire.pairs[r, SHARED] != 0):
        value = first_value(index, wire.values)
        for number in range(_WORD * begin, min(_WORD * end, np.uint64(wire.pairs[r, MIRRORS]))):
            message[wire.mirrors[first + number]] = wire.values[value + number]
    if kind == BITS:
        value = first_value(index + bit_words(wire.pairs[r, MIRRORS]), wire.values)
        value += np.uint64(piece[VALUE])
        for word in range(begin, end):
            row = np.uint64(words[np.uint64(index) + word])
            while row > _ZERO:
                v = wire.mirrors[first + word * _WORD + lowest_bit(row)]
                row &= row - _ONE
                message[v] = wire.values[value]
                value += _ONE

"""What a rank takes in: messages of mirrors, and the mirrors that join the frontier.

As lists: a mirror is put on the list of its partition, in the order in which its owner has it. As bits, where
the program may pull and all that comes is in ascending order: a mirror becomes a bit of the bitmap that is
pulled from, and its partition only knows how many there are, and their edges. That is all an iteration that
pulls wants of them; one that does not makes the lists where it scatters (`list_mirrors`).
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import popcount
from gpop.common.inlined import inline
from gpop.cpu.active import WORD_BITS, list_of
from gpop.cpu.exchange_wire import (
    ALL,
    BITS,
    COUNT,
    HEADER,
    IN,
    KIND,
    MIRROR_FIRST,
    MIRRORS,
    NOTHING,
    PAIRS,
    first_value,
)

AS_BITS = 5
"""Slot of ``exchanged`` in the workspace: 1 where mirrors have come as bits."""

_ZERO, _ONE, _WORD = np.uint64(0), np.uint64(1), np.uint64(64)


@inline
def is_mirrored(p, layout, state):
    """Whether ``p`` is a partition of mirrors."""
    base = np.uint64(p) << np.uint64(layout.bits)
    return base < np.uint64(state.gpop_first) or base >= np.uint64(state.gpop_last)


@inline
def lowest_bit(word):
    """Number of the lowest bit that is set."""
    return popcount((word & (~word + _ONE)) - _ONE)


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
def clear_mirrors(layout, space, state):
    """Take all mirrors off the bitmap."""
    words, width = np.uint64(len(space.bitmap)), np.uint64(layout.bits)
    begin = np.uint64(state.gpop_first) >> np.uint64(WORD_BITS)
    own = (np.uint64(state.gpop_last) + (_ONE << width) - _ONE) >> width << width
    for i in range(min(begin, words)):
        space.bitmap[i] = 0
    for i in range(min(own >> np.uint64(WORD_BITS), words), words):
        space.bitmap[i] = 0


@inline
def read_as_bits(r, size, layout, space, wire, message):
    """Take in what rank ``r`` has sent, `ALL` or `BITS`, as bits; returns the same as `read_as_lists`."""
    words, mirrors, bitmap = wire.in_words, wire.mirrors, space.bitmap
    first, width = np.uint64(wire.pairs[r, MIRROR_FIRST]), np.uint64(layout.bits)
    at = wire.pairs[r, IN]
    kind, index, left = words[at + KIND], at + HEADER, np.uint64(wire.pairs[r, MIRRORS])
    whole = edges = found = np.int64(0)
    if kind == NOTHING:
        return size, whole
    value = first_value(
        index + (np.int64((left + _WORD - _ONE) // _WORD) if kind == BITS else 0), wire.in_values
    )
    p = np.uint64(mirrors[first]) >> width
    while left > _ZERO:
        word = ~_ZERO
        if kind == BITS:
            word = np.uint64(words[index])
            index += 1
        elif left < _WORD:
            word = (_ONE << left) - _ONE
        while word > _ZERO:
            place = first + lowest_bit(word)
            v = np.uint64(mirrors[place])
            word &= word - _ONE
            if wire.value_bytes > 0:
                message[v] = wire.in_values[value]
                value += _ONE
            if v >> width != p:
                if found > 0:
                    size = _join(np.int64(p), found, edges, size, space)
                    whole += edges
                p, found, edges = v >> width, np.int64(0), np.int64(0)
            bitmap[v >> np.uint64(WORD_BITS)] |= _ONE << (v & (_WORD - _ONE))
            found += 1
            edges += np.int64(wire.mirror_edges[place])
        first += _WORD
        left -= min(left, _WORD)
    if found > 0:
        size = _join(np.int64(p), found, edges, size, space)
    return size, whole + edges


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
            space.in_frontier[v] = 1
            at += _ONE


@inline
def _activate(v, size, layout, space):
    """The mirror ``v`` joins the frontier; returns the length of ``scatter_list``, and the edges of ``v``."""
    p = np.int64(np.uint64(v) >> np.uint64(layout.bits))
    at = list_of(p, layout) + np.uint64(space.frontier_size[p])
    space.frontier[at] = np.uint64(v) - (np.uint64(p) << np.uint64(layout.bits))
    space.in_frontier[v] = 1
    edges = layout.indptr[np.uint64(v) + _ONE] - layout.indptr[np.uint64(v)]
    return _join(p, 1, edges, size, space), edges


@inline
def read_as_lists(r, all_active, size, layout, space, wire, message):
    """Take in what rank ``r`` has sent; returns the length of ``scatter_list``, and the edges of mirrors."""
    words, mirrors = wire.in_words, wire.mirrors
    first = np.uint64(wire.pairs[r, MIRROR_FIRST])
    at = wire.pairs[r, IN]
    kind, count = words[at + KIND], np.uint64(words[at + COUNT])
    index = at + HEADER
    edges = np.int64(0)
    if kind == ALL:
        value = first_value(index, wire.in_values)
        if wire.value_bytes > 0:
            for i in range(count):
                message[mirrors[first + i]] = wire.in_values[value + i]
        if not all_active:
            for i in range(count):
                size, more = _activate(mirrors[first + i], size, layout, space)
                edges += more
    elif kind == PAIRS:
        value = first_value(index + np.int64((count + np.uint64(1)) >> np.uint64(1)), wire.in_values)
        number = np.uint64(index) << np.uint64(1)
        for i in range(count):
            v = mirrors[first + np.uint64(wire.in_numbers[number + i])]
            if wire.value_bytes > 0:
                message[v] = wire.in_values[value + i]
            if not all_active:
                size, more = _activate(v, size, layout, space)
                edges += more
    elif kind == BITS:
        bits_words = (wire.pairs[r, MIRRORS] + 63) >> 6
        value = first_value(index + bits_words, wire.in_values)
        for i in range(bits_words):
            word = np.uint64(words[index + i])
            while word > np.uint64(0):
                lowest = lowest_bit(word)
                word &= word - np.uint64(1)
                v = mirrors[first + np.uint64(64 * i) + lowest]
                if wire.value_bytes > 0:
                    message[v] = wire.in_values[value]
                    value += np.uint64(1)
                if not all_active:
                    size, more = _activate(v, size, layout, space)
                    edges += more
    return size, edges

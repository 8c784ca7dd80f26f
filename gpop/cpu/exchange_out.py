"""What a rank sends: which of its active vertices others mirror, and the buffer that says so.

Where few vertices are active each is looked up in the lists of who mirrors it, in the order in which it was
activated; where many are, in ascending order, all that are mirrored are looked at.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import prefetch
from gpop.common.inlined import inline
from gpop.cpu.active import list_of
from gpop.cpu.exchange_wire import (
    ACTIVE,
    ALL,
    BITS,
    CHOSEN,
    COUNT,
    HEADER,
    KIND,
    LATEST,
    LEAST,
    NOTHING,
    ORDERED,
    OUT,
    PAIRS,
    SEND_FIRST,
    SENDS,
    VALUES,
    first_value,
)  # fmt: skip

AHEAD = 8
"""Active vertices between the prefetch of what is known of one and its use."""

SCANNED = 24
"""Mirrored vertices that are looked at one after the other in the time that one active vertex takes to be
looked up."""


@inline
def _values_words(count, wire):
    return (np.int64(count) * wire.value_bytes + 7) >> 3


def make_fill_buffer(messageFunc):
    """Kernel: write what goes to rank ``r``; returns its bytes."""

    def fill_buffer(r, all_active, active, least, wire, state):
        pairs, words = wire.pairs, wire.out_words
        out, mirrored, first = pairs[r, OUT], pairs[r, SENDS], pairs[r, SEND_FIRST]
        count = mirrored if all_active else pairs[r, CHOSEN]
        bits_words, pairs_words = (mirrored + 63) >> 6, (count + 1) >> 1
        kind, index_words = np.int64(PAIRS), pairs_words
        if count == 0:
            kind, index_words = np.int64(NOTHING), np.int64(0)
        elif count == mirrored and (all_active or pairs[r, ORDERED] != 0):
            kind, index_words = np.int64(ALL), np.int64(0)
        elif pairs[r, ORDERED] != 0 and bits_words <= pairs_words:
            kind, index_words = np.int64(BITS), bits_words
        words[out + KIND], words[out + COUNT] = kind, count
        words[out + ACTIVE], words[out + LEAST] = active, least
        index = out + HEADER
        if kind == BITS:
            for i in range(np.uint64(index), np.uint64(index + bits_words)):
                words[i] = 0
            for i in range(np.uint64(first), np.uint64(first + count)):
                number = np.int64(wire.chosen[i])
                words[np.uint64(index + (number >> 6))] |= np.int64(1) << (number & 63)
        if kind == PAIRS:
            at = np.uint64(index) << np.uint64(1)
            for i in range(np.uint64(count)):
                wire.out_numbers[at + i] = wire.chosen[np.uint64(first) + i]
        if wire.value_bytes > 0:
            at = first_value(index + index_words, wire.out_values)
            if kind == ALL:
                for i in range(np.uint64(count)):
                    wire.out_values[at + i] = messageFunc(state, wire.sends[np.uint64(first) + i])
            else:
                for i in range(np.uint64(count)):
                    number = np.uint64(wire.chosen[np.uint64(first) + i])
                    wire.out_values[at + i] = messageFunc(state, wire.sends[np.uint64(first) + number])
        wire.traffic[VALUES] += count
        return 8 * (HEADER + index_words + _values_words(count, wire))

    return fill_buffer


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
def choose_scanning(r, space, wire):
    """Choose the active ones of the vertices that rank ``r`` mirrors: look at all of them, in their order."""
    first = np.uint64(wire.pairs[r, SEND_FIRST])
    at = first
    for i in range(np.uint64(wire.pairs[r, SENDS])):  # without a branch, which would be hard to predict
        wire.chosen[at] = i
        at += np.uint64(space.in_frontier[wire.sends[first + i]])
    wire.pairs[r, CHOSEN] = at - first


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
            if number < pairs[r, LATEST]:
                pairs[r, ORDERED] = 0
            pairs[r, LATEST] = number

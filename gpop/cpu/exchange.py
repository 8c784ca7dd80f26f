"""The exchange between ranks: one value for each vertex that is active, and rank that has edges of it.

A rank owns a contiguous range of vertices and all edges into it; vertices of other ranks that have such edges
are its *mirrors*, with local ids in partitions of their own (gpop/ranks/part.py). Before every iteration each
rank sends the messages of its own active vertices to the ranks that mirror these, where they lie in an array
(``state.gpop_message``) until the mirrors scatter. What arrives puts mirrors into the frontier, in the order
in which their owner has them. From then on the iteration is one like any other, over the local graph: a run
is bitwise the same on any number of ranks.

What goes from rank to rank is a header of 4 int64,

    kind, count, active, least      (active vertices of the sender; its lowest priority that waits)

from which every rank knows when nothing is active anywhere; then whichever is smallest, in multiples of 8:

    NOTHING
    ALL     a value for every mirror, where all are active
    BITS    a bit for every mirror, then a value for each that is active; only in ascending order
    PAIRS   the number of every active mirror (uint32), then their values

Values are left out where the receiver can tell them (`Wire.value_bytes` is 0).

Nothing is computed while it travels: a column is read in ascending order of its sources, so that messages of
lower ranks come before those of own vertices. Only the scatter of own partitions could be done meanwhile.

MPI is called by the addresses of its functions: a return to Python for each iteration would take longer than
many an iteration does. Known before: Gluon (Dathathri et al., PLDI 2018) exchanges lists of mirrors once and
values with offsets or bits; Gemini (Zhu et al., OSDI 2016) sends pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import clock_ns, pause, popcount, prefetch, yield_core
from gpop.common.foreign import call_c
from gpop.common.inlined import inline
from gpop.cpu.active import list_of, sort_list
from gpop.cpu.tournament import HIGHEST

NOTHING, ALL, BITS, PAIRS = range(4)
"""Kinds of what goes from rank to rank."""

KIND, COUNT, ACTIVE, LEAST, HEADER = range(5)
"""Words of a header, and how many there are."""

(
    OUT, OUT_ADDRESS, SENDS, SEND_FIRST, IN, IN_ADDRESS, IN_BYTES, MIRRORS, MIRROR_FIRST,
    CHOSEN, LATEST, ORDERED, PAIR_COLUMNS,
) = range(13)  # fmt: skip
"""Columns of `Wire.pairs`, a row for each rank: where its buffer begins (in words, and the address), how many
own vertices it mirrors and where they begin in ``sends``; the same of what comes from it, with the room for
that; and, while a buffer is filled, how many mirrors are chosen, the latest, and whether they ascend."""

(
    ISEND, IRECV, TESTALL, COMM, BYTE, REQUESTS, STATUSES, REQUEST_BYTES, FLAG_ADDRESS, FLAG, CALL_SLOTS,
) = range(11)  # fmt: skip
"""Slots of `Wire.calls`: addresses of functions, handles, addresses of arrays; and an int that MPI sets."""

SPINS = 200
"""Times that MPI is asked whether all has come before other processes may have the core: MPI's own waiting
does not let go of one, and where there are more processes than cores takes milliseconds."""

AHEAD = 8
"""Active vertices between the prefetch of what is known of one and its use."""

SCANNED = 8
"""Mirrored vertices that are looked at one after the other in the time that one active vertex takes to be
looked up."""

TAG = 17

SIZE, ACTIVE_HERE, EDGES_HERE, WHOLE, LEAST_ANYWHERE = range(5)
"""Slots of ``exchanged`` in the workspace: the length of ``scatter_list``; own active vertices (where all are
active, those that are not settled); edges of what is active here, after the exchange mirrors included; active
vertices of all ranks; the lowest priority that waits, before the exchange here, after it anywhere."""

BYTES, VALUES, WAITED, EXCHANGES = range(4)
"""Slots of `Wire.traffic`: bytes and values sent, nanoseconds in MPI, exchanges."""


class Wire(NamedTuple):
    """What a rank exchanges with the others.

    ``sends[SEND_FIRST of r:][:SENDS of r]`` are the own vertices that rank r mirrors and
    ``mirrors[MIRROR_FIRST of r:][:MIRRORS of r]`` the mirrors of r's vertices; local ids, ascending.
    ``where[where_offsets[v]:where_offsets[v + 1]]`` says who mirrors own vertex number v: the rank times
    2**32, plus the number of v among the mirrors there. Buffers are seen as words, as uint32 and as values.
    """

    rank: np.int64
    value_bytes: np.int64
    pairs: np.ndarray
    calls: np.ndarray
    sends: np.ndarray
    mirrors: np.ndarray
    where_offsets: np.ndarray
    where: np.ndarray
    chosen: np.ndarray
    out_words: np.ndarray
    out_numbers: np.ndarray
    out_values: np.ndarray
    in_words: np.ndarray
    in_numbers: np.ndarray
    in_values: np.ndarray
    traffic: np.ndarray


@inline
def _first_value(word, values):
    """Index in ``values`` of what begins at this word of the same buffer."""
    return np.uint64(word) * np.uint64(8) // np.uint64(values.itemsize)


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
            at = _first_value(index + index_words, wire.out_values)
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
def _activate(v, size, layout, space):
    """The mirror ``v`` joins the frontier; returns the length of ``scatter_list``, and the edges of ``v``."""
    p = np.int64(np.uint64(v) >> np.uint64(layout.bits))
    if space.listed[p] == 0:
        space.listed[p] = 1
        space.scatter_list[size] = p
        space.active_edges[p] = 0
        size += 1
    local = np.uint64(v) - (np.uint64(p) << np.uint64(layout.bits))
    space.frontier[list_of(p, layout) + np.uint64(space.frontier_size[p])] = local
    space.frontier_size[p] += 1
    space.in_frontier[v] = 1
    edges = layout.indptr[np.uint64(v) + np.uint64(1)] - layout.indptr[np.uint64(v)]
    space.active_edges[p] += edges
    return size, edges


@inline
def read_buffer(r, all_active, size, layout, space, wire, message):
    """Take in what rank ``r`` has sent; returns the length of ``scatter_list``, and the edges of mirrors."""
    words, mirrors = wire.in_words, wire.mirrors
    first = np.uint64(wire.pairs[r, MIRROR_FIRST])
    at = wire.pairs[r, IN]
    kind, count = words[at + KIND], np.uint64(words[at + COUNT])
    index = at + HEADER
    edges = np.int64(0)
    if kind == ALL:
        value = _first_value(index, wire.in_values)
        if wire.value_bytes > 0:
            for i in range(count):
                message[mirrors[first + i]] = wire.in_values[value + i]
        if not all_active:
            for i in range(count):
                size, more = _activate(mirrors[first + i], size, layout, space)
                edges += more
    elif kind == PAIRS:
        value = _first_value(index + np.int64((count + np.uint64(1)) >> np.uint64(1)), wire.in_values)
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
        value = _first_value(index + bits_words, wire.in_values)
        for i in range(bits_words):
            word = np.uint64(words[index + i])
            while word > np.uint64(0):
                lowest = popcount((word & (~word + np.uint64(1))) - np.uint64(1))
                word &= word - np.uint64(1)
                v = mirrors[first + np.uint64(64 * i) + lowest]
                if wire.value_bytes > 0:
                    message[v] = wire.in_values[value]
                    value += np.uint64(1)
                if not all_active:
                    size, more = _activate(v, size, layout, space)
                    edges += more
    return size, edges


@inline
def _ascends(size, layout, space):
    """Whether the frontier, partition by partition, is in ascending order."""
    ascends = True
    for i in range(size):
        p = space.scatter_list[i]
        start = list_of(p, layout)
        for j in range(np.uint64(1), np.uint64(space.frontier_size[p])):
            ascends &= space.frontier[start + j - np.uint64(1)] < space.frontier[start + j]
    return ascends


@inline
def _choose_scanning(r, space, wire):
    """Choose the active ones of the vertices that rank ``r`` mirrors: look at all of them, in their order."""
    first = np.uint64(wire.pairs[r, SEND_FIRST])
    at = first
    for i in range(np.uint64(wire.pairs[r, SENDS])):  # without a branch, which would be hard to predict
        wire.chosen[at] = i
        at += np.uint64(space.in_frontier[wire.sends[first + i]])
    wire.pairs[r, CHOSEN] = at - first


@inline
def _choose_of(p, layout, space, wire, state):
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


def make_exchange(fill_buffer, all_active, prioritised):
    """Kernel: exchange messages before an iteration; what comes of it is in ``exchanged``.

    ``prioritised``: ``in_frontier`` is set of vertices that wait, too.
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
            if scans and _ascends(size, layout, space):
                for r in range(ranks):
                    _choose_scanning(r, space, wire)
            else:
                for i in range(size):
                    _choose_of(space.scatter_list[i], layout, space, wire, state)
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
        whole = active
        lowest = least
        own_size = size
        for r in range(ranks):
            if r != wire.rank:
                header = pairs[r, IN]
                whole += wire.in_words[header + ACTIVE]
                lowest = min(lowest, wire.in_words[header + LEAST])
                size, more = read_buffer(r, all_active, size, layout, space, wire, message)
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

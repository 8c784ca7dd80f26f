"""Buffers and lists of the exchange for one run; `gpop.cpu.exchange_wire.Wire` says what each is."""

from __future__ import annotations

import time

import numpy as np

from gpop.cpu import exchange_wire
from gpop.cpu.active import WORD_BITS
from gpop.cpu.exchange_wire import Wire, bit_words
from gpop.ranks.part import Part
from gpop.ranks.shared import shared_words
from gpop.ranks.world import World

MESSAGES = "messages"

PIECE_WORDS = 512
"""Words of bits in a piece that one thread is at: some 10 us of work for each value of it."""

LINE_WORDS = 8
"""Buffers begin at cache lines."""

CLOCK = time.CLOCK_MONOTONIC
"""By which a rank tells how long it was in its loop, and waited. With more ranks than cores, perf takes
``CLOCK_THREAD_CPUTIME_ID``, which stands still while others have the core."""


def messages_of(part: Part, message: np.dtype, told: bool, world: World) -> np.ndarray:
    """The messages of a rank's mirrors, kept with its part; ``told``: also of own vertices, by itself."""
    key = (MESSAGES, message, told)
    if key not in part.kept:
        if told:
            part.kept[key] = np.zeros(part.graph.n, message), 0
        else:
            words = -(-part.graph.n * message.itemsize // 8)
            words, begins = shared_words(world, -(-words // LINE_WORDS) * LINE_WORDS)
            part.kept[key] = words.view(message), {r: 8 * at // message.itemsize for r, at in begins.items()}
    found, begins = part.kept[key]
    begin = 0 if told else begins[world.rank]
    return found[begin : begin + part.graph.n]


def wire_of(part: Part, message: np.dtype, told: bool, world: World) -> Wire:
    """The wire of a rank, kept with its part; ``told``: values do not travel."""
    key = ("wire", message, told)
    if key not in part.kept:
        part.kept[key] = _make(part, message, told, world)
    part.kept[key].traffic[:] = 0
    return part.kept[key]


def _make(part: Part, message: np.dtype, told: bool, world: World) -> Wire:
    value_bytes = 0 if told else message.itemsize
    pairs = np.zeros((world.size, exchange_wire.PAIR_COLUMNS), np.int64)
    pairs[:, exchange_wire.SENDS], pairs[:, exchange_wire.MIRRORS] = part.send_counts, part.mirror_counts
    for counts, first in (
        (exchange_wire.SENDS, exchange_wire.SEND_FIRST),
        (exchange_wire.MIRRORS, exchange_wire.MIRROR_FIRST),
    ):
        pairs[:, first] = np.cumsum(pairs[:, counts]) - pairs[:, counts]
    words = _buffers(pairs, value_bytes, world)
    messages, places = np.empty(0, message), np.empty(0, np.uint32)
    if not told:
        messages, begins = part.kept[MESSAGES, message, told]
        pairs[:, exchange_wire.PLACES] = [begins.get(r, 0) for r in range(world.size)]
        places, _ = world.dealt(part.mirrors.astype(np.uint32), part.mirror_counts)
    mirrored = mirrored_rows(part.sends, part.send_counts, part.first, part.last)
    where_offsets, where = where_mirrored(part.sends, part.send_counts, part.first, part.last)
    degrees, borders = np.diff(part.graph.indptr)[part.mirrors], np.cumsum(part.mirror_counts)[:-1]
    here = np.array([each.sum() for each in np.split(degrees, borders)])
    everywhere = np.array(world.everyones(int(part.out_edges.sum())))
    return Wire(
        rank=np.int64(world.rank),
        value_bytes=np.int64(value_bytes),
        pairs=pairs,
        calls=_calls(world),
        sends=part.sends,
        mirrors=part.mirrors.astype(np.uint32),
        places=places,
        mirrored=mirrored,
        heard=bit_row(part.mirrors, 0, -(-part.graph.n >> WORD_BITS)),
        share_in=here / np.maximum(everywhere, 1),
        pieces=pieces_of(part.send_counts, mirrored),
        pieces_in=pieces_of(part.mirror_counts),
        segments=segments_of(part.mirrors, part.mirror_counts, part.bits),
        where_offsets=where_offsets,
        where=where,
        chosen=np.empty(part.sends.size, np.uint32),
        words=words,
        numbers=words.view(np.uint32),
        values=words.view(message),
        messages=messages,
        traffic=np.zeros(4, np.int64),
    )


def where_mirrored(
    sends: np.ndarray, counts: np.ndarray, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """By own vertex, from ``first`` to ``last``, what ``sends`` has by rank: offsets, and who mirrors it.

    Examples
    --------
    >>> offsets, where = where_mirrored(np.array([5, 7, 5]), np.array([2, 1]), 5, 8)
    >>> offsets, where >> np.uint64(32), where & np.uint64(0xFFFFFFFF)
    (array([0, 2, 2, 3]), array([0, 1, 0], dtype=uint64), array([0, 0, 1], dtype=uint64))
    """
    numbers = np.arange(sends.size) - np.repeat(np.cumsum(counts) - counts, counts)
    to = np.repeat(np.arange(counts.size, dtype=np.uint64), counts)
    order = np.argsort(sends, kind="stable")
    offsets = np.zeros(last - first + 1, np.int64)
    np.cumsum(np.bincount(sends - first, minlength=last - first), out=offsets[1:])
    return offsets, to[order] << np.uint64(32) | numbers[order].astype(np.uint64)


def bit_row(vertices: np.ndarray, first: int, words: int) -> np.ndarray:
    """So many words of the bitmap of these vertices, which ascend, from word ``first`` on.

    Examples
    --------
    >>> bit_row(np.array([64, 66, 192]), first=1, words=3)
    array([5, 0, 1], dtype=uint64)
    """
    row = np.zeros(words, np.uint64)
    if vertices.size:
        at = (vertices.astype(np.int64) >> WORD_BITS) - first
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        bits = np.uint64(1) << (vertices.astype(np.uint64) & np.uint64(63))
        row[at[starts]] = np.bitwise_or.reduceat(bits, starts)
    return row


def mirrored_rows(sends: np.ndarray, counts: np.ndarray, first: int, last: int) -> np.ndarray:
    """A row of bits of own vertices, from ``first`` to ``last``, for each rank: those that it mirrors."""
    begin = first >> WORD_BITS
    words = max(-(-last >> WORD_BITS) - begin, 0)
    return np.array([bit_row(each, begin, words) for each in np.split(sends, np.cumsum(counts)[:-1])])


def pieces_of(counts: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Pieces of so many mirrors of each rank (`exchange_wire.PIECE_COLUMNS`), by rank.

    ``rows``: the bits that they are put together from, for each rank.

    Examples
    --------
    >>> pieces_of(np.array([0, 64 * PIECE_WORDS + 1]))[:, :3]
    array([[  1,   0, 512],
           [  1, 512, 513]])
    """
    tables = [np.empty((0, exchange_wire.PIECE_COLUMNS), np.int64)]
    for r, words in enumerate(bit_words(counts).tolist()):
        first = np.arange(0, words, PIECE_WORDS)
        table = np.zeros((first.size, exchange_wire.PIECE_COLUMNS), np.int64)
        table[:, exchange_wire.OF_RANK] = r
        table[:, exchange_wire.FIRST_WORD] = first
        table[:, exchange_wire.LAST_WORD] = np.minimum(first + PIECE_WORDS, words)
        if rows is not None:
            before = np.concatenate([[0], np.cumsum(np.bitwise_count(rows[r]), dtype=np.int64)])
            own = np.searchsorted(before, first << WORD_BITS, side="right") - 1
            table[:, exchange_wire.OWN_WORD] = own
            table[:, exchange_wire.SKIPPED] = (first << WORD_BITS) - before[own]
        tables.append(table)
    return np.concatenate(tables)


def segments_of(mirrors: np.ndarray, counts: np.ndarray, bits: int) -> np.ndarray:
    """The mirrors of each rank in each partition (`exchange_wire.SEGMENT_COLUMNS`).

    None where partitions share words of a bitmap.

    Examples
    --------
    >>> segments_of(np.array([3, 65, 200, 1000]), np.array([3, 1]), bits=7)[:, :5]
    array([[ 0,  0,  2,  0,  0],
           [ 0,  3,  4,  2,  1],
           [ 1, 15, 16,  0,  7]])
    """
    tables = [np.empty((0, exchange_wire.SEGMENT_COLUMNS), np.int64)]
    for r, places in enumerate(np.split(mirrors.astype(np.int64), np.cumsum(counts)[:-1])):
        if bits < WORD_BITS or not places.size:
            continue
        starts = np.flatnonzero(np.diff(places >> bits, prepend=-1))
        ends = np.append(starts[1:], places.size)
        table = np.zeros((starts.size, exchange_wire.SEGMENT_COLUMNS), np.int64)
        table[:, exchange_wire.SEGMENT_RANK] = r
        table[:, exchange_wire.SEGMENT_FIRST] = places[starts] >> WORD_BITS
        table[:, exchange_wire.SEGMENT_LAST] = (places[ends - 1] >> WORD_BITS) + 1
        table[:, exchange_wire.SEGMENT_NUMBER] = starts
        table[:, exchange_wire.SEGMENT_PARTITION] = places[starts] >> bits
        tables.append(table)
    return np.concatenate(tables)


def _calls(world: World) -> np.ndarray:
    """`Wire.calls`; requests and statuses lie behind the slots: they live as long as the wire does."""
    calls, ranks = world.calls(), world.size
    requests = exchange_wire.CALL_SLOTS
    statuses = requests + 2 * ranks * calls["request_bytes"] // 8 + 1
    slots = np.zeros(statuses + 2 * ranks * calls["status_bytes"] // 8 + 1, np.int64)
    slots[: exchange_wire.FLAG] = (
        calls["Isend"], calls["Irecv"], calls["Testall"], calls["comm"], calls["byte"],
        slots.ctypes.data + 8 * requests, slots.ctypes.data + 8 * statuses, calls["request_bytes"],
        slots.ctypes.data + 8 * exchange_wire.FLAG,
    )  # fmt: skip
    slots[exchange_wire.CLOCK] = CLOCK
    return slots


def _buffers(pairs: np.ndarray, value_bytes: int, world: World) -> np.ndarray:
    """Room for what may go to each rank, or come, whose places are noted in ``pairs``: the words.

    At most all in an order of their own, as pairs; pages that nothing is written to take no memory.
    """
    room_out, room_in = (
        _room(pairs[:, counts], value_bytes) for counts in (exchange_wire.SENDS, exchange_wire.MIRRORS)
    )
    sizes = np.concatenate([2 * room_out, room_in])
    begins = np.cumsum(sizes) - sizes
    words, parts = shared_words(world, int(sizes.sum()))
    shares = np.isin(np.arange(world.size), list(parts))
    shares[world.rank] = False
    out, into = begins.reshape(2, -1) + parts[world.rank]
    to_me = np.array(world.everyones(out.tolist()))[:, world.rank]
    pairs[:, exchange_wire.SHARED] = shares
    pairs[:, exchange_wire.OUT], pairs[:, exchange_wire.IN] = out, np.where(shares, to_me, into)
    pairs[:, exchange_wire.OUT_STEP], pairs[:, exchange_wire.IN_STEP] = room_out * shares, room_in * shares
    pairs[:, exchange_wire.OUT_ADDRESS] = words.ctypes.data + 8 * pairs[:, exchange_wire.OUT]
    pairs[:, exchange_wire.IN_ADDRESS] = words.ctypes.data + 8 * pairs[:, exchange_wire.IN]
    pairs[:, exchange_wire.IN_BYTES] = 8 * room_in
    return words


def _room(counts: np.ndarray, value_bytes: int) -> np.ndarray:
    behind = 1  # the word behind a row of bits, which is read with the last of it
    words = exchange_wire.HEADER + (counts + 1) // 2 + (counts * value_bytes + 7) // 8 + behind
    return -(-words // LINE_WORDS) * LINE_WORDS

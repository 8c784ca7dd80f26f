"""Buffers and lists of the exchange for one run; `gpop.cpu.exchange_wire.Wire` says what each is."""

from __future__ import annotations

import numpy as np

from gpop.cpu import exchange_wire
from gpop.cpu.exchange_wire import Wire
from gpop.ranks.part import Part
from gpop.ranks.world import World


def wire_of(part: Part, message: np.dtype, told: bool, world: World) -> Wire:
    """The wire of a rank, kept with its part; ``told``: values do not travel."""
    key = ("wire", message, told)
    if key not in part.kept:
        part.kept[key] = _make(part, message, told, world)
    part.kept[key].traffic[:] = 0
    return part.kept[key]


def _make(part: Part, message: np.dtype, told: bool, world: World) -> Wire:
    ranks, value_bytes = world.size, 0 if told else message.itemsize
    pairs = np.zeros((ranks, exchange_wire.PAIR_COLUMNS), np.int64)
    pairs[:, exchange_wire.SENDS], pairs[:, exchange_wire.MIRRORS] = part.send_counts, part.mirror_counts
    for counts, first in (
        (exchange_wire.SENDS, exchange_wire.SEND_FIRST),
        (exchange_wire.MIRRORS, exchange_wire.MIRROR_FIRST),
    ):
        pairs[:, first] = np.cumsum(pairs[:, counts]) - pairs[:, counts]
    out, pairs[:, exchange_wire.OUT], pairs[:, exchange_wire.OUT_ADDRESS], _ = _buffers(
        part.send_counts, value_bytes
    )
    into, pairs[:, exchange_wire.IN], pairs[:, exchange_wire.IN_ADDRESS], pairs[:, exchange_wire.IN_BYTES] = (
        _buffers(part.mirror_counts, value_bytes)
    )
    where_offsets, where = where_mirrored(part.sends, part.send_counts, part.first, part.last)
    calls = world.calls()
    # Requests and statuses lie behind the slots, so that they live as long as the wire does.
    requests = exchange_wire.CALL_SLOTS
    statuses = requests + 2 * ranks * calls["request_bytes"] // 8 + 1
    slots = np.zeros(statuses + 2 * ranks * calls["status_bytes"] // 8 + 1, np.int64)
    slots[:requests] = (
        calls["Isend"], calls["Irecv"], calls["Testall"], calls["comm"], calls["byte"],
        slots.ctypes.data + 8 * requests, slots.ctypes.data + 8 * statuses, calls["request_bytes"],
        slots.ctypes.data + 8 * exchange_wire.FLAG, 0,
    )  # fmt: skip
    return Wire(
        rank=np.int64(world.rank),
        value_bytes=np.int64(value_bytes),
        pairs=pairs,
        calls=slots,
        sends=part.sends,
        mirrors=part.mirrors.astype(np.uint32),
        mirror_edges=np.diff(part.graph.indptr)[part.mirrors].astype(np.uint32),
        where_offsets=where_offsets,
        where=where,
        chosen=np.empty(part.sends.size, np.uint32),
        out_words=out,
        out_numbers=out.view(np.uint32),
        out_values=out.view(message),
        in_words=into,
        in_numbers=into.view(np.uint32),
        in_values=into.view(message),
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


def _buffers(counts: np.ndarray, value_bytes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Room for what may go to each rank, or come: the words, where each begins, its address, its bytes.

    At most all in an order of their own, as pairs; pages that nothing is written to take no memory.
    """
    words = exchange_wire.HEADER + (counts + 1) // 2 + (counts * value_bytes + 7) // 8
    buffer = np.zeros(int(words.sum()), np.int64)
    begins = np.cumsum(words) - words
    return buffer, begins, buffer.ctypes.data + 8 * begins, 8 * words

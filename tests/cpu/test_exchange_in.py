"""What a rank takes in: mirrors as bits become the lists and messages that mirrors as lists are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpop.common.bits import apart
from gpop.cpu import bitmap, exchange_in, exchange_wire
from gpop.cpu.active import list_of
from gpop.cpu.exchange_wire import Wire
from gpop.ranks import wire as ranks_wire

BITS, FIRST, LAST, N = 6, 128, 180, 600
"""Own partitions are the third, which is not full; two of mirrors before it and some after it."""

RANKS = 3
LAYOUT = SimpleNamespace(bits=BITS, n=N, k=-(-N >> BITS))
STATE = SimpleNamespace(gpop_first=FIRST, gpop_last=LAST)


@pytest.fixture(autouse=True)
def in_python(monkeypatch):
    def count(word):
        return np.uint64(int(word).bit_count())

    monkeypatch.setattr(exchange_in, "popcount", count)
    monkeypatch.setattr(bitmap, "popcount", count)
    monkeypatch.setattr(exchange_in, "deposit", apart)
    monkeypatch.setattr(ranks_wire, "PIECE_WORDS", 2)


def space_of():
    return SimpleNamespace(
        bitmap=np.full((N + 63) // 64, 2**64 - 1, np.uint64),  # of an earlier iteration
        frontier=np.zeros(int(list_of(LAYOUT.k, LAYOUT)), np.uint16),
        frontier_size=np.zeros(LAYOUT.k, np.int64), active_edges=np.full(LAYOUT.k, 77, np.int64),
        in_frontier=np.zeros(N, np.uint8), listed=np.zeros(LAYOUT.k, np.uint8),
        scatter_list=np.zeros(LAYOUT.k, np.int64),
    )  # fmt: skip


def sent(shares, rng, as_pairs=()):
    """A wire with what the two other ranks have sent: of their mirrors, such a share is active."""
    mirrors = [
        np.arange(0, FIRST - 5, 2),
        np.zeros(0, np.int64),
        np.setdiff1d(np.arange(192, N), np.arange(200, N, 7)),
    ]
    pairs = np.zeros((RANKS, exchange_wire.PAIR_COLUMNS), np.int64)
    counts = np.array([each.size for each in mirrors])
    pairs[:, exchange_wire.MIRRORS], pairs[:, exchange_wire.MIRROR_FIRST] = counts, np.cumsum(counts) - counts
    buffer, active = np.zeros(2000, np.int64), []
    for r, share in zip((0, 2), shares, strict=True):
        at = pairs[r, exchange_wire.IN] = 1000 * (r > 0)
        chosen = np.flatnonzero(rng.random(counts[r]) < share)
        words = -(-counts[r] >> 6)
        kind, index = exchange_wire.BITS, words
        if r in as_pairs:
            kind, index = exchange_wire.PAIRS, -(-chosen.size // 2)
        elif chosen.size in (0, counts[r]):
            kind, index = (exchange_wire.ALL if chosen.size else exchange_wire.NOTHING), 0
        buffer[at + exchange_wire.KIND], buffer[at + exchange_wire.COUNT] = kind, chosen.size
        buffer[at + exchange_wire.EDGES] = 12 * chosen.size
        at += exchange_wire.HEADER
        if kind == exchange_wire.BITS:
            bits = np.zeros(64 * words, np.uint8)
            bits[chosen] = 1
            buffer[at : at + words] = np.packbits(bits, bitorder="little").view(np.int64)
        if kind == exchange_wire.PAIRS:
            buffer.view(np.uint32)[2 * at :][: chosen.size] = chosen
        buffer.view(np.float32)[2 * (at + index) :][: chosen.size] = rng.random(chosen.size)
        active.append(mirrors[r][chosen])
    mirrors = np.concatenate(mirrors)
    given = {
        "value_bytes": 4, "pairs": pairs, "calls": np.zeros(20, np.int64), "mirrors": mirrors,
        "heard": ranks_wire.bit_row(mirrors, 0, (N + 63) // 64), "share_in": np.array([0.25, 0, 0.5]),
        "pieces_in": ranks_wire.pieces_of(counts), "segments": ranks_wire.segments_of(mirrors, counts, BITS),
        "words": buffer, "numbers": buffer.view(np.uint32), "values": buffer.view(np.float32),
    }  # fmt: skip
    return Wire(**dict.fromkeys(Wire._fields))._replace(**given), active


def taken(wire, as_bits):
    """What becomes of what has been sent."""
    space, message, edges, size = space_of(), np.zeros(N, np.float32), 0, 0
    if as_bits:
        for i in range(len(wire.segments)):
            exchange_in.unpack_segment(i, space, wire)
        size, edges = exchange_in.join_segments(size, space, wire)
    for r in (0, 2):
        more, kind = 0, wire.words[wire.pairs[r, exchange_wire.IN] + exchange_wire.KIND]
        if kind == exchange_wire.PAIRS:
            size, more = exchange_in.read_pairs(r, as_bits, size, LAYOUT, space, wire, message)
        elif kind != exchange_wire.NOTHING and not as_bits:
            size, more = exchange_in.read_bits_as_lists(r, size, LAYOUT, space, wire)
        edges += more
    exchange_in.sum_pieces_in(wire)
    for i in range(len(wire.pieces_in)):
        exchange_in.take_piece(i, False, wire, message)
    return space, message, edges, np.sort(space.scatter_list[:size])


@pytest.mark.parametrize("as_pairs", [(), (2,), (0, 2)])
@pytest.mark.parametrize("shares", [(0.3, 0.7), (1, 0.2), (0, 1), (0, 0)])
def test_bits_become_the_lists_that_would_have_come(shares, as_pairs):
    wire, active = sent(shares, np.random.default_rng(4), as_pairs)
    found = []
    for as_bits in (False, True):
        space, message, edges, partitions = taken(wire, as_bits)
        if as_bits:
            marked = np.unpackbits(space.bitmap.view(np.uint8), bitorder="little")[:N]
            expected = np.bincount(np.concatenate(active), minlength=N)
            expected[128:192] = 1  # own words are as they were
            assert (marked == expected).all()
            for p in partitions:
                assert exchange_in.is_mirrored(p, LAYOUT, STATE)
                exchange_in.list_mirrors(p, LAYOUT, space)
        found.append(
            (edges, partitions, space.frontier_size, space.active_edges, space.frontier, message)
        )  # fmt: skip
    assert found[0][0] == 3 * active[0].size + 6 * active[1].size
    assert not exchange_in.is_mirrored(FIRST >> BITS, LAYOUT, STATE)
    for lists, bits in zip(*found, strict=True):
        np.testing.assert_array_equal(lists, bits)


def test_flags_are_those_of_the_list():
    wire, active = sent((0.3, 0.7), np.random.default_rng(4))
    space, *_ = taken(wire, as_bits=False)
    flagged = active[1][active[1] >> BITS == 5]
    exchange_in.flag_mirrors(5, 1, LAYOUT, space)
    assert np.flatnonzero(space.in_frontier).tolist() == flagged.tolist()
    exchange_in.flag_mirrors(5, 0, LAYOUT, space)
    assert not space.in_frontier.any()

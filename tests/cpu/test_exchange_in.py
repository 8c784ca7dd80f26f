"""What a rank takes in: mirrors as bits become the lists and messages that mirrors as lists are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpop.cpu import exchange_in, exchange_wire
from gpop.cpu.active import list_of

BITS, FIRST, LAST, N = 6, 128, 180, 600
"""Own partitions are the third, which is not full; two of mirrors before it and some after it."""

RANKS = 3
DEGREES = np.random.default_rng(1).integers(0, 9, N)
LAYOUT = SimpleNamespace(bits=BITS, n=N, k=-(-N >> BITS), indptr=np.concatenate([[0], np.cumsum(DEGREES)]))
STATE = SimpleNamespace(gpop_first=FIRST, gpop_last=LAST)


@pytest.fixture(autouse=True)
def in_python(monkeypatch):
    monkeypatch.setattr(exchange_in, "popcount", lambda word: np.uint64(int(word).bit_count()))


def space_of():
    return SimpleNamespace(
        bitmap=np.full((N + 63) // 64, 2**64 - 1, np.uint64),  # of an earlier iteration
        frontier=np.zeros(int(list_of(LAYOUT.k, LAYOUT)), np.uint16),
        frontier_size=np.zeros(LAYOUT.k, np.int64), active_edges=np.full(LAYOUT.k, 77, np.int64),
        in_frontier=np.zeros(N, np.uint8), listed=np.zeros(LAYOUT.k, np.uint8),
        scatter_list=np.zeros(LAYOUT.k, np.int64),
    )  # fmt: skip


def sent(shares, rng):
    """A wire with what the two other ranks have sent: of their mirrors, such a share is active."""
    mirrors = [np.arange(0, FIRST - 5, 2), np.zeros(0, np.int64), np.arange(192, N)]
    pairs = np.zeros((RANKS, exchange_wire.PAIR_COLUMNS), np.int64)
    counts = np.array([each.size for each in mirrors])
    pairs[:, exchange_wire.MIRRORS], pairs[:, exchange_wire.MIRROR_FIRST] = counts, np.cumsum(counts) - counts
    buffer, active = np.zeros(2000, np.int64), []
    for r, share in zip((0, 2), shares, strict=True):
        at = pairs[r, exchange_wire.IN] = 1000 * (r > 0)
        chosen = np.flatnonzero(rng.random(counts[r]) < share)
        words = -(-counts[r] >> 6)
        kind, index = exchange_wire.BITS, words
        if chosen.size in (0, counts[r]):
            kind, index = (exchange_wire.ALL if chosen.size else exchange_wire.NOTHING), 0
        buffer[at : at + 2] = kind, chosen.size
        at += exchange_wire.HEADER
        if kind == exchange_wire.BITS:
            bits = np.zeros(64 * words, np.uint8)
            bits[chosen] = 1
            buffer[at : at + words] = np.packbits(bits, bitorder="little").view(np.int64)
        buffer.view(np.float32)[2 * (at + index) :][: chosen.size] = rng.random(chosen.size)
        active.append(mirrors[r][chosen])
    mirrors = np.concatenate(mirrors)
    wire = SimpleNamespace(
        pairs=pairs, mirrors=mirrors, mirror_edges=DEGREES[mirrors], in_words=buffer,
        in_values=buffer.view(np.float32), value_bytes=4,
    )  # fmt: skip
    return wire, np.concatenate(active)


@pytest.mark.parametrize("shares", [(0.3, 0.7), (1, 0.2), (0, 1), (0, 0)])
def test_bits_become_the_lists_that_would_have_come(shares):
    wire, active = sent(shares, np.random.default_rng(4))
    found = []
    for as_bits in (False, True):
        space, message = space_of(), np.zeros(N, np.float32)
        size, edges = 0, 0
        if as_bits:
            exchange_in.clear_mirrors(LAYOUT, space, STATE)
        for r in (0, 2):
            if as_bits:
                size, more = exchange_in.read_as_bits(r, size, LAYOUT, space, wire, message)
            else:
                size, more = exchange_in.read_as_lists(r, False, size, LAYOUT, space, wire, message)
            edges += more
        partitions = space.scatter_list[:size]
        if as_bits:
            marked = np.unpackbits(space.bitmap.view(np.uint8), bitorder="little")[:N]
            expected = np.bincount(active, minlength=N)
            expected[128:192] = 1  # own words are as they were
            assert (marked == expected).all()
            for p in partitions:
                assert exchange_in.is_mirrored(p, LAYOUT, STATE)
                exchange_in.list_mirrors(p, LAYOUT, space)
        found.append(
            (
                edges, partitions, space.frontier_size, space.active_edges, space.frontier,
                space.in_frontier, message,
            )
        )  # fmt: skip
    assert found[0][0] == DEGREES[active].sum()
    assert not exchange_in.is_mirrored(FIRST >> BITS, LAYOUT, STATE)
    for lists, bits in zip(*found, strict=True):
        np.testing.assert_array_equal(lists, bits)

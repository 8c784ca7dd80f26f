"""Which mirrors an exchange tells: looked up one by one or put together from bits, the same are chosen."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpop.common.bits import together
from gpop.cpu import bitmap, exchange_out, exchange_wire
from gpop.cpu.active import list_of
from gpop.cpu.exchange_wire import HEADER, Wire
from gpop.ranks import wire as ranks_wire

BITS, FIRST, OWN, RANKS = 6, 128, 700, 3
LAYOUT = SimpleNamespace(bits=BITS, n=FIRST + OWN)
STATE = SimpleNamespace(gpop_first=FIRST, gpop_last=FIRST + OWN)
VALUES = np.random.default_rng(9).random(FIRST + OWN).astype(np.float32)


@pytest.fixture(autouse=True)
def in_python(monkeypatch):
    def count(word):
        return np.uint64(int(word).bit_count())

    monkeypatch.setattr(exchange_out, "prefetch", lambda array, at: None)  # only compiled code can
    monkeypatch.setattr(exchange_out, "extract", together)
    monkeypatch.setattr(exchange_out, "popcount", count)
    monkeypatch.setattr(bitmap, "popcount", count)
    monkeypatch.setattr(ranks_wire, "PIECE_WORDS", 2)


def wire_of(sends):
    """Each rank but the second mirrors some of the own vertices, which are given for each."""
    counts = np.array([each.size for each in sends])
    pairs = np.zeros((RANKS, exchange_wire.PAIR_COLUMNS), np.int64)
    pairs[:, exchange_wire.SENDS], pairs[:, exchange_wire.SEND_FIRST] = counts, np.cumsum(counts) - counts
    pairs[:, exchange_wire.OUT] = 1000 * np.arange(RANKS)
    sends, words = np.concatenate(sends), np.zeros(1000 * RANKS, np.int64)
    mirrored = ranks_wire.mirrored_rows(sends, counts, FIRST, FIRST + OWN)
    offsets, where = ranks_wire.where_mirrored(sends, counts, FIRST, FIRST + OWN)
    given = {
        "rank": 1, "value_bytes": 4, "pairs": pairs, "calls": np.zeros(20, np.int64), "sends": sends,
        "mirrored": mirrored, "pieces": ranks_wire.pieces_of(counts, mirrored), "where_offsets": offsets,
        "where": where, "chosen": np.full(sends.size, 999, np.uint32), "words": words,
        "numbers": words.view(np.uint32), "values": words.view(np.float32),
    }  # fmt: skip
    return Wire(**dict.fromkeys(Wire._fields))._replace(**given)


def some(rng, shares):
    return [FIRST + np.flatnonzero(rng.random(OWN) < share) for share in shares]


def frontier(active, turned=False):
    """The lists of the partitions, in descending order where they are ``turned``."""
    k = (FIRST + OWN >> BITS) + 1
    space = SimpleNamespace(
        frontier=np.zeros(int(list_of(k, LAYOUT)), np.uint16), frontier_size=np.zeros(k, np.int64),
        scatter_list=np.unique(active >> BITS), bitmap=np.full(k, 2**64 - 1, np.uint64),
    )  # fmt: skip
    for p in space.scatter_list:
        locals_ = active[active >> BITS == p] - (p << BITS)
        start = int(list_of(p, LAYOUT))
        space.frontier[start : start + locals_.size] = locals_[::-1] if turned else locals_
        space.frontier_size[p] = locals_.size
    return space


def look_up(space, found):
    for p in space.scatter_list:
        exchange_out.choose_of(p, LAYOUT, space, found, STATE)


def chosen(found):
    return [
        found.chosen[row[exchange_wire.SEND_FIRST] :][: row[exchange_wire.CHOSEN]].tolist()
        for row in found.pairs
    ]


@pytest.mark.parametrize("share", [0.01, 0.4, 1])
@pytest.mark.parametrize("shares", [(0.5, 0, 0.8), (1, 0, 0.05)])
@pytest.mark.parametrize("shared", [0, 1])
def test_bits_tell_what_is_looked_up(shared, share, shares):
    """So do the forms that take the least bytes, or time where none are sent, and the values behind them."""
    sends = some(np.random.default_rng(5), shares)
    packed, looked_up = wire_of(sends), wire_of(sends)
    packed.pairs[:, exchange_wire.SHARED] = shared
    space = frontier(FIRST + np.flatnonzero(np.random.default_rng(3).random(OWN) < share))
    for p in range(FIRST >> BITS, -(-LAYOUT.n >> BITS)):
        bitmap.mark(p, LAYOUT, space)
    fill = exchange_out.make_fill_piece(lambda state, v: VALUES[v], False)
    pairs = exchange_out.make_fill_pairs(lambda state, v: VALUES[v])
    for i in range(len(packed.pieces)):
        exchange_out.pack_piece(i, space, packed, STATE)
    exchange_out.sum_pieces(packed)
    for i in range(len(packed.pieces)):
        fill(i, packed, STATE)
    look_up(space, looked_up)
    for r, (mirrored, expected) in enumerate(zip(sends, chosen(looked_up), strict=True)):
        form, count = packed.pairs[r, [exchange_wire.FORM, exchange_wire.CHOSEN]]
        assert count == len(expected)
        words = -(-mirrored.size // 64)
        as_pairs = exchange_out.SCANNED * count if shared else -(-count // 2)
        best = exchange_wire.BITS if words <= as_pairs else exchange_wire.PAIRS
        if count in (0, mirrored.size):
            best = exchange_wire.ALL if count else exchange_wire.NOTHING
        assert form == best
        at = packed.pairs[r, exchange_wire.OUT] + HEADER
        index = {exchange_wire.BITS: words, exchange_wire.PAIRS: -(-count // 2)}.get(form, 0)
        if form == exchange_wire.PAIRS:
            pairs(r, packed, STATE)
            assert packed.numbers[2 * at :][:count].tolist() == expected
        if form == exchange_wire.BITS:
            bits = np.unpackbits(packed.words[at : at + words].view(np.uint8), bitorder="little")
            assert np.flatnonzero(bits).tolist() == expected
        assert (packed.values[2 * (at + index) :][:count] == VALUES[mirrored[expected]]).all()


def test_lists_in_another_order_are_told_in_it():
    sends = some(np.random.default_rng(5), (0.5, 0, 0.8))
    space, found = frontier(FIRST + np.arange(200), turned=True), wire_of(sends)
    assert not exchange_out.ascends(space.scatter_list.size, LAYOUT, space)
    assert exchange_out.ascends(space.scatter_list.size, LAYOUT, frontier(FIRST + np.arange(200)))
    look_up(space, found)
    first = sends[0][chosen(found)[0]]
    assert (np.diff(first >> BITS) >= 0).all()
    assert (np.diff(first)[first[1:] >> BITS == first[:-1] >> BITS] < 0).all()


def test_values_are_written_where_mirrors_read_them():
    """On ranks that share memory, where all vertices are active."""
    sends = some(np.random.default_rng(5), (0.5, 0, 0.8))
    found = wire_of(sends)
    found.pairs[:, exchange_wire.FORM], found.pairs[2, exchange_wire.SHARED] = exchange_wire.ALL, 1
    found.pairs[2, exchange_wire.PLACES] = 1000
    found = found._replace(
        places=np.concatenate([np.arange(sends[0].size), 3 * np.arange(sends[2].size)]),
        messages=np.zeros(1000 + 3 * sends[2].size, np.float32),
    )
    fill = exchange_out.make_fill_piece(lambda state, v: VALUES[v], True)
    for i in range(len(found.pieces)):
        fill(i, found, STATE)
    assert (found.messages[1000::3] == VALUES[sends[2]]).all() and not found.messages[:1000].any()
    assert (found.values[2 * HEADER :][: sends[0].size] == VALUES[sends[0]]).all()

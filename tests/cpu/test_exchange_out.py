"""Which mirrors an exchange tells: looked up vertex by vertex or scanned, the same ones are chosen."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpop.cpu import exchange_out, exchange_wire
from gpop.cpu.active import list_of
from gpop.ranks.wire import where_mirrored

BITS, FIRST, OWN, RANKS = 4, 32, 70, 3
LAYOUT = SimpleNamespace(bits=BITS)
STATE = SimpleNamespace(gpop_first=FIRST)


@pytest.fixture(autouse=True)
def in_python(monkeypatch):
    monkeypatch.setattr(exchange_out, "prefetch", lambda array, at: None)  # only compiled code can


def wire(rng):
    """Each rank but the second mirrors some of the own vertices."""
    sends = [FIRST + np.flatnonzero(rng.random(OWN) < share) for share in (0.5, 0, 0.8)]
    counts = np.array([each.size for each in sends])
    pairs = np.zeros((RANKS, exchange_wire.PAIR_COLUMNS), np.int64)
    pairs[:, exchange_wire.SENDS], pairs[:, exchange_wire.SEND_FIRST] = counts, np.cumsum(counts) - counts
    pairs[:, exchange_wire.LATEST], pairs[:, exchange_wire.ORDERED] = -1, 1
    sends = np.concatenate(sends)
    offsets, where = where_mirrored(sends, counts, FIRST, FIRST + OWN)
    return SimpleNamespace(
        pairs=pairs, sends=sends, where_offsets=offsets, where=where, chosen=np.full(sends.size, 999)
    )


def frontier(active, turned):
    """The lists of the partitions, in descending order where they are ``turned``."""
    k = (FIRST + OWN >> BITS) + 1
    space = SimpleNamespace(
        frontier=np.zeros(int(list_of(k, LAYOUT)), np.uint16), frontier_size=np.zeros(k, np.int64),
        in_frontier=np.zeros(FIRST + OWN, np.uint8), scatter_list=np.unique(active >> BITS),
    )  # fmt: skip
    space.in_frontier[active] = 1
    for p in space.scatter_list:
        locals_ = active[active >> BITS == p] - (p << BITS)
        start = int(list_of(p, LAYOUT))
        space.frontier[start : start + locals_.size] = locals_[::-1] if turned else locals_
        space.frontier_size[p] = locals_.size
    return space


def chosen(found):
    return [
        found.chosen[row[exchange_wire.SEND_FIRST] :][: row[exchange_wire.CHOSEN]].tolist()
        for row in found.pairs
    ]


@pytest.mark.parametrize("share", [0.05, 0.6, 1])
def test_scanning_chooses_what_is_looked_up(share):
    rng = np.random.default_rng(3)
    scanned, looked_up = wire(np.random.default_rng(5)), wire(np.random.default_rng(5))
    space = frontier(FIRST + np.flatnonzero(rng.random(OWN) < share), turned=False)
    assert exchange_out.ascends(space.scatter_list.size, LAYOUT, space)
    for r in range(RANKS):
        exchange_out.choose_scanning(r, space, scanned)
    for p in space.scatter_list:
        exchange_out.choose_of(p, LAYOUT, space, looked_up, STATE)
    active = space.in_frontier[scanned.sends] == 1
    ends = np.cumsum(scanned.pairs[:, exchange_wire.SENDS])
    expected = [np.flatnonzero(part).tolist() for part in np.split(active, ends[:-1])]
    assert chosen(scanned) == chosen(looked_up) == expected
    assert (looked_up.pairs[:, exchange_wire.ORDERED] == 1).all()


def test_lists_in_another_order_are_told_in_it():
    space, found = frontier(FIRST + np.arange(40), turned=True), wire(np.random.default_rng(5))
    assert not exchange_out.ascends(space.scatter_list.size, LAYOUT, space)
    for p in space.scatter_list:
        exchange_out.choose_of(p, LAYOUT, space, found, STATE)
    assert found.pairs[:, exchange_wire.ORDERED].tolist() == [0, 1, 0]
    first = found.sends[chosen(found)[0]]
    assert (np.diff(first >> BITS) >= 0).all() and (
        np.diff(first)[first[1:] >> BITS == first[0] >> BITS] < 0
    ).all()

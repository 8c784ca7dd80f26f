"""Memory that ranks of a machine share, and the tables that an exchange goes by."""

from __future__ import annotations

import multiprocessing
import os
from threading import Barrier, Thread
from types import SimpleNamespace

import numpy as np
import pytest

from gpop.cpu import exchange_wire
from gpop.ranks import shared, wire


class Ranks:
    """So many ranks, each a thread of this process, on machines that are given by rank."""

    def __init__(self, machines):
        self.machines, self.said = machines, [None] * len(machines)
        self.barrier = Barrier(len(machines))

    def rank(self, number):
        def everyones(value):
            self.said[number] = value
            self.barrier.wait()
            found = list(self.said)
            self.barrier.wait()
            return found

        machine = self.machines[number]
        here = [(os.getpid(), r) for r, other in enumerate(self.machines) if other == machine]
        return SimpleNamespace(
            rank=number, size=len(self.machines), machine=machine, neighbours=here, everyones=everyones
        )

    def run(self, work):
        found = [None] * len(self.machines)

        def one(number):
            found[number] = work(self.rank(number))

        threads = [Thread(target=one, args=(number,)) for number in range(len(self.machines))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found


def test_ranks_of_a_machine_see_what_the_others_write():
    found = Ranks((0, 0, 2)).run(lambda world: shared.shared_words(world, 5 + world.rank))
    (first, begins), (second, same), (alone, only) = found
    assert begins == same == {0: 0, 1: 5} and only == {2: 0}
    assert (first.size, second.size, alone.size) == (11, 11, 7) and not first.any()
    second[begins[1]] = 42
    assert first[5] == 42 and not alone.any()


@pytest.mark.parametrize("hidden", ["_made", "_opened"])
def test_ranks_that_cannot_share_have_memory_of_their_own(monkeypatch, hidden):
    monkeypatch.setattr(shared, hidden, lambda what: None)
    found = Ranks((0, 0)).run(lambda world: shared.shared_words(world, 3))
    assert [begins for _, begins in found] == [{0: 0}, {1: 0}]
    assert [words.size for words, _ in found] == [3, 3]


def test_the_file_of_another_process_is_told_by_its_identity():
    file = shared._made(64)
    assert shared._opened((os.getpid(), file, (0, 0))) is None
    again = shared._opened((os.getpid(), file, shared._identity(file)))
    assert again is not None
    os.close(again)
    os.close(file)
    gone = multiprocessing.Process(target=int)
    gone.start()
    gone.join()
    assert shared._opened((gone.pid, file, (0, 0))) is None


@pytest.mark.parametrize("value_bytes", [0, 4, 8])
def test_buffers_are_where_the_other_rank_looks(value_bytes):
    """Two of each on one machine, one on another; none overlaps with another."""
    counts = np.array([[0, 7, 5], [3, 0, 0], [9, 200, 0]])  # [sender, receiver]

    def work(world):
        pairs = np.zeros((3, exchange_wire.PAIR_COLUMNS), np.int64)
        pairs[:, exchange_wire.SENDS] = counts[world.rank]
        pairs[:, exchange_wire.MIRRORS] = counts[:, world.rank]
        return pairs, wire._buffers(pairs, value_bytes, world)

    found = Ranks((0, 0, 2)).run(work)
    for s, r in ((0, 1), (1, 0)):
        out, into = found[s][0][r], found[r][0][s]
        assert out[exchange_wire.SHARED] == into[exchange_wire.SHARED] == 1
        assert out[exchange_wire.OUT] == into[exchange_wire.IN]
        assert out[exchange_wire.OUT_STEP] == into[exchange_wire.IN_STEP] > 0
    assert not found[2][0][:, exchange_wire.SHARED].any()
    for rank, (pairs, words) in enumerate(found):
        used = np.zeros(words.size, np.int64)
        for other in range(3):
            for counted, at, step in (("SENDS", "OUT", "OUT_STEP"), ("MIRRORS", "IN", "IN_STEP")):
                row = {name: pairs[other, getattr(exchange_wire, name)] for name in (counted, at, step)}
                room = wire._room(row[counted], value_bytes)
                for begin in {row[at], row[at] + row[step]} if other != rank else ():
                    used[begin : begin + room] += 1
        assert used.max() == 1


def test_pieces_and_segments_have_every_mirror_once():
    rng = np.random.default_rng(3)
    sends = [128 + np.flatnonzero(rng.random(3000) < share) for share in (0.3, 0, 0.9)]
    counts = np.array([each.size for each in sends])
    rows = wire.mirrored_rows(np.concatenate(sends), counts, 128, 3128)
    for piece in wire.pieces_of(counts, rows):
        r, first, own, skipped = piece[
            [exchange_wire.OF_RANK, exchange_wire.FIRST_WORD, exchange_wire.OWN_WORD, exchange_wire.SKIPPED]
        ]
        before = int(np.bitwise_count(rows[r, :own]).sum())
        assert before + skipped == 64 * first
    segments = wire.segments_of(np.concatenate(sends), counts, 8)
    for r, mirrors in enumerate(sends):
        rows = segments[segments[:, exchange_wire.SEGMENT_RANK] == r]
        words = np.concatenate(
            [np.arange(*row[[exchange_wire.SEGMENT_FIRST, exchange_wire.SEGMENT_LAST]]) for row in rows]
            or [np.empty(0, np.int64)]
        )
        assert np.unique(words).size == words.size and np.isin(mirrors >> 6, words).all()
    assert wire.segments_of(sends[0], np.array([sends[0].size]), 5).size == 0  # words are shared there

"""How long the arrays of a workspace are, and what they first hold: tables, of which all else follows.

What is predicted and refused, and what is allocated (arrays.py), comes from the same description.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.cpu import filling, priority, team, tournament
from gpop.cpu.active import LIST_GAP
from gpop.cpu.arrays import Array
from gpop.cpu.settling import sums_of
from gpop.cpu.workspace import NONE
from gpop.layout.bins import Bins
from gpop.layout.edge_blocks import Blocks

EXCHANGED = 15
"""Numbers that the loop and an exchange tell each other."""

BYTE, FLAG = np.dtype(np.uint8), np.dtype(np.uint8)
NUMBER, WORD, FRACTION = np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64)
SHORT, ID = np.dtype(np.int32), np.dtype(np.uint32)


class Needs(NamedTuple):
    """Which of the large arrays a run uses; the others are empty."""

    sent: bool
    sc: bool
    frontier: bool
    interleave: bool
    touched: bool
    pull: bool
    own_values: bool
    priorities: bool
    receivers: bool
    sums: bool
    settles: bool
    ranked: bool


def _message_words(messages: int, message: np.dtype) -> int:
    return -(-messages * message.itemsize // WORD.itemsize)


def own_edges(bins: Bins) -> np.ndarray:
    """Edges of each partition that stay in it."""
    own = np.arange(int(bins.k)) * (int(bins.k) + 1)
    return bins.id_offsets[own + 1] - bins.id_offsets[own]


def bins_table(bins: Bins, needs: Needs, message: np.dtype, threads: int) -> dict[str, Array]:
    """What a run over bins works in.

    One buffer of words holds the messages of every type, so that programs of different types share its
    memory. A pulled iteration keeps one value a vertex there.
    """
    n, k = int(bins.n), int(bins.k)
    lists = n + k * LIST_GAP
    local = bins.sources.dtype
    frontier, priorities, touched = needs.frontier, needs.priorities, needs.touched

    def empty_bins(cursors: np.ndarray) -> None:
        cursors[::2] = bins.slots[:-1]
        cursors[1::2] = bins.id_offsets[:-1].reshape(k, k).T.ravel()

    def most_in_edges_first(heaviest: np.ndarray) -> None:
        heaviest[:] = np.argsort(-np.diff(bins.id_offsets[:: max(k, 1)]), kind="stable")

    def mostly_inside(inside: np.ndarray) -> None:
        starts = bins.indptr[np.minimum(np.arange(k + 1) << int(bins.bits), n)]
        inside[:] = 2 * own_edges(bins) >= np.diff(starts)

    def nobody_waits(buckets: np.ndarray) -> None:
        buckets[:] = 0
        buckets[priority.LEAST :: priority.SLOTS] = tournament.HIGHEST
        buckets[priority.KEY :: priority.SLOTS] = tournament.HIGHEST

    return {
        "values": Array(
            _message_words(max(bins.messages, n if needs.pull else 0), message), WORD, by_edge=True
        ),
        "own_values": Array(n * needs.own_values, message),
        "sent": Array(bins.messages * needs.sent, FLAG, by_edge=True),
        # touched at the starts of bins only
        "sc_ids": Array(bins.ids.size * needs.sc, bins.ids.dtype, small_pages=True, by_edge=True),
        "sc_weights": Array(
            bins.id_weights.size * needs.sc, bins.id_weights.dtype, small_pages=True, by_edge=True
        ),
        "cursors": Array(2 * k * k, NUMBER, start=empty_bins),
        "head": Array(threads * k, NUMBER, NONE),
        "consumed": Array(threads * k, NUMBER, NONE),
        "next_source": Array(k * k, SHORT),
        "row_list": Array(bins.row_bins.size, ID),
        "row_size": Array(k, NUMBER, 0),
        "frontier": Array(lists * frontier, local),
        "in_frontier": Array(n * frontier, FLAG, 0),
        "frontier_size": Array(k, NUMBER, 0),
        "active_edges": Array(k, NUMBER, 0),
        "whole_edges": Array(k * needs.ranked, NUMBER, 0),
        "edges_here": Array(k * needs.ranked, FRACTION, 0),
        "sent_messages": Array(k, NUMBER, 0),
        "predicted": Array(k, FRACTION, 0),
        "mode": Array(k, BYTE, 0),
        "listed": Array(k, FLAG, 0),
        "inside": Array(k, FLAG, start=mostly_inside),
        "exchanged": Array(EXCHANGED, NUMBER, 0),
        "scatter_list": Array(k, NUMBER),
        "gather_list": Array(k, NUMBER),
        "gather_order": Array(k, NUMBER),
        "heaviest": Array(k, NUMBER, start=most_in_edges_first),
        "claim": Array(_room(claim_slots(threads)), NUMBER, 0),
        "team": Array(_room(team_slots(threads)), NUMBER, 0),
        "filling": Array(filling.SLOTS, NUMBER, 0),
        "bitmap": Array((n + 63) // 64 * (needs.pull or needs.ranked), WORD, 0),
        "needy": Array(2 * k * needs.pull, NUMBER),
        "queue": Array(lists * (frontier or needs.pull), local),
        "later": Array(lists * priorities, local),
        "waiting": Array(n * priorities, FLAG, 0),
        "buckets": Array(priority.SLOTS * (k + 1) * priorities, NUMBER, start=nobody_waits),
        "tournament": Array(tournament.tree_size(k) * priorities, NUMBER, tournament.HIGHEST),
        "ever": Array(n * touched, FLAG, 0),
        "touched": Array(lists * touched, local),
        "touched_size": Array(k, NUMBER, 0),
        "receivers": Array(n * needs.receivers, FLAG, 0),
        "receivers_known": Array(k * needs.receivers, FLAG, 0),
        "sums": Array((threads << int(bins.bits)) * needs.sums, FRACTION, 0),
        "changes": Array(sums_of(n) * needs.settles, FRACTION),
    }


def blocks_table(
    blocks: Blocks, message: np.dtype, threads: int, widest: int, settles: bool
) -> dict[str, Array]:
    """What a run over blocks works in: two values per vertex (pull_all.py), and what is counted per unit.

    ``widest``: vertices of the widest unit, where messages are added up in float64 (sums.py), else 0.
    """
    k = int(blocks.k)
    return {
        "values": Array(_message_words(2 * int(blocks.n), message), WORD),
        "frontier_size": Array(k, NUMBER, 0),
        "sent_messages": Array(k, NUMBER, 0),
        "mode": Array(k, BYTE, 0),
        "exchanged": Array(EXCHANGED, NUMBER, 0),
        "needy": Array(2 * k, NUMBER, 0),
        "sums": Array(threads * widest, FRACTION, 0),
        "changes": Array(sums_of(int(blocks.n)) * settles, FRACTION),
        "claim": Array(_room(claim_slots(threads)), NUMBER, 0),
        "team": Array(_room(team_slots(threads)), NUMBER, 0),
        "filling": Array(filling.SLOTS, NUMBER, 0),
    }


def claim_slots(threads: int) -> int:
    """Of ``claim``."""
    return team.LINE_SLOTS * threads


def team_slots(threads: int) -> int:
    """Of ``team``."""
    return team.SHARES + 2 * threads


def _room(slots: int) -> int:
    """Slots of an array in which so many can begin at a cache line."""
    return slots + team.LINE_SLOTS

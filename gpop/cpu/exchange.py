"""The exchange between ranks: one value for each vertex that is active, and rank that has edges of it.

A rank owns a contiguous range of vertices and all edges into it; vertices of other ranks that have such edges
are its *mirrors*, with local ids in partitions of their own (gpop/ranks/part.py). Before every iteration each
rank sends the messages of its own active vertices to the ranks that mirror these, where they lie in an array
(``state.gpop_message``) until the mirrors scatter. What arrives puts mirrors into the frontier, where order
matters (`keeps_order`) in that in which their owner has them. From then on the iteration is one like any
other, over the local graph: at a fixed mode a run is bitwise the same on any number of ranks.

What goes from rank to rank is in exchange_wire.py, what is chosen for it in exchange_out.py, how it goes in
exchange_post.py, and what becomes of it in exchange_in.py. Most of the work can be shared: `make_exchange` is
called again and again by the main thread, and says each time what the threads do next, piece by piece
(`make_share`).

While it travels, own partitions scatter into their bins (`EARLY`), and those of mirrors when all is there.
Nothing is gathered before: a column is read in ascending order of its sources, whenever these have scattered,
and messages of lower ranks come before those of own vertices. Not where an iteration may pull, which depends
on what others have active, nor where partitions pass on what they hear.

Known before: Gluon (Dathathri et al., PLDI 2018) exchanges lists of mirrors once and
values with offsets or bits; Gemini (Zhu et al., OSDI 2016) sends pairs.
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline
from gpop.cpu.active import WORD_BITS, sort_list
from gpop.cpu.bitmap import mark
from gpop.cpu.exchange_in import (
    AS_BITS,
    EARLY,
    EVERY,
    MIRRORS_ONLY,
    OWN_BITS,
    OWN_ONES,
    join_segments,
    read_bits_as_lists,
    read_pairs,
    sum_pieces_in,
    take_piece,
    unpack_segment,
)
from gpop.cpu.exchange_out import SCANNED, ascends, choose_of, pack_piece, sum_pieces
from gpop.cpu.exchange_post import come_together, have_read, hear
from gpop.cpu.exchange_wire import (
    ACTIVE,
    ALL,
    BITS,
    CHOSEN,
    COUNT,
    DUE,
    EXCHANGE_TURN,
    FORM,
    KIND,
    LEAST,
    NOTHING,
    PAIRS,
    SENDS,
    SHARED,
    in_at,
)  # fmt: skip
from gpop.cpu.sharing import EARLY_EDGES
from gpop.cpu.tournament import HIGHEST
from gpop.cpu.work import SCATTER
from gpop.model.choosers import AUTO_PUSH
from gpop.model.strategies import PULL, SC

SIZE, ACTIVE_HERE, EDGES_HERE, WHOLE, LEAST_ANYWHERE, EDGES_TOLD = range(6)
"""Slots of ``exchanged`` in the workspace: the length of ``scatter_list``; own active vertices (where all are
active, those that are not settled); edges here of what is active, after the exchange mirrors included; active
vertices of all ranks; the lowest priority that waits, before the exchange here, after it anywhere; all edges
of own active vertices, on whatever rank. `AS_BITS` and `OWN_BITS` follow."""

STAGE, NEXT, PIECES, LOAD, OWN, RETURNS = range(8, 14)
"""More of them: how far the exchange is, 0 before it; what is to be done in pieces now, how many pieces there
are, 0 when it is over, and about how many vertices or words they have in all. How many vertices are own.
Whether Python is due, before the exchange here, after it on some rank: all return behind this iteration.
`EARLY` follows."""

MARK, PACK, FILL, UNPACK, TAKE = range(8, 13)
"""What is done in pieces (phases of gpop/cpu/work.py): own vertices become bits, partition by partition; bits
for each rank; values for each; bits that came those of mirrors; values that came messages."""

_BEGINS, _MARKED, _PACKED, _FILLED, _POSTED, _UNPACKED, _TAKEN, READ = range(8)
"""Stages. `READ` is one by itself: mirrors have scattered, and what they were sent is not needed any more."""


@inline
def keeps_order(forced):
    """Whether vertices have to be told in the order of their lists, which is that of messages in SC."""
    return forced == SC


@inline
def _next(what, pieces, load, stage, told):
    """Have something done in pieces, and come back at this stage."""
    told[NEXT], told[PIECES], told[LOAD], told[STAGE] = what, pieces, load, stage


def make_exchange(post, all_active, scatters):
    """Kernel: exchange messages before an iteration; what comes of it is in ``exchanged``.

    ``scatters``: an iteration scatters whatever comes, own vertices may begin.
    """
    chooses = not all_active

    def exchange(forced, layout, space, wire, state):
        told, pairs, message = space.exchanged, wire.pairs, state.gpop_message
        ranks, stage, size = pairs.shape[0], told[STAGE], told[SIZE]
        valued = wire.value_bytes > 0
        told[PIECES] = 0
        if stage == READ:
            have_read(wire)
            return
        if stage == _BEGINS:
            wire.calls[EXCHANGE_TURN] += 1
            told[OWN] = np.int64(state.gpop_last) - np.int64(state.gpop_first)
            told[AS_BITS] = told[OWN_BITS] = 0
            told[EARLY] = EVERY
            if all_active:  # and all are told, too, when all here have settled: others may not have
                for r in range(ranks):
                    pairs[r, CHOSEN] = pairs[r, SENDS]
                    pairs[r, FORM] = ALL if pairs[r, CHOSEN] > 0 else NOTHING
                told[EDGES_TOLD] = told[EDGES_HERE]
                if valued:
                    come_together(wire)
                    _next(FILL, wire.pieces.shape[0], wire.sends.size, _FILLED, told)
                    if told[PIECES] > 0:
                        return
            if chooses:
                active = edges = np.int64(0)
                for i in range(size):
                    p = space.scatter_list[i]
                    space.listed[p] = 1
                    active += space.frontier_size[p]
                    edges += space.whole_edges[p]
                told[ACTIVE_HERE], told[EDGES_TOLD] = active, edges
                looked_at = wire.mirrored.shape[1] * (ranks - 1)
                if active * SCANNED >= looked_at and active > 0:
                    if not keeps_order(forced) or ascends(size, layout, space):
                        bits = np.int64(layout.bits)
                        _next(MARK, (told[OWN] + (np.int64(1) << bits) - 1) >> bits, active, _MARKED, told)
                        return
                for r in range(ranks):
                    pairs[r, CHOSEN] = 0
                for i in range(size):
                    choose_of(space.scatter_list[i], layout, space, wire, state)
                for r in range(ranks):
                    pairs[r, FORM] = PAIRS if pairs[r, CHOSEN] > 0 else NOTHING
            stage = _FILLED
        if chooses:
            if stage == _MARKED:
                told[OWN_BITS] = 1
                _next(PACK, wire.pieces.shape[0], wire.mirrored.shape[1] * (ranks - 1), _PACKED, told)
                if told[PIECES] > 0:
                    return
                stage = _PACKED
            if stage == _PACKED:
                sum_pieces(wire)
                stage = _FILLED
                if valued:
                    _next(FILL, wire.pieces.shape[0], told[ACTIVE_HERE] * (ranks - 1), _FILLED, told)
                    if told[PIECES] > 0:
                        return
        if stage == _FILLED:
            post(told[ACTIVE_HERE], told[EDGES_TOLD], told[LEAST_ANYWHERE], told[RETURNS], wire, state)
            stage = _POSTED
            if scatters:
                items, edges = size, told[EDGES_HERE]
                if all_active:
                    first, last = np.uint64(state.gpop_first), np.uint64(state.gpop_last)
                    items, edges = layout.k, np.int64(layout.indptr[last] - layout.indptr[first])
                if told[ACTIVE_HERE] > 0 and edges >= EARLY_EDGES and forced >= AUTO_PUSH:
                    told[EARLY] = OWN_ONES
                    _next(SCATTER, items, edges, _POSTED, told)
                    return
        if stage == _POSTED:
            if told[EARLY] == OWN_ONES:
                told[EARLY] = MIRRORS_ONLY
            hear(wire)
            told[WHOLE] = told[ACTIVE_HERE]
            many = chooses and forced == PULL
            few = False
            amount = np.int64(0)
            for r in range(ranks):
                if r != wire.rank:
                    header = in_at(r, wire)
                    kind = wire.words[header + KIND]
                    many |= kind in (ALL, BITS) and (chooses or pairs[r, SHARED] == 0)
                    few |= kind == PAIRS
                    amount += wire.words[header + COUNT]
                    told[WHOLE] += wire.words[header + ACTIVE]
                    told[RETURNS] |= wire.words[header + DUE]
                    told[LEAST_ANYWHERE] = min(told[LEAST_ANYWHERE], wire.words[header + LEAST])
            if all_active:
                if valued and many:
                    _next(TAKE, wire.pieces_in.shape[0], amount, _TAKEN, told)
            if chooses:
                lists = layout.bits < WORD_BITS or (keeps_order(forced) and few)
                if many and not lists:
                    told[AS_BITS] = 1
                    _next(UNPACK, wire.segments.shape[0], len(space.bitmap), _UNPACKED, told)
                    if told[PIECES] > 0:
                        return
                stage = _UNPACKED
        if chooses:
            if stage == _UNPACKED:
                own_size, as_bits, many, amount = size, told[AS_BITS] != 0, False, np.int64(0)
                if as_bits:
                    size, more = join_segments(size, space, wire)
                    told[EDGES_HERE] += more
                for r in range(ranks):
                    if r != wire.rank:
                        header, more = in_at(r, wire), np.int64(0)
                        kind = wire.words[header + KIND]
                        if kind == PAIRS:
                            size, more = read_pairs(r, as_bits, size, layout, space, wire, message)
                        elif kind != NOTHING:
                            many = True
                            amount += wire.words[header + COUNT]
                            if not as_bits:
                                size, more = read_bits_as_lists(r, size, layout, space, wire)
                        told[EDGES_HERE] += more
                if size > own_size:
                    sort_list(space.scatter_list, size, space.listed, layout.k)
                for i in range(size):
                    space.listed[space.scatter_list[i]] = 0
                told[SIZE] = size
                if valued and many:
                    sum_pieces_in(wire)
                    _next(TAKE, wire.pieces_in.shape[0], amount, _TAKEN, told)

    return exchange


def make_share(fill_piece, all_active):
    """Kernel: a piece of what `make_exchange` has asked for."""
    chooses = not all_active

    def share(what, i, layout, space, wire, state):
        if what == FILL:
            fill_piece(i, wire, state)
        elif what == TAKE:
            take_piece(i, all_active, wire, state.gpop_message)
        if chooses:
            if what == MARK:
                mark((np.int64(state.gpop_first) >> np.int64(layout.bits)) + i, layout, space)
            elif what == PACK:
                pack_piece(i, space, wire, state)
            elif what == UNPACK:
                unpack_segment(i, space, wire)

    return share


@inline
def is_over(whole, lowest):
    """Whether nothing is active on any rank, and nothing waits."""
    return whole == 0 and lowest == HIGHEST

"""Fields of a run that are filled by the threads that work in them, inside the loop.

A run that is asked for again has arrays of anything for the fields that nobody has looked at, and a list of
steps that fill them (`gpop.program.values.Fields.unfilled`). The loop does them before its first iteration.
Where workers are called, they are on their way meanwhile; where there is much to fill they take part, each
with a range of vertices of its own first and then with what is left of the others'. All call it by its
address: a first run has nothing to fill, and does not wait until it is compiled.

Encoding of ``filling`` (int64): `STEPS`, how many there are, 0 when all is filled; `BYTES` that they write;
`VERTICES`; `ENTRY`, the address of what does it; then `WIDTH` numbers each, as `gpop.program.recipes` says. A
piece (`PIECE` vertices) goes through all steps.

Bytes: each field is written once, in the order of memory; of a field that is another's times a number, that
one is read as well.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.by_address import as_float, read_at, write_at
from gpop.common.cached import source_key
from gpop.common.callback import callback
from gpop.common.inlined import KERNEL, inline
from gpop.cpu import team
from gpop.cpu.control import open_control
from gpop.program.recipes import EVERYWHERE, ONE, WIDTH

FILL = -1
"""In place of a phase of an iteration (work.py)."""

STEPS, BYTES, VERTICES, ENTRY, FIRST = range(5)

MOST_STEPS = 32
SLOTS = FIRST + WIDTH * MOST_STEPS

PIECE = 1 << 14
"""Vertices; where one begins any field is at a whole word."""


def head_of(steps: list[int], vertices: int) -> tuple[int, int, int, int]:
    """What stands before the steps."""
    everywhere = sum(steps[at + 1] for at in range(0, len(steps), WIDTH) if steps[at] != ONE)
    return len(steps) // WIDTH, everywhere * vertices, vertices, entry() if steps else 0


@inline
def _spread(to, begin, end, pattern):
    """Write bytes of an array, which are those of a word again and again."""
    while begin < end and begin & 7:
        write_at(to, begin, np.uint8(pattern >> np.uint64(8 * (begin & 7))))
        begin += 1
    whole = end >> 3
    for word in range(begin >> 3, whole):
        write_at(to, word, pattern)
    for byte in range(max(begin, whole << 3), end):
        write_at(to, byte, np.uint8(pattern >> np.uint64(8 * (byte & 7))))


@inline
def _fill_piece(first, last, filling):
    """All steps, for vertices from ``first`` on and before ``last``."""
    for step in range(filling[STEPS]):
        at = FIRST + WIDTH * step
        what, size, to = filling[at], filling[at + 1], filling[at + 2]
        of, value = filling[at + 3], filling[at + 4]
        if what == EVERYWHERE:
            _spread(to, first * size, last * size, np.uint64(value))
        elif what == ONE:
            if first <= of < last:
                _spread(to, of * size, (of + 1) * size, np.uint64(value))
        else:
            factor = as_float(value)
            if size == 4:
                narrow = np.float32(factor)
                for v in range(first, last):
                    write_at(to, v, narrow * read_at(of, v, narrow))
            else:
                for v in range(first, last):
                    write_at(to, v, factor * read_at(of, v, factor))


@inline
def pieces_of(n):
    """Into how many pieces the vertices are cut."""
    return (n + PIECE - 1) // PIECE


@inline
def _claimed(owner, sharers, next, c):
    """Number of a piece of a share that nobody else gets; who is alone takes the ``next``."""
    return fetch_add(c.claim, team.LINE_SLOTS * owner, 1) if sharers > 1 else next


def fill(w, sharers, control):
    """The part of thread ``w``: pieces of its own share, then of the others'."""
    c = open_control(control)
    n = c.filling[VERTICES]
    for turn in range(sharers):
        owner = (w + turn) % sharers
        begin = c.team[team.SHARES + owner] if owner > 0 else np.int64(0)
        end = c.team[team.SHARES + owner + 1] if owner + 1 < sharers else pieces_of(n)
        piece = begin + _claimed(owner, sharers, 0, c)
        while piece < end:
            _fill_piece(piece * PIECE, min(n, (piece + 1) * PIECE), c.filling)
            piece = begin + _claimed(owner, sharers, piece - begin + 1, c)


@cache
def entry() -> int:
    """Its address."""
    return callback(lambda: fill, f"fill_{source_key(__file__)}", __file__, 3, **KERNEL)

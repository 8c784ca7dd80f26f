"""In which form messages go from one GPU to another: a function of how many there are, known on both sides.

    NOTHING
    ALL     a value for every mirror, where all are active
    BITS    a bit for every mirror, then a value for every mirror, those of inactive ones as they may be
    PAIRS   the number of every active mirror (uint32), then their values

whichever has fewest bytes. The CPU's BITS (gpop/cpu/exchange.py) has values of active ones only. That would
take a prefix sum over all bits on both sides, and save less than half of the values: PAIRS are fewer bytes
where at most half are active.
"""

from __future__ import annotations

from typing import NamedTuple

NOTHING, ALL, BITS, PAIRS = range(4)


class Form(NamedTuple):
    """One of the forms; bytes before the values, and in all; entries that are looked at on arrival."""

    form: int
    index_bytes: int
    nbytes: int
    entries: int


def form_of(count: int, mirrors: int, value_bytes: int) -> Form:
    """The form of ``count`` messages to a rank that has so many mirrors.

    Examples
    --------
    >>> form_of(0, 100, 4), form_of(100, 100, 4)
    (Form(form=0, index_bytes=0, nbytes=0, entries=0), Form(form=1, index_bytes=0, nbytes=400, entries=100))
    >>> form_of(60, 100, 4)
    Form(form=2, index_bytes=16, nbytes=416, entries=100)
    >>> form_of(3, 100, 4)
    Form(form=3, index_bytes=16, nbytes=28, entries=3)
    """
    if count == 0:
        return Form(NOTHING, 0, 0, 0)
    if count == mirrors:
        return Form(ALL, 0, mirrors * value_bytes, mirrors)
    bits, numbers = whole_words(-(-mirrors // 32) * 4), whole_words(4 * count)
    in_bits, in_pairs = bits + mirrors * value_bytes, numbers + count * value_bytes
    return Form(BITS, bits, in_bits, mirrors) if in_bits < in_pairs else Form(PAIRS, numbers, in_pairs, count)


def room_for(mirrors: int, value_bytes: int) -> int:
    """Most bytes of any form."""
    return whole_words(-(-mirrors // 32) * 4) + whole_words(mirrors * value_bytes)


def whole_words(nbytes: int) -> int:
    """Rounded up to where a value of any type may begin."""
    return -(-nbytes // 8) * 8

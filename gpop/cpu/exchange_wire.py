"""What goes from rank to rank, and the buffers and lists that it goes through (gpop/cpu/exchange.py).

A header of 4 int64,

    kind, count, active, least      (active vertices of the sender; its lowest priority that waits)

from which every rank knows when nothing is active anywhere; then whichever is smallest, in multiples of 8:

    NOTHING
    ALL     a value for every mirror, where all are active
    BITS    a bit for every mirror, then a value for each that is active; only in ascending order
    PAIRS   the number of every active mirror (uint32), then their values

Values are left out where the receiver can tell them (`Wire.value_bytes` is 0).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.inlined import inline

NOTHING, ALL, BITS, PAIRS = range(4)
"""Kinds of what goes from rank to rank."""

KIND, COUNT, ACTIVE, LEAST, HEADER = range(5)
"""Words of a header, and how many there are."""

(
    OUT, OUT_ADDRESS, SENDS, SEND_FIRST, IN, IN_ADDRESS, IN_BYTES, MIRRORS, MIRROR_FIRST,
    CHOSEN, LATEST, ORDERED, PAIR_COLUMNS,
) = range(13)  # fmt: skip
"""Columns of `Wire.pairs`, a row for each rank: where its buffer begins (in words, and the address), how many
own vertices it mirrors and where they begin in ``sends``; the same of what comes from it, with the room for
that; and, while a buffer is filled, how many mirrors are chosen, the latest, and whether they ascend."""

(
    ISEND, IRECV, TESTALL, COMM, BYTE, REQUESTS, STATUSES, REQUEST_BYTES, FLAG_ADDRESS, FLAG, CALL_SLOTS,
) = range(11)  # fmt: skip
"""Slots of `Wire.calls`: addresses of functions, handles, addresses of arrays; and an int that MPI sets."""

BYTES, VALUES, WAITED, EXCHANGES = range(4)
"""Slots of `Wire.traffic`: bytes and values sent, nanoseconds in MPI, exchanges."""


class Wire(NamedTuple):
    """What a rank exchanges with the others.

    ``sends[SEND_FIRST of r:][:SENDS of r]`` are the own vertices that rank r mirrors and
    ``mirrors[MIRROR_FIRST of r:][:MIRRORS of r]`` the mirrors of r's vertices; local ids, ascending.
    ``mirror_edges`` says how many edges each mirror has here.
    ``where[where_offsets[v]:where_offsets[v + 1]]`` says who mirrors own vertex number v: the rank times
    2**32, plus the number of v among the mirrors there. Buffers are seen as words, as uint32 and as values.
    """

    rank: np.int64
    value_bytes: np.int64
    pairs: np.ndarray
    calls: np.ndarray
    sends: np.ndarray
    mirrors: np.ndarray
    mirror_edges: np.ndarray
    where_offsets: np.ndarray
    where: np.ndarray
    chosen: np.ndarray
    out_words: np.ndarray
    out_numbers: np.ndarray
    out_values: np.ndarray
    in_words: np.ndarray
    in_numbers: np.ndarray
    in_values: np.ndarray
    traffic: np.ndarray


@inline
def first_value(word, values):
    """Index in ``values`` of what begins at this word of the same buffer."""
    return np.uint64(word) * np.uint64(8) // np.uint64(values.itemsize)

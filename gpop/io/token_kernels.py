"""Compiled loops for text made of adjacency lists: METIS rows, and the bare numbers of Ligra files.

Like `gpop.io.text_kernels`: the bytes end with a newline, which stops every inner loop.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.io.text_kernels import NO_NUMBER, parse_id, parse_weight, skip_blanks, write_integer

_NEWLINE, _SPACE, _PERCENT, _MINUS = 10, 32, 37, 45


@cached(**KERNEL)
def parse_integers(data, numbers):
    """All integers of the text, parted by white space: (how many, position of what is none or -1)."""
    count = 0
    i = 0
    while i < len(data):
        i = skip_blanks(data, i)
        if data[i] == _NEWLINE:
            i += 1
            continue
        start = i
        negative = data[i] == _MINUS
        value, i = parse_id(data, i + negative)
        if value < 0 or (data[i] != _NEWLINE and skip_blanks(data, i) == i):
            return count, start
        numbers[count] = -value if negative else value
        count += 1
    return count, -1


@cached(**KERNEL)
def parse_rows(data, skipped, weighted, highest, powers, neighbours, integers, floats, degrees):
    """Parse METIS rows ``[skipped numbers] (neighbour [weight])...``; ``%`` starts a comment line.

    Returns (rows, edges, kinds of the weights, start of the first malformed row or -1).
    """
    rows = 0
    edges = 0
    kinds = 0
    i = 0
    while i < len(data):
        line = i
        if data[i] == _PERCENT:
            while data[i] != _NEWLINE:
                i += 1
            i += 1
            continue
        first = edges
        field = 0
        i = skip_blanks(data, i)
        while data[i] != _NEWLINE:
            v, i = parse_id(data, i)
            if v < 0:
                return rows, edges, kinds, line
            after = i
            i = skip_blanks(data, i)
            if i == after and data[i] != _NEWLINE:
                return rows, edges, kinds, line
            field += 1
            if field <= skipped:
                continue
            if v < 1 or v > highest:
                return rows, edges, kinds, line
            if weighted:
                kind, integer, value, i = parse_weight(data, i, powers)
                after = i
                i = skip_blanks(data, i)
                if kind == NO_NUMBER or (i == after and data[i] != _NEWLINE):
                    return rows, edges, kinds, line
                kinds |= kind
                integers[edges] = integer
                floats[edges] = value
            neighbours[edges] = v - 1
            edges += 1
        if 0 < field < skipped:
            return rows, edges, kinds, line
        degrees[rows] = edges - first
        rows += 1
        i += 1
    return rows, edges, kinds, -1


@cached(**KERNEL)
def write_numbers(numbers, text):
    """Write one integer a line into ``text`` (21 bytes each suffice), return the bytes written."""
    at = 0
    for i in range(len(numbers)):
        at = write_integer(numbers[i], text, at)
        text[at] = _NEWLINE
        at += 1
    return at


@cached(**KERNEL)
def write_rows(indptr, indices, weights, first, last, text):
    """Write METIS rows of vertices first..last-1 (a byte each, 42 an edge), return the bytes written."""
    at = 0
    for v in range(first, last):
        for e in range(indptr[v], indptr[v + 1]):
            at = write_integer(np.int64(indices[e]) + 1, text, at)
            if weights is not None:
                text[at] = _SPACE
                at = write_integer(weights[e], text, at + 1)
            text[at] = _SPACE  # after the last one too: some readers lose it otherwise
            at += 1
        text[at] = _NEWLINE
        at += 1
    return at

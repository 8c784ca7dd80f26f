"""Compiled loops over the bytes of a text edge list: parse lines, write lines.

A line is ``[letter] source destination [weight]``. Fields are parted by spaces and tabs, or by one
separator (a comma, say) with blanks around it; two bytes start comment lines; blank lines are skipped.
The bytes must end with a newline, which stops every inner loop, so that none needs to look for the end.

Weights are parsed twice over, as integer and as float64. A decimal of at most 15 digits and a
power of ten of at most 22 is exact with one multiplication or division (Clinger, PLDI 1990); any
other float, and an integer of more than 18 digits, is left as NaN with its position as the integer, for the
caller to convert.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL, inline

_NEWLINE, _SPACE, _TAB, _RETURN = 10, 32, 9, 13
_PLUS, _MINUS, _DOT, _ZERO = 43, 45, 46, 48
_EXPONENT = 101  # 'e'; with bit 0x20 set 'E' is the same

POWERS = np.array([10.0**i for i in range(23)])

NO_NUMBER, SHORT, FLOAT, LONG = 0, 1, 2, 4
"""Kinds of weights, as bits: integers of at most 18 digits, floats, and longer integers."""


@inline
def skip_blanks(data, i):
    """Position of the next byte that is no blank."""
    while data[i] == _SPACE or data[i] == _TAB or data[i] == _RETURN:
        i += 1
    return i


@inline
def _skip_within(data, i, tab):
    """Position of the next byte that is no blank; a tab is one unless ``tab`` says that it parts fields."""
    while data[i] == _SPACE or data[i] == tab or data[i] == _RETURN:
        i += 1
    return i


@inline
def _next_field(data, i, separator, tab):
    """Position of the next field, or ``i`` itself when nothing parts it from this one."""
    after = _skip_within(data, i, tab)
    if separator == 0:
        return after
    return _skip_within(data, after + 1, tab) if data[after] == separator else i


@inline
def parse_id(data, i):
    """(value, position after it); the value is -1 when there is no id below 2^63."""
    start = i
    value = np.uint64(0)
    while True:
        digit = np.uint64(data[i]) - np.uint64(_ZERO)  # wraps round to a huge number below '0'
        if digit > np.uint64(9):
            break
        value = value * np.uint64(10) + digit
        i += 1
    length = i - start
    if length == 0 or length > 19 or value >= np.uint64(1) << np.uint64(63):
        return np.int64(-1), i
    return np.int64(value), i


@cached(**KERNEL)
def parse_weight(data, i, powers):
    """(kind, integer, float, position after it)."""
    start = i
    negative = data[i] == _MINUS
    if negative or data[i] == _PLUS:
        i += 1
    mantissa = np.int64(0)
    digits = 0  # significant ones
    any_digit = False
    exponent = 0
    is_integer = True
    while True:
        if data[i] == _DOT and is_integer:
            is_integer = False
            i += 1
            continue
        digit = np.int64(data[i]) - _ZERO
        if digit < 0 or digit > 9:
            break
        any_digit = True
        if digits > 0 or digit > 0:
            digits += 1
        if digits <= 18:
            mantissa = mantissa * 10 + digit
            if not is_integer:
                exponent -= 1
        i += 1
    if not any_digit:
        return NO_NUMBER, np.int64(0), 0.0, i
    if data[i] | 32 == _EXPONENT:
        is_integer = False
        i += 1
        down = data[i] == _MINUS
        if down or data[i] == _PLUS:
            i += 1
        first = i
        power = 0
        while data[i] >= _ZERO and data[i] <= _ZERO + 9:
            power = min(power * 10 + np.int64(data[i]) - _ZERO, 100000)
            i += 1
        if i == first:
            return NO_NUMBER, np.int64(0), 0.0, i
        exponent += -power if down else power
    if negative:
        mantissa = -mantissa
    if is_integer and digits <= 18:
        return SHORT, mantissa, float(mantissa), i
    if is_integer:
        return LONG, np.int64(start), np.nan, i
    if digits <= 15 and -22 <= exponent <= 22:
        value = float(mantissa)
        value = value / powers[-exponent] if exponent < 0 else value * powers[exponent]
        if negative and mantissa == 0:
            value = -0.0
        return FLOAT, np.int64(0), value, i
    return FLOAT, np.int64(start), np.nan, i


@cached(**KERNEL)
def parse_lines(
    data,
    columns,
    lead,
    comments,
    separator,
    lowest,
    highest,
    further,
    powers,
    source,
    destination,
    integers,
    floats,
):
    """Parse all lines; the weight arrays are filled when ``columns`` is 3.

    ``lead`` begins every edge line when it is not 0, a ``separator`` of 0 means blanks, ids are in
    lowest..highest, ``further`` ignores what follows the columns. Returns (edges, largest id, kinds of
    the weights, start of the first malformed line or -1).
    """
    edges = 0
    largest = np.int64(-1)
    kinds = 0
    tab = _SPACE if separator == _TAB else _TAB
    i = 0
    while i < len(data):
        line = i
        i = skip_blanks(data, i)
        if data[i] == _NEWLINE:
            i += 1
            continue
        if data[i] == comments[0] or data[i] == comments[1]:
            while data[i] != _NEWLINE:
                i += 1
            i += 1
            continue
        if lead != 0:
            if data[i] != lead or skip_blanks(data, i + 1) == i + 1:
                return edges, largest, kinds, line
            i = skip_blanks(data, i + 1)
        elif separator == _TAB:
            i = _skip_within(data, line, tab)  # a tab in front: an empty field
        u, i = parse_id(data, i)
        after = i
        i = _next_field(data, i, separator, tab)
        if u < lowest or u > highest or i == after:
            return edges, largest, kinds, line
        v, i = parse_id(data, i)
        if v < lowest or v > highest:
            return edges, largest, kinds, line
        if columns == 3:
            after = i
            i = _next_field(data, i, separator, tab)
            if i == after:
                return edges, largest, kinds, line
            kind, integer, value, i = parse_weight(data, i, powers)
            if kind == NO_NUMBER:
                return edges, largest, kinds, line
            kinds |= kind
            integers[edges] = integer
            floats[edges] = value
        after = i
        i = _skip_within(data, i, tab)
        if data[i] != _NEWLINE:
            if not further or i == after:
                return edges, largest, kinds, line
            while data[i] != _NEWLINE:
                i += 1
        i += 1
        source[edges] = u
        destination[edges] = v
        largest = max(largest, u, v)
        edges += 1
    return edges, largest, kinds, -1


@inline
def write_integer(value, text, at):
    """Write ``value`` and return the position after it."""
    rest = np.uint64(value)
    if value < 0:
        text[at] = _MINUS
        at += 1
        rest = np.uint64(0) - rest
    end = at + 1
    power = rest // np.uint64(10)
    while power > 0:
        end += 1
        power //= np.uint64(10)
    for i in range(end - 1, at - 1, -1):
        text[i] = _ZERO + rest % np.uint64(10)
        rest //= np.uint64(10)
    return end


@cached(**KERNEL)
def write_lines(source, destination, weights, separator, lead, text):
    """Write integer edges as lines into ``text`` (65 bytes each suffice), return the bytes written."""
    at = 0
    for i in range(len(source)):
        if lead != 0:
            text[at] = lead
            text[at + 1] = _SPACE
            at += 2
        at = write_integer(source[i], text, at)
        text[at] = separator
        at = write_integer(destination[i], text, at + 1)
        if weights is not None:
            text[at] = separator
            at = write_integer(weights[i], text, at + 1)
        text[at] = _NEWLINE
        at += 1
    return at

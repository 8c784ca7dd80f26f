"""One line of text -> its fields: blanks or a separator part them, quotes are CSV's, numbers are plain.

A separator is one byte; 0 stands for blanks: any run of spaces and tabs. Blanks around a field do not
count, and neither do they in quotes. ``"New York, NY"`` is one field and ``""`` in quotes is a quote
(RFC 4180); a field never goes on in the next line. Numbers are what `gpop.io.text_kernels` takes:
ASCII digits with a point and an exponent, no underscores, no names like inf.
"""

from __future__ import annotations

import csv
import math
import re

from gpop.graph.edge_pieces import integers_type

BLANKS = 0
BLANK_BYTES = b" \t\r"
_BLANK = BLANK_BYTES.decode()
_WORD = re.compile(r"[^ \t\r]+")
_QUOTED = re.compile(r'[ \t\r]*(?:"((?:[^"]|"")*)"|([^" \t\r][^ \t\r]*))(?=[ \t\r]|$)')
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
INTEGER = r"[-+]?0*[0-9]{1,18}"
LONG_INTEGER = r"[-+]?0*[0-9]{1,20}"
_NUMBER = re.compile(NUMBER)
_LONG_INTEGER = re.compile(LONG_INTEGER)
_WRITTEN = re.compile("0|-?[1-9][0-9]{0,19}")


def part(text: str, separator: int) -> list[str] | None:
    """The fields of one line; None when a quote is not closed, or something follows it.

    >>> part('"New York, NY" , Boston', ord(",")) is None, part('"New York, NY", Boston', ord(","))
    (True, ['New York, NY', 'Boston'])
    >>> part('anna  "bo cy"', BLANKS)
    ['anna', 'bo cy']
    """
    if '"' not in text:
        if separator == BLANKS:
            return _WORD.findall(text)
        return [field.strip(_BLANK) for field in text.split(chr(separator))]
    if separator == BLANKS:
        return _part_at_blanks(text.rstrip(_BLANK))
    try:
        reader = csv.reader([text], delimiter=chr(separator), skipinitialspace=True, strict=True)
        return [field.strip(_BLANK) for field in next(reader)]
    except (csv.Error, StopIteration):
        return None


def _part_at_blanks(text: str) -> list[str] | None:
    fields, at = [], 0
    while at < len(text):
        match = _QUOTED.match(text, at)
        if match is None:
            return None
        fields.append(match[2] if match[1] is None else match[1].replace('""', '"').strip(_BLANK))
        at = match.end()
    return fields


def is_number(text: str) -> bool:
    """Whether a field is a number.

    >>> is_number("-.5e3"), is_number("1_000"), is_number("inf"), is_number("1,5")
    (True, False, False, False)
    """
    return _NUMBER.fullmatch(text) is not None


def is_integer(text: str) -> bool:
    """Whether a name is an id that an integer array holds.

    >>> is_integer("007"), is_integer("7b"), is_integer(str(2**63))
    (True, False, False)
    """
    return text.isascii() and text.isdigit() and len(text) < 20 and int(text) < 2**63


def written_integers(names: list[str]) -> list[int] | None:
    """The numbers, where all names are integers of 64 bits as one writes them, which 007 is not.

    >>> written_integers(["12", "-7"]), written_integers(["12", "007"])
    ([12, -7], None)
    """
    if not all(map(_WRITTEN.fullmatch, names)):
        return None
    numbers = list(map(int, names))
    return numbers if not names or integers_type(min(numbers), max(numbers)) else None


def weight(text: str) -> int | float | None:
    """The number; None when it is none or too large. Integers of more than 64 bits become floats.

    >>> weight("-07"), weight("7.0"), weight(str(2**63)), weight(str(2**64)), weight("seven")
    (-7, 7.0, 9223372036854775808, 1.8446744073709552e+19, None)
    """
    if _LONG_INTEGER.fullmatch(text) and integers_type(int(text), int(text)):
        return int(text)
    value = float(text) if is_number(text) else math.inf
    return value if math.isfinite(value) else None

"""What the lines of an edge list look like: separator, header and columns, from its first two lines.

Suffix and first line say which separators may part the fields: a tab for ``.tsv``; comma, semicolon, tab
or bar for ``.csv`` (blanks only where they part integers); all of these and blanks for others. What part
the lines into something that is no edge list falls away. When what is left would read the two lines
differently, the file is refused rather than guessed: ``delimiter=`` says what parts it.

The first line is a header when it has the usual names of a source and a target column (`SOURCE`,
`TARGET`), an empty first name (the index that pandas writes), or words above numbers. A header picks
the columns; without one, two or three columns are source, target and weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from gpop.common.errors import UsageError
from gpop.interop.edge_columns import SOURCE, TARGET, WEIGHT, end_places, weight_places
from gpop.io.fields import BLANKS, is_number, part
from gpop.io.text import line_error

_EXPECTED = "expected: source destination [weight]"
_WORDS = re.compile(r"[\s,;|]+")
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+")
_SPOKEN = {BLANKS: "blanks", ord("\t"): "tab"}


class Layout(NamedTuple):
    """How every line is read."""

    separator: int
    header: bytes | None
    count: int
    """Fields in every line."""
    places: tuple[int, ...]
    """Where source, target and (when there is one) weight are."""


class Options(NamedTuple):
    """What the caller says about the file; None: to be found out."""

    delimiter: int | None = None
    columns: tuple[int | str, ...] | None = None
    header: bool | None = None


class _Reading(NamedTuple):
    """What a separator makes of the first two lines."""

    layout: Layout | None
    fault: str = ""
    """Why the first line cannot be read so."""
    doubt: bool = False
    """Whether the second line cannot."""
    fields: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def options_of(
    delimiter: str | None = None, columns: Sequence[int | str] | None = None, header: bool | None = None
) -> Options:
    """Arguments of `gpop.load`, checked."""
    if columns is not None:
        known = isinstance(columns, list | tuple) and len(columns) in (2, 3)
        kinds = {type(column) for column in columns} if known else set()
        if kinds not in ({int}, {str}) or len(set(columns)) < len(columns):
            raise UsageError(
                f"columns={columns!r}: expected the names or the places (from 0) of source, target "
                "and, if wanted, weight"
            )
        columns = tuple(columns)
        if header is False and kinds == {str}:
            raise UsageError(f"columns={columns!r}: names need a header, expected places (from 0)")
    return Options(None if delimiter is None else _byte(delimiter), columns, header)


def _byte(delimiter: str) -> int:
    if delimiter == " ":
        return BLANKS
    usable = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if not usable or delimiter.isalnum() or delimiter in "\"'.+-_#%\0\r\n":
        raise UsageError(
            f"delimiter={delimiter!r}: expected one character such as ',' ';' '|' or a tab, or ' ' for blanks"
        )
    return ord(delimiter)


def layout_of(path: Path, first: bytes, second: bytes, line: int, options: Options) -> Layout:
    """The layout of a file with these first two lines (``second`` may be empty); ``line`` is the first's."""
    lines = [text.decode("utf-8", "replace") for text in (first, second)]
    if "\r" in lines[0]:
        raise line_error(path, first, line, "a carriage return, expected lines that end in a newline")
    kinds = [options.delimiter] if options.delimiter is not None else _kinds(path, lines[0])
    readings = {kind: _reading(kind, first, lines, options) for kind in kinds}
    possible = {kind: reading for kind, reading in readings.items() if not reading.fault}
    likely = {kind: reading for kind, reading in possible.items() if not reading.doubt} or possible
    if options.delimiter is None and kinds == [BLANKS] and _family(path):
        if not likely or not _only_numbers(likely[BLANKS]):
            usual = _spoken(map(ord, _family(path)))
            raise line_error(path, first, line, f"parted by no {usual}, expected one here, or delimiter=")
    if not likely:
        longest = max(readings.values(), key=lambda reading: len(reading.fields[0]))
        raise line_error(path, first, line, longest.fault)
    if len({reading.fields for reading in likely.values()}) > 1:
        raise line_error(path, first, line, f"is it parted by {_spoken(likely)}? expected delimiter=")
    return next(iter(likely.values())).layout


def _family(path: Path) -> str:
    """The separators of a kind of file, "" when blanks part its fields as well."""
    endings = [suffix.lower() for suffix in path.suffixes[-2:]]
    return "\t" if ".tsv" in endings else ",;\t|" if ".csv" in endings else ""


def _spoken(kinds: Iterable[int]) -> str:
    return " or ".join(_SPOKEN.get(kind, repr(chr(kind))) for kind in kinds)


def _kinds(path: Path, text: str) -> list[int]:
    """The separators that may part this line."""
    bare = _QUOTED.sub('""', text)
    found = [kind for kind in (_family(path) or "\t,;|") if kind in bare.strip(" \r")]
    kinds = [ord(kind) for kind in found]
    if not _family(path) or not found:
        kinds.insert(0, BLANKS)
    others = "".join(found).replace("\t", "")
    if BLANKS in kinds and all(map(is_number, part(bare, BLANKS) or [""])):
        return [BLANKS]  # tabs and spaces among numbers: no name has them
    return [kind for kind in kinds if _clean(bare, kind, others)] or kinds


def _clean(bare: str, kind: int, others: str) -> bool:
    """Whether no field begins or ends with another separator."""
    fields = part(bare.replace('""', "q"), kind) or []
    return not any(field and (field[0] in others or field[-1] in others) for field in fields)


def _only_numbers(reading: _Reading) -> bool:
    """Whether blanks part lines of numbers, or a header of nothing but usual names."""
    names, below = reading.fields
    if reading.layout.header is None:
        return all(map(is_number, names))
    return all(map(is_number, below)) if below else _only_column_names(names)


def _reading(kind: int, first: bytes, lines: list[str], options: Options) -> _Reading:
    names = part(lines[0], kind)
    below = part(lines[1], kind) if lines[1] else None
    if names is None:
        return _Reading(None, "its quotes are not those of CSV")
    fields = (tuple(names), tuple(below or ()))
    named = options.columns is not None and isinstance(options.columns[0], str)
    header = options.header
    if header is None:
        header = named or _is_header(names, below)
    if header is None:
        return _Reading(None, "column names or an edge? expected header=True or header=False", False, fields)
    if options.columns is not None:
        places = _given_places(names, options.columns)
    elif header:
        places = _header_places(names, below)
    elif len(names) in (2, 3):
        places = tuple(range(len(names)))
    else:
        places = _EXPECTED + (" (columns= picks others)" if len(names) > 3 else "")
    if isinstance(places, str):
        return _Reading(None, places, False, fields)
    fault = "" if header else _edge_fault(names, places, kind)
    doubt = bool(lines[1]) and (
        below is None or len(below) != len(names) or bool(_edge_fault(below, places, kind))
    )
    layout = Layout(kind, first if header else None, len(names), places)
    return _Reading(layout, fault, doubt, fields)


def _edge_fault(fields: list[str], places: tuple[int, ...], kind: int) -> str:
    """Why these fields are no edge; a decimal comma may be meant as a number."""
    if not fields[places[0]] or not fields[places[1]]:
        return f"an empty name, {_EXPECTED}"
    if len(places) == 3:
        text = fields[places[2]]
        comma = kind != ord(",") and _DECIMAL_COMMA.fullmatch(text)
        if not is_number(text) and not comma:
            return f"its weight is no number, {_EXPECTED}"
    return ""


def _is_header(names: list[str], below: list[str] | None) -> bool | None:
    """Whether the fields of the first line are column names; None when they may as well be an edge."""
    if len(names) < 2 or any(map(is_number, names)):
        return False
    if not names[0] and all(names[1:]):
        return True
    alike = below is not None and len(below) == len(names)
    above_numbers = alike and (
        all(map(is_number, below[:2])) or (len(below) > 2 and any(map(is_number, below[2:])))
    )
    if None not in end_places(names):
        letters = len(names) == 2 and {name.lower() for name in names} == {"u", "v"}
        return None if letters and alike and not above_numbers else True
    return above_numbers or _only_column_names(names)


def _only_column_names(names: Sequence[str]) -> bool:
    """Whether every word is a usual name of a column, a source and a target among them."""
    words = {word for name in names for word in _WORDS.split(name.lower()) if word}
    known = words <= {*SOURCE, *TARGET, *WEIGHT}
    return known and bool(words & set(SOURCE)) and bool(words & set(TARGET))


def _given_places(names: list[str], columns: tuple[int | str, ...]) -> tuple[int, ...] | str:
    """The places of the columns asked for, or what is wrong with them."""
    places = []
    for column in columns:
        if isinstance(column, str):
            if names.count(column) != 1:
                often = "several columns" if column in names else "no column"
                return f"{often} {column!r}, expected one of {', '.join(names)}"
            column = names.index(column)
        if not 0 <= column < len(names):
            return f"no column {column}, expected places 0..{len(names) - 1}"
        places.append(column)
    return tuple(places)


def _header_places(names: list[str], below: list[str] | None) -> tuple[int, ...] | str:
    """The places that a header gives its columns, or why it does not say."""
    ends = end_places(names)
    kept = [i for i, name in enumerate(names) if name]  # without the index that pandas writes
    weights = weight_places(names, ends)
    if None in ends:
        if _only_column_names(names):
            return "column names that nothing parts, expected delimiter="
        rest = [i for i in kept if i not in ends and i not in weights]
        if len(rest) == (ends.count(None)):
            ends = tuple(rest.pop(0) if end is None else end for end in ends)
        elif ends == (None, None) and not weights and len(kept) in (2, 3):
            ends = (kept[0], kept[1])
        else:
            return "which columns are source and target? expected columns="
    if len(weights) > 1:
        return f"is {' or '.join(repr(names[i]) for i in weights)} the weight? expected columns="
    third = kept[2] if len(kept) == 3 and sorted(ends) == kept[:2] else None
    if (
        not weights and third is not None
    ):  # a third column is the weight, whatever its name, unless it is text
        fits = below is None or len(below) != len(names) or is_number(below[third])
        weights = [third] if fits else []
    return (*ends, *weights)


def reads_as_integers(layout: Layout, text: bytes) -> bool:
    """Whether the compiled reader takes lines like this first edge: numbers, the ends in front."""
    fields = part(text.decode("utf-8", "replace"), layout.separator)
    if fields is None or b'"' in text or layout.count > 3 or len(fields) != layout.count:
        return False
    if layout.places[:2] != (0, 1) or not all(map(is_number, fields[:2])):
        return False
    return layout.count == 2 or len(layout.places) == 3 or is_number(fields[2])

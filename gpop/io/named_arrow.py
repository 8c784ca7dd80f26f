"""pyarrow parts the lines of large plain blocks of named edges, and encodes their names: all cores at once.

Only where that is certain to be what `gpop.io.fields` makes of the same lines; for any other block, and
any that pyarrow objects to, `columns_of` gives None and the lines are taken one by one, which finds the
line to complain about. Not plain: quotes inside a field, runs of blanks that part fields, lone carriage
returns, NUL bytes, the header once more.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from gpop.common.parallel import worker_count
from gpop.io.fields import BLANKS, INTEGER, LONG_INTEGER, NUMBER
from gpop.io.sniff import Layout

_WORTH = 1 << 20  # bytes of a block below which importing pyarrow takes longer than it saves
_BLANK = " \t\r"
_COMMENT = re.compile(rb"^[ \t]*[#%].*\n", re.MULTILINE)


class Columns(NamedTuple):
    """The edges of a block: places in ``names``, which are in the order of their first appearance."""

    source: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None
    names: list[str]


def columns_of(block: bytes, layout: Layout) -> Columns | None:
    """The columns of a block of whole lines; None when its lines must be taken one by one."""
    if len(block) < _WORTH:
        return None
    try:
        import pyarrow as pa
        import pyarrow.csv as csv
    except ImportError:
        return None
    if b"#" in block or b"%" in block:
        block = _COMMENT.sub(b"", block)
    delimiter = _delimiter(block, layout)
    if delimiter is None or not block:
        return None
    try:
        table = _table(csv, pa, block, layout, delimiter)
        weights = _weights(pa, table.column(2)) if len(layout.places) == 3 else None
    except pa.ArrowInvalid:  # malformed, or not as plain as it looked
        return None
    if len(layout.places) == 3 and weights is None:
        return None
    return _numbered(table, weights)


def _delimiter(block: bytes, layout: Layout) -> str | None:
    """The one byte that parts all fields of a plain block, None when it is not plain."""
    if b"\0" in block or block.startswith(b"\xef\xbb\xbf") or (layout.header and layout.header in block):
        return None
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return None
    separator = layout.separator
    if separator == BLANKS:
        tabs, spaces = b"\t" in block, b" " in block
        separator = ord("\t") if tabs else ord(" ")
        twice = bytes([separator, separator])
        if (tabs and spaces) or twice in block or b'"' in block:
            return None
    if b'"' in block and not _quoted_fields(block, separator):
        return None
    return chr(separator)


def _quoted_fields(block: bytes, separator: int) -> bool:
    """Whether quotes open and close whole fields, in one line and with no quotes inside."""
    data = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(data == ord('"'))
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before = data[np.maximum(opening - 1, 0)]
    after = data[closing + 1]  # there is one: the block ends with a newline
    lines = np.flatnonzero(data == ord("\n"))
    return bool(
        np.all((opening == 0) | (before == separator) | (before == ord("\n")))
        and np.all((after == separator) | (after == ord("\n")) | (after == ord("\r")))
        and np.array_equal(np.searchsorted(lines, opening), np.searchsorted(lines, closing))
    )


def _table(csv: Any, pa: Any, block: bytes, layout: Layout, delimiter: str) -> Any:
    """Source and target dictionary-encoded, and the weight as text."""
    names = [str(i) for i in range(layout.count)]
    wanted = [names[place] for place in layout.places]
    coded = pa.dictionary(pa.int32(), pa.string())
    table = csv.read_csv(
        pa.py_buffer(block),
        csv.ReadOptions(column_names=names, use_threads=worker_count() > 1),
        csv.ParseOptions(delimiter=delimiter, quote_char='"' if b'"' in block else False),
        csv.ConvertOptions(
            include_columns=wanted,
            column_types={**dict.fromkeys(wanted, pa.string()), **dict.fromkeys(wanted[:2], coded)},
            null_values=[],
            strings_can_be_null=False,
        ),
    )
    return table.unify_dictionaries()


def _weights(pa: Any, column: Any) -> np.ndarray | None:
    """int64 when all are integers, else float64; None when one is no number that fits, or they are longer."""
    import pyarrow.compute as pc

    text = pc.ascii_trim(column, _BLANK)
    for grammar, kind in ((INTEGER, pa.int64()), (LONG_INTEGER, None), (NUMBER, pa.float64())):
        if pc.all(pc.match_substring_regex(text, f"^(?:{grammar})$")).as_py():
            if kind is None:
                return None
            numbers = text.cast(kind).to_numpy()
            return numbers if np.isfinite(numbers).all() else None
    return None


def _numbered(table: Any, weights: np.ndarray | None) -> Columns | None:
    """The names of both columns numbered together: row by row, source before target."""
    codes, texts, firsts = [], [], []
    for end in (0, 1):
        column = table.column(end)
        values = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
        places = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
        first = np.zeros(len(values), np.int64)
        first[places[::-1]] = np.arange(len(places) - 1, -1, -1)  # of equal places the last one stays
        codes.append(places)
        texts += [value.strip(_BLANK) for value in values]
        firsts.append(2 * first + end)
    if not all(texts):
        return None
    number: dict[str, int] = {}
    numbers = np.empty(len(texts), np.int64)
    for i in np.argsort(np.concatenate(firsts)).tolist():
        numbers[i] = number.setdefault(texts[i], len(number))
    target_from = len(firsts[0])
    return Columns(numbers[codes[0]], numbers[target_from:][codes[1]], weights, list(number))

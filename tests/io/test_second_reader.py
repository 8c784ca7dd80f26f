"""Edge lists by a reader of another kind: Python's csv module and str.split, told what parts the lines.

What `gpop.load` finds out alone must be what that reader makes of the file in one of the ways that its suffix
allows, never with column names as an edge; where two ways make different graphs, it must be refused.
"""

from __future__ import annotations

import csv
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop.io
from gpop.common.errors import GraphFileError
from tests.io.test_sniff import LONG, NAMES, edges


def lines_of(text: str) -> list[str]:
    """The lines that are neither blank nor comments."""
    return [line for line in text.split("\n") if line.strip(" \t\r") and line.lstrip(" \t\r")[0] not in "#%"]


def rows_of(text: str, separator: str) -> list[list[str]] | None:
    """The fields of all lines that count; None when csv refuses one, or blanks part a line with quotes."""
    if "\r" in "".join(lines_of(text)[:1]).strip(" \t\r"):
        return None
    if separator == " ":
        rows = [line.replace("\t", " ").replace("\r", " ").split() for line in lines_of(text)]
        return None if '"' in text else rows
    options = {"delimiter": separator, "skipinitialspace": True, "strict": True}
    try:
        rows = [next(csv.reader([line.strip(" \r")], **options)) for line in lines_of(text)]
    except (csv.Error, StopIteration):
        return None
    return [[field.strip(" \t\r") for field in row] for row in rows]


def number(text: str) -> float | None:
    if text[:1].isalpha() or not text.isascii() or "_" in text or text.strip() != text:
        return None
    try:
        return float(text) if abs(float(text)) < float("inf") else None
    except ValueError:
        return None


def named_places(rows: list[list[str]]) -> list[int] | None:
    """The columns of source, target and perhaps weight under a header; None when it does not say."""
    names = [name.lower() for name in rows[0]]
    ends = [
        next((names.index(n) for n in two if n in names), None)
        for two in (("source", "from"), ("target", "to"))
    ]
    weight = names.index("weight") if "weight" in names else None
    if names.count("weight") > 1:
        return None
    others = [i for i, name in enumerate(names) if name and i not in ends and i != weight]
    kept = [i for i, name in enumerate(names) if name]
    if None in ends and len(others) == ends.count(None):
        ends = [others.pop(0) if end is None else end for end in ends]
    if None in ends:
        if ends != [None, None] or len(kept) not in (2, 3) or weight is not None:
            return None
        ends = kept[:2]
    if weight is None and len(kept) == 3 and sorted(ends) == kept[:2]:
        text = len(rows) > 1 and number((rows[1] + [""] * 9)[kept[2]]) is None
        weight = kept[2] if not text else None
    return [*ends] if weight is None else [*ends, weight]


def reading(rows: list[list[str]] | None, header: bool) -> list | None:
    """The edges, sorted; None when the rows are no edge list."""
    if not rows or len({len(row) for row in rows}) > 1 or (not header and len(rows[0]) not in (2, 3)):
        return None
    places = named_places(rows) if header else [0, 1, 2][: len(rows[0])]
    if places is None:
        return None
    found = []
    for row in rows[header:]:
        ends = [row[place] for place in places[:2]]
        weight = number(row[places[2]]) if len(places) == 3 else None
        if not all(ends) or (len(places) == 3 and weight is None) or "\r" in "".join(row):
            return None
        found.append((*ends, weight))
    ids = [end for edge in found for end in edge[:2]]
    if all(end.isascii() and end.isdigit() and int(end) < 2**63 for end in ids):
        found = [(str(int(u)), str(int(v)), w) for u, v, w in found]
    return sorted(found)


def only_column_names(line: str) -> bool:
    """Whether a line has the names of a source's and a target's column, and no other words."""
    for mark in ",;|\t\r":
        line = line.replace(mark, " ")
    words = {word.lower() for word in line.split()}
    return words <= NAMES and bool(words & {"source", "from"}) and bool(words & {"target", "to"})


def integers_at_first(rows: list[list[str]] | None, header: bool) -> bool:
    """Whether the first edge has numbers as ids: then a name further down is refused, and a quote too."""
    first = (rows or [])[header : header + 1]
    return bool(first) and all(number(end) is not None for end in first[0])


def check_told(path, text: str, separator: str, header: bool) -> None:
    """With separator and header given the graph is the second reader's, or both refuse."""
    rows = rows_of(text, separator)
    expected = reading(rows, header) if lines_of(text) else []
    try:
        found = edges(gpop.io.load(path, delimiter=separator, header=header))
    except GraphFileError as error:
        assert "\n" not in str(error)
        twice = header and rows and rows[0] in rows[1:]  # column names once more are refused
        assert expected is None or twice or integers_at_first(rows, header), f"{expected} refused: {error}"
    else:
        assert found == expected or (separator == " " and '"' in text)


def check_alone(path, text: str) -> None:
    """With nothing given the graph is one that the second reader finds, and no other is as good."""
    try:
        found = edges(gpop.io.load(path))
    except GraphFileError as error:
        assert "\n" not in str(error)
        return
    lines = lines_of(text)
    if not lines:
        assert found == []
        return
    kinds = {".tsv": "\t ", ".csv": ",;\t| "}.get(path.suffix, ",;\t| ")
    under_header = [reading(rows_of(text, kind), True) for kind in kinds]
    as_edges = {kind: reading(rows_of(text, kind), False) for kind in kinds}
    if only_column_names(lines[0]):
        as_edges = {}
    assert found in under_header or found in as_edges.values() or '"' in text
    if path.suffix == ".csv" and found not in under_header:
        good = {str(as_edges[kind]) for kind in ",;\t|" if kind in lines[0] and as_edges.get(kind)}
        assert len(good) < 2 or '"' in text, f"{found}, but as well {good}"


def check(path, text: str, separator: str, header: bool) -> None:
    path.write_bytes(text.encode())
    check_told(path, text, separator, header)
    check_alone(path, text)


FIELD = st.sampled_from(
    ["a", "b", "anna", "New York", "NY", "0", "1", "5", "-922", "0.5", "1,5", "x;y", '"q, r"', '"', "", "#"]
    + ["Source", "1e3", "_", "x|y", "\t", "é", "007", "\r", *sorted(NAMES)]
)


SEPARATOR = st.sampled_from([",", ";", "\t", "|", " ", ", ", "  ", " ,"])


@st.composite
def texts(draw) -> tuple[str, str, bool]:
    """(text, what may part it, whether it may have a header); mostly tables, with some noise."""
    separator = draw(SEPARATOR)
    count = draw(st.integers(1, 4))
    lines = []
    if draw(st.booleans()):
        lines.append(separator.join(draw(st.permutations(["source", "target", "weight", "id"]))[:count]))
    for _ in range(draw(st.integers(0, 4))):
        length = count if draw(st.integers(0, 9)) else draw(st.integers(0, 4))
        other = separator if draw(st.integers(0, 9)) else draw(SEPARATOR)
        lines.append(other.join(draw(st.lists(FIELD, min_size=length, max_size=length))))
    ending = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = ending.join(lines) + draw(st.sampled_from(["", ending]))
    return text, separator.strip(" ") or " ", draw(st.booleans())


SUFFIX = st.sampled_from([".csv", ".tsv", ".txt", ".el"])


@settings(deadline=None, max_examples=600)
@given(texts(), SUFFIX)
def test_second_reader(tmp_path_factory, drawn, suffix):
    check(tmp_path_factory.getbasetemp() / f"second{suffix}", *drawn)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(deadline=None, max_examples=LONG, derandomize=False)
@given(texts(), SUFFIX)
def test_second_reader_at_length(tmp_path_factory, drawn, suffix):
    check(tmp_path_factory.getbasetemp() / f"second{suffix}", *drawn)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_what_csv_writes_is_read(tmp_path, separator):
    """Tables of awkward names, written by Python's csv module under a header that settles everything."""
    rng = random.Random(5)
    alphabet = "ab ,;|\t\"'é#%-1."
    for turn in range(60):
        names = ["".join(rng.choices(alphabet, k=rng.randrange(1, 6))) for _ in range(6)]
        names = [name for name in names if name.strip(" \t") and name.strip(" \t")[0] not in "#%"] + ["z"]
        rows = [(rng.choice(names), rng.choice(names), rng.choice([1, 0.5])) for _ in range(5)] + [
            ("z", "z", 1)
        ]
        path = tmp_path / f"g{turn}.csv"
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator=rng.choice(["\n", "\r\n"]))
            writer.writerow(["source", "target", "weight"])
            writer.writerows(rows)
        expected = sorted((u.strip(" \t"), v.strip(" \t"), float(w)) for u, v, w in rows)
        assert edges(gpop.io.load(path)) == expected, path.read_text()

"""What parts an edge list and what is its header: files of the wild, and a second reader of another kind.

The second reader is Python's csv module and str.split, told what parts the lines. What `gpop.load` finds
out alone must be what that reader makes of the file in one of the ways that its suffix allows, never with
column names as an edge; where two ways make different graphs, it must be refused.
"""

from __future__ import annotations

import csv
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop.io
from gpop.common.errors import GraphFileError, UsageError
from gpop.convert import main as convert
from gpop.graph.graph import Graph

NAMES = {"source", "target", "weight", "from", "to"}
LONG = 50_000


def edges(graph: Graph) -> list[tuple[str, str, float | None]]:
    """(source, target, weight) of every edge, sorted, ids as text."""
    ids = np.arange(graph.n) if graph.original_ids is None else graph.original_ids
    source = np.repeat(ids, graph.out_degree).astype(str).tolist()
    weights = [None] * graph.m if graph.weights is None else graph.weights.astype(float).tolist()
    return sorted(zip(source, ids[graph.indices].astype(str).tolist(), weights, strict=True))


def load(tmp_path, text, name="g.csv", **options):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return edges(gpop.io.load(path, **options))


CITIES = [("New York, NY", "Boston, MA", None)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("g.tsv", "source\ttarget\nNew York, NY\tBoston, MA\n", CITIES),
        ("g.tsv", "New York, NY\tBoston, MA\n", CITIES),
        ("g.csv", "New York, NY\tBoston, MA\n", CITIES),
        ("g.txt", "New York, NY\tBoston, MA\n", CITIES),
        ("g.csv", '"New York, NY","Boston, MA"\n', CITIES),
        ("g.txt", '"New York, NY" "Boston, MA"\n', CITIES),
        ("g.csv", 'from,to\n"a ""b"" c","d"\n', [('a "b" c', "d", None)]),
        ("g.csv", "source;target;weight\na;b;1.5\n", [("a", "b", 1.5)]),
        ("g.csv", "source,target,weight\na;b,c|d,1.5\n", [("a;b", "c|d", 1.5)]),
        ("g.csv", ",source,target,weight\n0,5,7,1.5\n1,7,5,2\n", [("5", "7", 1.5), ("7", "5", 2)]),
        ("g.tsv", "\tsource\ttarget\n0\ta\tb\n", [("a", "b", None)]),
        ("g.csv", ",anna,bo\n0,x,y\n", [("x", "y", None)]),
        ("g.csv", "start,end,source,target\n1,2,3,4\n", [("3", "4", None)]),
        ("g.csv", "Source,Sink\n3,4\n", [("3", "4", None)]),
        ("g.csv", "source,target,label\na,b,friend\n", [("a", "b", None)]),
        ("g.csv", "3M,IBM\nIBM,3M\n", [("3M", "IBM", None), ("IBM", "3M", None)]),
        ("g.csv", "New York,Boston,5\n", [("New York", "Boston", 5)]),
        ("g.csv", "0 1\n2 0\n", [("0", "1", None), ("2", "0", None)]),
        ("g.txt", "0 1\t5\n", [("0", "1", 5)]),
        ("g.el", "a  b   2\n", [("a", "b", 2)]),
    ],
)
def test_found_out(tmp_path, name, text, expected):
    assert load(tmp_path, text, name) == expected


@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g.txt"])
@pytest.mark.parametrize("text", ["source{}target", "source{}target{}weight\n", "FROM{}To\n\n# none\n"])
def test_column_names_alone_are_no_edge(tmp_path, name, text):
    separator = "\t" if name == "g.tsv" else ","
    assert load(tmp_path, text.replace("{}", separator), name) == []
    path = tmp_path / name
    assert gpop.io.load(path).n == 0


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("g.csv", "a;b;1,5\n", 1, "is it parted by ',' or ';'\\? expected delimiter="),
        ("g.txt", "a;b;1,5\n", 1, "is it parted by ',' or ';'\\? expected delimiter="),
        ("g.csv", "source;target;weight\na;b;1,5\n", 2, "its weight has a decimal comma"),
        ("g.txt", "1 2,3\n", 1, "is it parted by blanks or ','"),
        ("g.txt", "New York\t5\n", 1, "is it parted by blanks or tab"),
        ("g.tsv", "a,b\n", 1, "parted by no tab, expected one here, or delimiter="),
        ("g.csv", "anna bo\n", 1, "parted by no ',' or ';' or tab or '|', expected one"),
        ("g.csv", "source  target ,weight\n", 1, "column names that nothing parts"),
        ("g.txt", "source  target ,weight\n", 1, "column names that nothing parts"),
        ("g.txt", "source target\n-9223372036854775\n", 2, "1 column, expected 2 as in the header"),
        ("g.csv", "source,target\na,b,c\n", 2, "3 columns, expected 2 as in the header"),
        ("g.csv", "source,target,weight\n0,,5\n", 2, "an empty name|expected: source"),
        ("g.tsv", "source\ttarget\n0\t\t5\n", 2, "3 columns, expected 2"),
        ("g.tsv", "0\t1\n0\t\t5\n", 2, "3 columns, expected 2"),
        ("g.tsv", "0\t1\n\t5\n", 2, "expected: source"),
        ("g.txt", "0 1\n2,3\n", 2, "1 column, expected 2"),
        ("g.txt", "u v\nv w\n", 1, "column names or an edge\\? expected header=True or header=False"),
        ("g.csv", "source,target,cost,length\na,b,1,2\n", 1, "is 'cost' or 'length' the weight\\?"),
        ("g.csv", "id,source,sink,x\n1,2,3,4\n", 1, "which columns are source and target\\?"),
        ("g.csv", "a,b,1_0\n", 1, "its weight is no number"),
        ("g.csv", '"a,b\n', 1, "its quotes are not those of CSV"),
        ("g.csv", 'a,b\n"c,d\n', 2, "its quotes are not those of CSV"),
        ("g.csv", "a,b\nc\0,d\n", 2, "a control character"),
        ("g.txt", "0 1\r1 2\r", 1, "a carriage return, expected lines that end in a newline"),
    ],
)
def test_refused(tmp_path, name, text, line, message):
    with pytest.raises(GraphFileError, match=rf"{name}, line {line}: .*{message}") as error:
        load(tmp_path, text, name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a;b;1,5\n", {"delimiter": ","}, [("a;b;1", "5", None)]),
        ("New York\t5\n", {"delimiter": "\t"}, [("New York", "5", None)]),
        ("New York\t5\n", {"delimiter": " "}, [("New", "York", 5)]),
        ("a:b\n", {"delimiter": ":"}, [("a", "b", None)]),
        ("from,to\nanna,bo\n", {"header": False}, [("anna", "bo", None), ("from", "to", None)]),
        ("anna,bo\ncy,di\n", {"header": True}, [("cy", "di", None)]),
        ("u v\nv w\n", {"header": False}, [("u", "v", None), ("v", "w", None)]),
        ("1,2,3,4\n", {"columns": (1, 0, 3)}, [("2", "1", 4)]),
        ("1,2,30\n", {"columns": (0, 1)}, [("1", "2", None)]),
        (
            "source,target,cost,length\na,b,1,2\n",
            {"columns": ("source", "target", "length")},
            [("a", "b", 2)],
        ),
        ("x,y,z\n1,2,3\n", {"columns": ["z", "x"]}, [("3", "1", None)]),
    ],
)
def test_settled(tmp_path, text, options, expected):
    assert load(tmp_path, text, "g.txt", **options) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": "ab"}, "delimiter='ab': expected one character"),
        ({"delimiter": "5"}, "delimiter='5': expected one character"),
        ({"columns": "ab"}, "columns='ab': expected the names or the places"),
        ({"columns": (0,)}, "columns="),
        ({"columns": (0, "b")}, "columns="),
        ({"columns": (0, 0)}, "columns="),
        ({"columns": ("a", "b"), "header": False}, "names need a header"),
    ],
)
def test_options_that_mean_nothing(tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        load(tmp_path, "0,1\n", **options)
    (tmp_path / "g.bin").write_bytes(b"")
    with pytest.raises(UsageError, match="delimiter= is for text edge lists"):
        gpop.io.load(tmp_path / "g.bin", delimiter=",")


@pytest.mark.parametrize(
    ("columns", "message"),
    [(("a", "q"), "no column 'q', expected one of a, b"), ((0, 2), r"no column 2, expected places 0\.\.1")],
)
def test_columns_that_are_not_there(tmp_path, columns, message):
    with pytest.raises(GraphFileError, match=message):
        load(tmp_path, "a,b\n0,1\n", columns=columns)


def test_columns_of_a_table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"source": [0], "target": [1], "cost": [5], "length": [7]})
    parquet.write_table(table, tmp_path / "g.parquet")
    with pytest.raises(GraphFileError, match="is 'cost' or 'length' the weight"):
        gpop.io.load(tmp_path / "g.parquet")
    for columns in (("target", "source", "length"), (1, 0, 3)):
        assert edges(gpop.io.load(tmp_path / "g.parquet", columns=columns)) == [("1", "0", 7)]
    assert edges(gpop.io.load(tmp_path / "g.parquet", columns=(0, 1))) == [("0", "1", None)]
    with pytest.raises(GraphFileError, match=r"no column 4, expected places 0\.\.3"):
        gpop.io.load(tmp_path / "g.parquet", columns=(0, 4))


def test_on_the_command_line(tmp_path, capsys):
    (tmp_path / "in.csv").write_text("x;y,z;w\n5;6,7;8\n")
    given, out = str(tmp_path / "in.csv"), str(tmp_path / "out.wel")
    assert convert([given, out]) == 2
    assert "is it parted by ',' or ';'" in capsys.readouterr().err
    assert convert([given, out, "--delimiter", ";", "--columns", "x,w", "--header"]) == 0
    assert edges(gpop.io.load(out)) == [("5", "8", None)]
    (tmp_path / "in.csv").write_text("5\t8\t1\n")
    assert convert([given, out, "--delimiter", "tab", "--columns", "1,0,2", "--no-header"]) == 0
    assert edges(gpop.io.load(out)) == [("8", "5", 1)]


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_pandas_frame_with_its_index(tmp_path, separator):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": ["a", "b, c"], "target": ["b, c", "a"], "weight": [1.5, 2]})
    frame.to_csv(tmp_path / "g.csv", sep=separator)
    assert edges(gpop.io.load(tmp_path / "g.csv")) == [("a", "b, c", 1.5), ("b, c", "a", 2)]


# The second reader --------------------------------------------------------------------------------


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

"""What parts an edge list and what is its header: files of the wild."""

from __future__ import annotations

import numpy as np
import pytest

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

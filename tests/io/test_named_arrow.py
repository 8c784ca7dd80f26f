"""Names parted by pyarrow: the same graph, or the same error, as line by line; what is not plain is left."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop.io
from gpop.common.errors import GraphFileError
from gpop.io.named_arrow import columns_of
from gpop.io.sniff import Layout
from tests.graphs import same

pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def small_blocks_are_worth_it(monkeypatch):
    monkeypatch.setattr("gpop.io.named_arrow._WORTH", 1)


def outcome(path, **options):
    """(graph, None) or (None, error)."""
    try:
        return gpop.io.load(path, **options), None
    except GraphFileError as error:
        return None, str(error)


def check(path, text: str | bytes, **options):
    """Load with and without pyarrow; both must agree."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    graph, error = outcome(path, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        plain, plain_error = outcome(path, **options)
    assert error == plain_error
    if graph is None:
        return None
    assert same(graph, plain)
    ids, plain_ids = graph.original_ids, plain.original_ids
    assert (ids is None) == (plain_ids is None)
    assert ids is None or (ids.dtype == plain_ids.dtype and np.array_equal(ids, plain_ids))
    return graph


def table(count: int, weights: str) -> str:
    rng = random.Random(count)
    weight = {"": lambda: "", "int": lambda: f",{rng.randrange(100)}", "float": lambda: f",{rng.random()!r}"}[
        weights
    ]
    return "".join(
        f"vertex {rng.randrange(count)},Straße {rng.randrange(9)}{weight()}\n" for _ in range(count)
    )


@pytest.mark.parametrize("weights", ["", "int", "float"])
def test_the_same_graph(tmp_path, monkeypatch, weights):
    """In many blocks, the last of which changes integer weights to floats."""
    monkeypatch.setattr("gpop.io.text.BLOCK", 1000)
    used = []
    monkeypatch.setattr(
        "gpop.io.named_edges.columns_of", lambda *given: used.append(columns_of(*given)) or used[-1]
    )
    text = table(500, weights)
    graph = check(tmp_path / "g.csv", text)
    assert graph.m == 500
    assert sum(columns is not None for columns in used) > 5
    if weights == "int":
        graph = check(tmp_path / "g.csv", text + "a,b,0.5\n")
        assert graph.weights.dtype == np.float64
        assert check(tmp_path / "g.csv", text + "a,b,-1\n").weights.dtype == np.int64
        assert check(tmp_path / "g.csv", text, weighted=False).weights is None
        assert check(tmp_path / "g.csv", text + f"a,b,{2**63}\n").weights.dtype == np.uint64


LAYOUT = Layout(ord(","), None, 2, (0, 1))
PLAIN = ["a,b\nc,d\n", '"a","b, c"\nc,"d"\r\n', " a , b\n#c\n %d\n\nc,d\n", "é,b\n"]
NOT_PLAIN = [
    'a"b,c\n', '"a""b",c\n', '"a\nb",c\n', '"a" ,c\n', "a,b\rc,d\n", "a\0,b\n", "\ufeffa,b\n", "a,b,c\n",
    "a\n",
    ",b\n",     '"a,b\n', ' \t,b\n', " \n",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_plain(text):
    columns = columns_of(text.encode(), LAYOUT)
    assert (columns.source.tolist()[0], columns.target.tolist()[0]) == (0, 1)
    assert all(name.strip() == name for name in columns.names)


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_not_plain(text):
    assert columns_of(text.encode(), LAYOUT) is None


@pytest.mark.parametrize(
    "weight",
    [
        "5",
        "+5",
        "-0",
        "007",
        "1.",
        ".5",
        "1e3",
        "1E-3",
        "-2.5e-300",
        "123456789012345678",
        "1234567890123456789",
    ]
    + [
        "-123456789012345678",
        "0.1234567890123456789",
        "5e-324",
        "1e999",
        "nan",
        "inf",
        "1_0",
        "0x1",
        "1,5",
        "",
        "\u0661",
    ]
    + ["9" * 400, "2e", " 7 ", "true", "1d", "1f"],
)
def test_weights_are_the_same(tmp_path, weight):
    check(tmp_path / "g.csv", f"a;b;1\nb;c;{weight}\n", delimiter=";")
    check(tmp_path / "g.csv", f"a;b;0.5\nb;c;{weight}\n", delimiter=";")


@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g.txt"])
@pytest.mark.parametrize(
    "text",
    [
        ",source,target,weight\n0,a,b,2\n1,b,c,3\n",
        "source\ttarget\n1\t2\n7\t1\n",
        "a b\nb c\n", "a b 2\nb  c 3\n", "a\tb\nb\tc\n", "a b\tc\n",
        "source,target\na,b\nsource,target\n",
        "source,target\nnull,NA\nNaN,\n", "source,target\nnull,NA\nNaN,true\n2020-01-01,1\n",
    ],
)  # fmt: skip
def test_kinds_of_files(tmp_path, name, text):
    check(tmp_path / name, text)


def test_bytes_that_are_no_text(tmp_path):
    check(tmp_path / "g.csv", b"a,b\n\xff,c\n")


FIELD = st.text('ab ,;"\t\r#é0', max_size=4) | st.sampled_from(["5", "0.5", "-1", "a b", '"a, b"', ""])


@settings(deadline=None, max_examples=400)
@given(
    st.lists(st.lists(FIELD, min_size=2, max_size=3), min_size=1, max_size=5),
    st.sampled_from([",", "\t", " ", ";"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([None, False, True]),
)
def test_any_text(tmp_path_factory, rows, separator, ending, header):
    text = ending.join(separator.join(row) for row in rows) + ending
    check(tmp_path_factory.getbasetemp() / "any.csv", text, delimiter=separator, header=header)

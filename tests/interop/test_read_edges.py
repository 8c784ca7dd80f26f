"""One function for all kinds of edge tables: the same graph from each, and one line for what is none."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import gpop

KINDS = {
    "mapping": dict,
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "arrow": pyarrow.table,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_graph(kind):
    table = KINDS[kind]({"who": ["a", "b", "a"], "how": [1.5, 2.0, 3.0], "whom": ["b", "c", "c"]})
    graph = gpop.read_edges(table, "who", "whom", "how")
    assert [str(name) for name in graph.original_ids] == ["a", "b", "c"]
    assert (graph.indptr.tolist(), graph.indices.tolist()) == ([0, 2, 3, 3], [1, 2, 2])
    assert graph.weights.tolist() == [1.5, 3.0, 2.0]
    assert gpop.read_edges(table, "who", "whom").weights is None
    numbers = KINDS[kind]({"from": [0, 90000], "to": [90000, 5], "weight": [1, 2]})
    graph = gpop.read_edges(numbers)
    assert graph.original_ids.tolist() == [0, 5, 90000] and graph.weights.tolist() == [1, 2]
    assert gpop.read_edges(KINDS[kind]({"from": [0], "to": [1]}), n=7).n == 7


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        ([(0, 1)], {}, "expected a table of pandas, Polars or Arrow, or a mapping of columns, got list"),
        ({"a": [1], "b": [1, 2]}, {}, "columns of the table differ in length"),
        ({"a": ["x"], "b": [None]}, {}, "column 'b' has missing values"),
        ({"a": [0.5, 1.5], "b": [np.nan, 0.5]}, {}, "column 'b' has missing values"),
        ({"a": ["x"], "b": [["y"]]}, {}, "unhashable type: 'list', expected integers or names"),
        ({"a": [0], "b": [1]}, {"n": "3"}, "n='3': expected a number of vertices"),
        ({"a": ["x"], "b": ["y"]}, {"n": 3}, "n is for integer ids"),
        (
            {"a": [0], "b": [1]},
            {"source": "u", "target": "b"},
            "there is no column 'u', expected one of a, b",
        ),
        ({"a": [0], "b": np.zeros((1, 2))}, {}, "column 'b' has 2 dimensions"),
    ],
)
def test_what_is_no_table(table, arguments, message):
    with pytest.raises(gpop.UsageError, match=message):
        gpop.read_edges(table, **arguments)


def test_columns_may_be_iterators():
    graph = gpop.read_edges({"from": iter([0, 1]), "to": (v for v in (1, 2)), "weight": map(float, "57")})
    assert (graph.indices.tolist(), graph.weights.tolist()) == ([1, 2], [5.0, 7.0])


@pytest.mark.parametrize("kind", [polars.Categorical, polars.Enum(["b", "c", "a"])])
@pytest.mark.parametrize("ending", [".arrow", ".parquet"])
def test_categories_of_polars(kind, ending, tmp_path):
    table = polars.DataFrame({"from": ["a", "b"], "to": ["b", "c"]}).cast(kind)
    (table.write_ipc if ending == ".arrow" else table.write_parquet)(tmp_path / f"g{ending}")
    for graph in (gpop.read_edges(table), gpop.load(tmp_path / f"g{ending}")):
        assert graph.original_ids.tolist() == ["a", "b", "c"] and graph.indices.tolist() == [1, 2]
    assert gpop.read_edges(table[:0]).n == 0


def test_a_table_without_rows():
    assert gpop.read_edges({"from": [], "to": []}).n == 0

"""pandas, Arrow and Polars edge tables: ids, names, weights, duplicates, zero copies and the way back."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.common.errors import UsageError
from gpop.graph.graph import Graph
from gpop.interop.edge_columns import pick_columns
from tests.graphs import same, small_graphs


def pandas_graph(columns, **options):
    pandas = pytest.importorskip("pandas")
    return Graph.from_pandas(pandas.DataFrame(columns), **options)


def arrow_graph(columns, **options):
    pyarrow = pytest.importorskip("pyarrow")
    return Graph.from_arrow(pyarrow.table(columns), **options)


def polars_graph(columns, **options):
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    return Graph.from_arrow(polars.DataFrame(columns), **options)


MAKERS = pytest.mark.parametrize("make", [pandas_graph, arrow_graph, polars_graph])


@MAKERS
@pytest.mark.parametrize("dtype", [np.uint32, np.float32, np.float64, np.int64, np.int8])
def test_weights_survive(make, dtype):
    weights = np.array([5, 7, 9], dtype)
    graph = make({"source": np.array([2, 0, 1]), "target": np.array([0, 1, 2]), "weight": weights})
    assert (graph.weights.dtype, graph.weights.tolist()) == (dtype, [7, 9, 5])
    assert make({"a": [0], "b": [1], "w": [7]}, weight=False).weights is None
    none = make({"source": np.empty(0, int), "target": np.empty(0, int), "weight": np.empty(0, dtype)})
    assert none.weights.dtype == dtype


@MAKERS
@pytest.mark.parametrize("weight", [[], ["weight"]])
def test_a_table_without_rows_is_a_graph_without_edges(make, weight, tmp_path):
    """Its columns mostly have no types."""
    columns = {name: [] for name in ["source", "target", *weight]}
    graph, larger = make(columns), make({**columns, "unused": []}, n=4)
    assert (graph.n, graph.m, larger.n, larger.m) == (0, 0, 4, 0)
    assert (graph.weights is None) == (larger.weights is None) == (not weight)
    if make is not pandas_graph:
        pyarrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
        decimal = pyarrow.table({name: pyarrow.array([], pyarrow.float64()) for name in columns})
        assert Graph.from_arrow(decimal).n == 0
        for empty in (pyarrow.table(columns), decimal):
            parquet.write_table(empty, tmp_path / "empty.parquet")
            assert gpop.load(tmp_path / "empty.parquet").m == 0
        with pytest.raises(UsageError, match="column 'source' has 1 nulls, expected a value in every row"):
            make({name: [None] for name in columns})
    else:
        pandas = pytest.importorskip("pandas")
        assert Graph.from_pandas(pandas.DataFrame(columns=list(columns))).m == 0


@MAKERS
def test_columns(make):
    table = {"x": [9, 9], "To": [0, 1], "From": [1, 2], "Cost": [0.5, 1.5]}
    graph = make(table)
    assert graph.indices.tolist() == [0, 1]
    assert graph.indptr.tolist() == [0, 0, 1, 2]
    assert graph.weights.tolist() == [0.5, 1.5]
    other = make(table, source="To", target="From", weight="x", n=9)
    assert (other.n, other.indices.tolist(), other.weights.tolist()) == (9, [1, 2], [9, 9])
    for options, message in (
        ({"source": "y", "target": "x"}, "there is no column 'y', expected one of x, To, From, Cost"),
        ({"source": "x"}, "expected both source and target"),
        (
            {"source": "x", "target": "To", "n": 3},
            r"vertex id 9 is outside the graph, expected ids in 0\.\.2",
        ),
        ({"duplicates": "some"}, "duplicates='some' is unknown"),
    ):
        with pytest.raises(UsageError, match=message):
            make(table, **options)
    with pytest.raises(UsageError, match="the table has 1 columns"):
        make({"x": [1]})


@MAKERS
@pytest.mark.parametrize(
    ("policy", "weights"),
    [("keep", [3, 1, 2]), ("first", [3, 2]), ("min", [1, 2]), ("max", [3, 2]), ("sum", [4, 2])],
)
def test_duplicates(make, policy, weights):
    table = {"source": [0, 0, 1], "target": [1, 1, 0], "weight": [3, 1, 2]}
    assert make(table, duplicates=policy).weights.tolist() == weights


@MAKERS
def test_names(make):
    graph = make({"source": ["b", "a", "b"], "target": ["a", "c", "c"], "weight": [1.0, 2.0, 3.0]})
    assert graph.original_ids.tolist() == ["b", "a", "c"]
    assert graph.indices.tolist() == [1, 2, 2]
    assert graph.weights.tolist() == [1, 3, 2]
    with pytest.raises(UsageError, match="n is for integer ids"):
        make({"source": ["b"], "target": ["a"]}, n=2)


@MAKERS
def test_sparse_and_impossible_ids(make):
    graph = make({"source": [2**62, 5], "target": [5, 7]})
    assert graph.original_ids.tolist() == [5, 7, 2**62]
    unsigned = make({"source": np.array([2**62, 5], np.uint64), "target": np.array([5, 7], np.uint64)})
    assert unsigned.original_ids.tolist() == [5, 7, 2**62]
    with pytest.raises(UsageError, match=r"source\[0\] is 9223372036854775808, expected ids below 2\^63"):
        make({"source": np.array([2**63], np.uint64), "target": [5]})
    with pytest.raises(UsageError, match=r"source\[0\] is -1"):
        make({"source": [-1], "target": [5]})
    with pytest.raises(UsageError, match="missing ids|1 nulls"):
        make({"source": ["a", None], "target": ["b", "c"]})


@pytest.mark.parametrize("name", small_graphs())
def test_round_trip(name):
    graph = small_graphs()[name]
    pytest.importorskip("pyarrow")
    assert same(Graph.from_arrow(graph.to_arrow()), graph)
    pytest.importorskip("pandas")
    assert same(Graph.from_pandas(graph.to_pandas(), n=graph.n), graph)


def test_original_ids_come_back():
    graph = Graph.from_csr([0, 1, 2], [1, 0], [1.5, 2.5], original_ids=np.array([10**10, 10**11]))
    pytest.importorskip("pyarrow")
    again = Graph.from_arrow(graph.to_arrow())
    assert (again.original_ids.tolist(), again.weights.tolist()) == ([10**10, 10**11], [1.5, 2.5])
    pytest.importorskip("pandas")
    assert graph.to_pandas().values.tolist() == [[10**10, 10**11, 1.5], [10**11, 10**10, 2.5]]
    graph.original_ids = np.array([(0, 1), (1, 0)], object)[:, 0]
    named = Graph.from_csr([0, 1, 1], [1], original_ids=np.array([None, "a"], object))
    with pytest.raises(UsageError, match="ids that are integers or text"):
        named.to_arrow()


def test_zero_copies():
    """What Arrow gives out is the graph's own memory, and what it gives in is not copied to be read."""
    pytest.importorskip("pyarrow")
    graph = small_graphs()["rmat weighted"]
    table = graph.to_arrow()
    assert np.shares_memory(table["target"].chunk(0).to_numpy(), graph.indices)
    assert np.shares_memory(table["weight"].chunk(0).to_numpy(), graph.weights)


def test_chunks_and_dictionaries():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.concat_tables([small_graphs()["rmat"].to_arrow()] * 2)
    assert same(
        Graph.from_arrow(table, duplicates="first", n=256),
        Graph.from_arrow(table.combine_chunks(), n=256, duplicates="first"),
    )
    names = pyarrow.array(["b", "a"]).dictionary_encode()
    assert Graph.from_arrow(pyarrow.table({"source": names, "target": names})).original_ids.tolist() == [
        "b",
        "a",
    ]


def test_what_is_no_table():
    pytest.importorskip("pyarrow")
    with pytest.raises(UsageError, match="expected an object with __arrow_c_stream__, got list"):
        Graph.from_arrow([1, 2])
    with pytest.raises(UsageError, match="expected a table with named columns, got pyarrow.ChunkedArray"):
        Graph.from_arrow(pytest.importorskip("pyarrow").chunked_array([[1, 2]]))
    with pytest.raises(UsageError, match="column 'weight' is string, expected numbers|weights are"):
        arrow_graph({"source": [0], "target": [1], "weight": ["x"]})
    with pytest.raises(UsageError, match="ids are double, expected integers or text"):
        arrow_graph({"source": [0.5], "target": [1.5]})
    pytest.importorskip("pandas")
    with pytest.raises(UsageError, match="expected a pandas DataFrame, got dict"):
        Graph.from_pandas({"source": [0]})
    with pytest.raises(UsageError, match="got pandas.Series$"):  # which from_arrow does not take, either
        Graph.from_pandas(pytest.importorskip("pandas").Series([1, 2]))


def test_missing_packages(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="need the package pyarrow: pip install pyarrow"):
        small_graphs()["star"].to_arrow()


def test_pandas_nullable_and_categorical():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": [0, 1], "target": [1, 0], "weight": [5, 7]}).astype("Int64")
    graph = Graph.from_pandas(frame)
    assert (graph.n, graph.weights.tolist()) == (2, [5, 7])
    frame = pandas.DataFrame({"source": ["x", "y"], "target": ["y", "x"]}, dtype="category")
    assert Graph.from_pandas(frame).original_ids.tolist() == ["x", "y"]


def test_pick_columns():
    assert pick_columns(["id", "SRC", "dst", "w"]) == ("SRC", "dst", "w")
    assert pick_columns(["a", "b", "c"]) == ("a", "b", None)
    assert pick_columns(["a", "b", "c"], "b", "a", "c") == ("b", "a", "c")

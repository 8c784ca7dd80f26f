"""Text edge lists: what is accepted, and what each malformed line is told."""

from __future__ import annotations

import gzip
import lzma
import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gpop.io
from gpop.common.errors import GraphFileError, NotEnoughMemory, UsageError
from gpop.graph.graph import Graph
from tests.graphs import real_graph, same, small_graphs


def load(tmp_path, text, name="g.txt", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return gpop.io.load(path, **options)


def pairs(graph):
    src = np.repeat(np.arange(graph.n), graph.out_degree).tolist()
    return list(zip(src, graph.indices.tolist(), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n2 0\n",
        "0 1\n2 0",
        "0\t1\n2\t0\n",
        "0,1\n2,0\n",
        "0 , 1\n2, 0 \n",
        "  0   1  \r\n\r\n\t2 \t 0\r\n",
        "# comment\n% another\n0 1\n   # third 7 8\n\n2 0\n#last",
        "\ufeff0 1\n2 0\n",
        "00 1\n2 000\n",
    ],
)
def test_accepted(tmp_path, text):
    graph = load(tmp_path, text)
    assert graph.n == 3
    assert pairs(graph) == [(0, 1), (2, 0)]
    assert graph.weights is None
    assert graph.original_ids is None


@pytest.mark.parametrize(
    ("text", "dtype", "weights"),
    [
        ("0 1 5\n1 0 7\n", np.uint32, [5, 7]),
        ("0 1 5\n1 0 -7\n", np.int64, [5, -7]),
        ("0 1 +5\n1 0 4294967296\n", np.int64, [5, 2**32]),
        ("0,1,5\n1,0,0.5\n", np.float64, [5, 0.5]),
        ("0 1 .5\n1 0 2.\n", np.float64, [0.5, 2]),
        ("0 1 1e3\n1 0 -2.5E-3\n", np.float64, [1000, -0.0025]),
        ("0 1 0.1234567890123456789\n1 0 1e-300\n", np.float64, [0.1234567890123456789, 1e-300]),
        ("0 1 123456789012345678901234567890\n1 0 0\n", np.float64, [123456789012345678901234567890.0, 0]),
    ],
)
def test_weights(tmp_path, text, dtype, weights):
    graph = load(tmp_path, text)
    assert graph.weights.dtype == dtype
    assert graph.weights.tolist() == weights
    assert load(tmp_path, text, weighted=False).weights is None


@settings(deadline=None, max_examples=300)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
@example([5e-324, 1.7976931348623157e308, 0.1, 1 / 3, 123456.789, -0.0])
def test_floats_are_exact(tmp_path_factory, numbers):
    path = tmp_path_factory.getbasetemp() / "floats.wel"
    for form in ("%r", "%.15g", "%.3f", "%e"):
        texts = [
            form % number for number in (*numbers, 0.5) if abs(number) < 1e308
        ]  # not rounded up to infinity
        path.write_text("".join(f"{v} 0 {text}\n" for v, text in enumerate(texts)))
        assert gpop.io.load(path).weights.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("0 1\n2\n", 2, "'2': 1 column, expected 2 as in the first line"),
        ("2\n", 1, r"'2': expected: source destination \[weight\]"),
        ("0 1\n1 2 3\n", 2, "'1 2 3': 3 columns, expected 2"),
        ("0 1 2\n1 2\n", 2, "'1 2': 2 columns, expected 3"),
        ("0 1 2 3\n", 1, r"expected: source destination \[weight\]"),
        ("0 1\n\n#\n-1 2\n", 4, "'-1 2': a negative id, expected ids from 0"),
        ("0 1\n1 -2\n", 2, "a negative id"),
        ("0 1\n1 9223372036854775808\n", 2, r"an id that is too large, expected ids below 2\^63"),
        ("0 1\n99999999999999999999999999 1\n", 2, "too large"),
        ("0 1\na b\n", 2, "'a b': expected: source"),
        ("0 1\n1 2x\n", 2, "'1 2x': expected: source"),
        ("0 1\n1.5 2\n", 2, "'1.5 2': expected: source"),
        ("0 1 1\n1 2 x\n", 2, "'1 2 x': expected"),
        ("0 1 1\n1 2 1e\n", 2, "expected"),
        ("0 1 1\n1 2 .\n", 2, "expected"),
        ("0 1 1\n1 2 1.2.3\n", 2, "expected"),
        ("0 1 1\n1 2 nan\n", 2, "expected"),
        ("0 1 1\n1 2 1e999\n", 2, "'1 2 1e999': expected"),
        ("0 1 1\n1 2 --1\n", 2, "expected"),
        ("0 1\n0,1\n", 2, "1 column, expected 2"),
        ("0,1\n0,,1\n", 2, "3 columns, expected 2"),
        ("0,1\n0,1,\n", 2, "3 columns, expected 2"),
        ("0 1\n0 1 # why\n", 2, "expected 2"),
        ("0 1\n\0\xff\x07\n", 2, r"expected"),
        ("0 1\n" + "7" * 500 + "\n", 2, r"777\.\.\.'"),
        ("what is this\n0 1\n", 1, "its weight is no number"),
    ],
)
def test_malformed(tmp_path, text, line, message):
    with pytest.raises(GraphFileError, match=rf"g\.txt, line {line}: .*{message}") as error:
        load(tmp_path, text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200 + len(str(tmp_path))


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "#\n\n%", " \r\n"])
@pytest.mark.parametrize("weighted", [None, True, False])
def test_no_edges_is_an_empty_graph(tmp_path, text, weighted):
    graph = load(tmp_path, text, weighted=weighted)
    assert (graph.n, graph.m) == (0, 0)
    assert (graph.weights is not None) == bool(weighted)


def test_column_names(tmp_path):
    graph = load(tmp_path, "# data\nsource,target,weight\n0,1,5\n", "g.csv")
    assert graph.weights.tolist() == [5]
    with pytest.raises(GraphFileError, match=r"g\.csv, line 2"):  # one such line, not two
        load(tmp_path, "source,target\nsource,target\n0,1\n", "g.csv")
    with pytest.raises(GraphFileError, match=r"g\.csv, line 3: '0': 1 column"):
        load(tmp_path, "source,target\n0,1\n0\n", "g.csv")


def test_weighted_is_demanded(tmp_path):
    with pytest.raises(GraphFileError, match=r"g\.txt: has 2 columns, expected 3: a weighted graph"):
        load(tmp_path, "0 1\n", weighted=True)


def test_sparse_ids_are_renumbered(tmp_path):
    graph = load(tmp_path, f"{2**63 - 1} 5\n5 1000000\n")
    assert (graph.n, graph.original_ids.tolist()) == (3, [5, 1000000, 2**63 - 1])
    assert pairs(graph) == [(0, 1), (2, 0)]
    assert graph.vertex_of(2**63 - 1) == 2


@pytest.mark.parametrize("count", [2, 1000])
def test_where_renumbering_begins(tmp_path, count):
    """Ids are kept while largest + 1 <= 4 * distinct + 1024."""
    lines = [f"0 {v}\n" for v in range(1, count - 1)]
    largest = 4 * count + 1024 - 1
    kept = load(tmp_path, "".join([*lines, f"0 {largest}\n"]))
    assert (kept.n, kept.original_ids) == (largest + 1, None)
    sparse = load(tmp_path, "".join([*lines, f"0 {largest + 1}\n"]))
    assert sparse.n == count
    assert sparse.original_ids.tolist() == [*range(count - 1), largest + 1]
    assert sparse.out_degree[0] == count - 1


def test_stated_number_of_nodes(tmp_path):
    assert load(tmp_path, "# Nodes: 9 Edges: 1\n0 1\n").n == 9
    assert load(tmp_path, "# Nodes: 2 Edges: 1\n0 5\n").n == 6
    assert load(tmp_path, "# Nodes: 999999999999\n0 1\n").n == 2  # not to be believed
    assert load(tmp_path, "0 1\n# Nodes: 9\n").n == 2


@pytest.mark.parametrize("line", ["0 1", "a b"])
def test_edges_that_a_comment_tells_of(tmp_path, line):
    """A file that was cut off between two lines."""
    with pytest.warns(UserWarning, match=r"g\.el: has 1 edges, and its comment says 3: is it whole\?"):
        assert load(tmp_path, f"# a graph\n# Nodes: 4 Edges: 3\n{line}\n", "g.el").m == 1
    assert load(tmp_path, f"# Nodes: 4 Edges: 1\n{line}\n# Nodes: 4 Edges: 7\n").m == 1


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_compressed(tmp_path, pack):
    ending = ".gz" if pack is gzip.compress else ".xz"
    text = b"# Nodes: 3\n0 1\n1 0\n" * 500
    assert load(tmp_path, pack(text), "g.snap" + ending).m == 1000
    assert load(tmp_path, pack(b""), "g.el" + ending).m == 0
    for bad in (
        pack(text)[:-9],
        pack(text)[:30],
        b"0 1\n",
        b"\0" * 40,
        pack(text)[:20] + b"!!!!" + pack(text)[24:],
    ):
        with pytest.raises(
            GraphFileError, match=rf"g\.txt{ending}: (damaged compressed data|cannot be read)"
        ):
            load(tmp_path, bad, "g.txt" + ending)


@pytest.mark.parametrize("size", [16, 100])
def test_blocks_and_pieces(tmp_path, monkeypatch, size):
    """The cuts into blocks and pieces leave no trace, not in line numbers either."""
    monkeypatch.setattr("gpop.io.text.BLOCK", size)
    monkeypatch.setattr("gpop.io.text._PIECE", size // 8)
    monkeypatch.setattr("gpop.io.text._LONGEST_LINE", size)
    graph = small_graphs()["odd n"]
    text = "# a\n" * 9 + "".join(f"{u} {v}\n\n" for u, v in pairs(graph))
    read = load(tmp_path, "# Nodes: 301\n" + text)
    assert same(read, graph)
    with pytest.raises(GraphFileError, match="line 3010: 'x': "):
        load(tmp_path, text + "x\n" + text)
    with pytest.raises(GraphFileError, match=f"a line of more than {size} bytes"):
        load(tmp_path, text + "1" * 3 * size)


@pytest.mark.parametrize("ending", [".el", ".tsv", ".csv", ".txt.gz", ".wel.xz", ".CSV"])
@pytest.mark.parametrize("name", small_graphs())
def test_round_trip(tmp_path, name, ending):
    graph = small_graphs()[name]
    path = tmp_path / f"g{ending}"
    graph.save(path)
    weighted = graph.weights is not None
    assert same(gpop.io.load(path, weighted=weighted), graph)
    assert os.listdir(tmp_path) == [path.name]


def test_round_trip_of_other_weights_and_ids(tmp_path):
    ids = np.array([3, 2**40, 2**63 - 1])
    for weights in ([0.1, -2.5e-300, 1e22], [-(2**62), 0, 10**17], np.array([0.1, 2, 3], np.float32)):
        graph = Graph.from_csr([0, 1, 2, 3], [1, 2, 0], weights, original_ids=ids)
        graph.save(tmp_path / "g.wel")
        read = gpop.io.load(tmp_path / "g.wel")
        assert read.original_ids.tolist() == ids.tolist()
        assert read.weights.tolist() == graph.weights.tolist()
    for name in ("a b", "", "a\tb", "#a", '"a"'):
        named = Graph.from_csr([0, 1, 1], [1], original_ids=np.array([name, "b"]))
        with pytest.raises(UsageError, match="cannot be written in an edge list"):
            named.save(tmp_path / "g.el")


@pytest.mark.parametrize(
    "text",
    [
        "anna bo 2\nbo cy 3\n",
        "anna,bo,2\nbo,cy,3\n",
        "# names\nfrom;to;w\nanna;bo;2\n\nbo;cy;3\n",
        '"anna","bo",2\n"bo","cy",3\n',
        "anna|bo|2\nbo | cy | 3",
        "Type,Target,Weight,Source,Label\nx,bo,2,anna,y\nx,cy,3,bo,y\n",
    ],
)
def test_names(tmp_path, text):
    graph = load(tmp_path, text, weighted=True)
    assert graph.original_ids.tolist() == ["anna", "bo", "cy"]
    assert pairs(graph) == [(0, 1), (1, 2)]
    assert (graph.weights.dtype, graph.weights.tolist()) == (np.uint32, [2, 3])
    graph.save(tmp_path / "again.csv")
    again = gpop.io.load(tmp_path / "again.csv")
    assert same(again, graph)
    assert again.original_ids.tolist() == graph.original_ids.tolist()


@pytest.mark.parametrize(
    "text", ["source,target\n0,1\n", "FromNodeId\tToNodeId\n0\t1\n", "0;1\n", "a|b\n0|1\n"]
)
def test_headers_and_delimiters(tmp_path, text):
    graph = load(tmp_path, text)
    assert (graph.n, graph.original_ids, pairs(graph)) == (2, None, [(0, 1)])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a b\nc\n", 2, "1 column, expected 2"),
        ("a b 1\nc d x\n", 2, "its weight is no number"),
        ("a b 1\nc d nan\n", 2, "its weight is no number"),
        ("a,b\n,c\n", 2, "an empty name"),
        ("source,target\na,b\nsource,target\n", 3, "the column names once more"),
        ("a b\nc \xff\n", 2, "expected UTF-8 text"),
    ],
)
def test_malformed_names(tmp_path, text, line, message):
    with pytest.raises(GraphFileError, match=rf"line {line}: .*{message}"):
        load(tmp_path, text.encode("latin-1"))


def test_memory_is_predicted(tmp_path, monkeypatch):
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 1_000_000)
    with pytest.raises(NotEnoughMemory, match=r"g\.txt: its edges needs"):
        load(tmp_path, "0 1\n" * 100_000)


@pytest.mark.parametrize(
    ("name", "n", "m"),
    [
        ("karate.txt.xz", 34, 78),
        ("wiki-Vote.txt.xz", 7115, 103689),
        ("wordnet3.txt.xz", 82670, 133445),
        ("dimacs9-NY.txt.xz", 264346, 365050),
    ],
)
def test_real_graphs(name, n, m):
    graph = gpop.io.load(real_graph(name))
    assert (graph.n, graph.m) == (n, m)
    table = np.loadtxt(real_graph(name), dtype=np.int64, ndmin=2)
    assert np.array_equal(np.bincount(table[:, 0], minlength=n), graph.out_degree)
    assert same(Graph.from_edges(table[:, 0], table[:, 1], n=n), graph)


@pytest.mark.parametrize("name", ["algs4-usa-road.txt.xz", "lesmis.txt.xz", "air-routes.txt.xz"])
def test_real_weights(name):
    table = np.loadtxt(real_graph(name), ndmin=2)
    graph = gpop.io.load(real_graph(name), weighted=True)
    expected = Graph.from_edges(table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2], graph.n)
    assert np.array_equal(graph.weights, expected.weights)


def test_sparse_ids_are_numbered_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("gpop.graph.renumber._IDS", 64)
    monkeypatch.setattr("gpop.io.text._PIECE", 1 << 10)
    ids = np.random.default_rng(1).integers(0, 2**62, (1000, 2))
    ids[500:] = ids[:500, ::-1]
    read = load(tmp_path, "".join(f"{u} {v}\n" for u, v in ids.tolist()))
    assert read.original_ids.tolist() == np.unique(ids).tolist()
    sources = np.repeat(read.original_ids, read.out_degree)
    assert sorted(zip(sources, read.original_ids[read.indices], strict=True)) == sorted(map(tuple, ids))

"""Every format: the round trip, and what it refuses."""

from __future__ import annotations

import mmap
import os

import numpy as np
import pytest

import gpop.io
from gpop.common.errors import GraphFileError, NotEnoughMemory, UsageError
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.graphs import same, small_graphs

ENDINGS = [
    ".bin", ".sg", ".el", ".csv", ".konect", ".adj", ".gr", ".graph", ".mtx", ".npz",
    ".parquet", ".arrow", ".feather", ".graphml", ".gml", ".adj.gz", ".gr.bz2", ".graph.xz", ".mtx.zst",
]  # fmt: skip
PACKAGES = {"parquet": "pyarrow", "arrow": "pyarrow", "feather": "pyarrow", "zst": "zstandard"}
PACKAGES |= {"graphml": "networkx", "gml": "networkx"}


def needs(ending: str) -> None:
    """Skip where the optional package of a format is missing."""
    for part in ending.split("."):
        if part in PACKAGES:
            pytest.importorskip(PACKAGES[part], reason=f"{ending} needs {PACKAGES[part]}")


def edges_by_id(graph: Graph) -> list[tuple]:
    """All edges with original ids and weights, in order."""
    names = list(range(graph.n)) if graph.original_ids is None else graph.original_ids.tolist()
    src = np.repeat(np.arange(graph.n), graph.out_degree)
    weights = [None] * graph.m if graph.weights is None else graph.weights.tolist()
    rows = zip(src, graph.indices, weights, strict=True)
    return sorted(((names[u], names[v], w) for u, v, w in rows), key=repr)


def storable(graph: Graph, ending: str) -> Graph:
    """The graph, or what of it the format can hold."""
    return graph.symmetrize() if ".graph" in ending and ".graphml" not in ending else graph


def write_ending(graph: Graph, ending: str) -> str:
    return ".wsg" if ending == ".sg" and graph.weights is not None else ending


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", small_graphs())
def test_round_trip(tmp_path, name, ending):
    needs(ending)
    graph = storable(small_graphs()[name], ending)
    path = tmp_path / f"g{write_ending(graph, ending)}"
    graph.save(path)
    read = gpop.io.load(path, weighted=graph.weights is not None)
    assert same(read, graph)
    assert read.original_ids is None
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("ids", [[10**12, 5, 2**62], ["anna", "bo", "cäsar"]])
def test_original_ids_survive(tmp_path, ids, ending):
    needs(ending)
    kind = object if isinstance(ids[0], str) else np.int64
    graph = Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1], [7, 7, 9, 9], n=3)
    graph.original_ids = np.array(ids, kind)
    path = tmp_path / f"g{write_ending(graph, ending)}"
    graph.save(path)
    read = gpop.io.load(path)
    assert edges_by_id(read) == edges_by_id(graph)
    assert read.out_degree[read.vertex_of(ids[1])] == 2
    beside = path.with_name(path.name + ".ids.npz")
    if beside.exists():
        assert read.original_ids.tolist() == ids
        plain = storable(small_graphs()["one self-loop"], ending)
        plain.save(path) if ending != ".sg" else plain.save(tmp_path / "g.sg")
        if ending != ".sg":
            assert not beside.exists()


@pytest.mark.parametrize("ending", [".el", ".csv", ".parquet"])
def test_lone_vertices_of_edge_lists(tmp_path, ending):
    needs(ending)
    graph = Graph.from_csr([0, 1, 1, 1], [1], original_ids=np.array(["anna", "bo", "carl"], object))
    path = tmp_path / f"g{ending}"
    with pytest.warns(
        UserWarning, match=r"g\.\w+: without 1 of 3 vertices, which have no edges: .*\.gml hold them"
    ):
        graph.save(path)
    assert gpop.io.load(path).original_ids.tolist() == ["anna", "bo"]
    graph.original_ids = None
    graph.save(path)  # and nothing is said: the number of vertices is in the file
    assert gpop.io.load(path).n == 3


def test_no_ids_at_all(tmp_path):
    graph = Graph.from_csr([0], [], original_ids=np.empty(0, object))
    graph.save(tmp_path / "g.bin")
    assert gpop.io.load(tmp_path / "g.bin").original_ids.size == 0


def test_ids_of_another_graph(tmp_path):
    graph = Graph.from_csr([0, 1, 1], [1], original_ids=np.array([7, 9]))
    graph.save(tmp_path / "g.bin")
    small_graphs()["star"].save(tmp_path / "h.bin")
    os.replace(tmp_path / "h.bin", tmp_path / "g.bin")
    with pytest.raises(GraphFileError, match=r"g\.bin\.ids\.npz: ids of another graph \(\[2, 1\]\)"):
        gpop.io.load(tmp_path / "g.bin")
    (tmp_path / "g.bin.ids.npz").write_bytes(b"PK nonsense")
    with pytest.raises(GraphFileError, match="is not a file of original ids"):
        gpop.io.load(tmp_path / "g.bin")
    graph.original_ids = np.array([(0, 1), None], object)
    with pytest.raises(UsageError, match=r"expected integers or text \(set graph.original_ids = None"):
        graph.save(tmp_path / "g.bin")


@pytest.mark.parametrize("ending", [".el", ".csv", ".konect", ".mtx", ".npz", ".parquet", ".graphml", ".gml"])
def test_float_weights_are_exact(tmp_path, ending):
    needs(ending)
    weights = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5, 12345.678]
    graph = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0], weights)
    graph.save(tmp_path / f"g{ending}")
    read = gpop.io.load(tmp_path / f"g{ending}")
    assert read.weights.dtype == np.float64
    assert read.weights.tolist() == weights


@pytest.mark.parametrize("ending", [".bin", ".wsg", ".adj", ".graph", ".gr"])
def test_formats_with_integer_weights_refuse_others(tmp_path, ending):
    graph = Graph.from_edges([0, 1], [1, 0], [0.5, 0.5])
    with pytest.raises(UsageError, match="weight 0.5 of edge 0 cannot be stored, expected integers"):
        graph.save(tmp_path / f"g{ending}")
    whole = Graph.from_edges([0, 1], [1, 0], [2.0, 2.0])
    whole.save(tmp_path / f"g{ending}")
    assert gpop.io.load(tmp_path / f"g{ending}").weights.tolist() == [2, 2]
    assert os.listdir(tmp_path) == [f"g{ending}"]


@pytest.mark.parametrize("ending", [e for e in ENDINGS if e not in (".el", ".csv", ".konect")])
def test_weights_are_demanded_or_dropped(tmp_path, ending):
    needs(ending)
    plain = Graph.from_edges([0, 1], [1, 0])
    plain.save(tmp_path / f"g{ending}")
    if ".gr" not in ending.split("graph")[0]:  # DIMACS has weights always
        with pytest.raises(GraphFileError, match="expected a"):
            gpop.io.load(tmp_path / f"g{ending}", weighted=True)
    path = tmp_path / ("w" + (".wsg" if ending == ".sg" else ending))
    Graph.from_edges([0, 1], [1, 0], [3, 3]).save(path)
    assert same(gpop.io.load(path, weighted=False), plain)


@pytest.mark.parametrize(
    ("name", "text", "edges"),
    [
        ("out.x", "% sym positive\n% 2 3 3\n1 2 3 99\n2 3 1 77\n",
         [(0, 1, 3), (1, 0, 3), (1, 2, 1), (2, 1, 1)]),
        ("g.konect", "% bip unweighted\n% 2 2 3\n1 1\n2 3\n",
         [(0, 2, None), (1, 4, None), (2, 0, None), (4, 1, None)]),
        ("g.konect", "% asym weighted\n1\t2\t-.5\n", [(0, 1, -0.5)]),
        ("g.gr", "c x\np sp 3 2\nc y\na 1 2 5\na 3 1 7\n", [(0, 1, 5), (2, 0, 7)]),
        ("g.gr", "p edge 2 1\ne 1 2\n", [(0, 1, None), (1, 0, None)]),
        ("g.gr", "p tw 2 1\n1 2\n", [(0, 1, None), (1, 0, None)]),
        ("g.graph", "% c\n3 2 011 2\n1 1 2 5\n% d\n1 1 1 5 3 7\n2 2 2 7\n",
         [(0, 1, 5), (1, 0, 5), (1, 2, 7), (2, 1, 7)]),
        ("g.graph", "3 1 100\n1 3\n1\n1 1\n", [(0, 2, None), (2, 0, None)]),
        ("g.graph", "3 1 100\n3\n\n1\n", [(0, 2, None), (2, 0, None)]),  # says sizes, has none
        ("g.graph", "3 1\n2\n1", [(0, 1, None), (1, 0, None)]),  # an empty line lost at the end
        ("g.graph", "2 2\n1 2\n1\n", [(0, 0, None), (0, 1, None), (1, 0, None)]),  # the loop stands once
        ("g.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n-5\n7\n", [(0, 1, -5), (1, 0, 7)]),
        ("g.adj", "AdjacencyGraph 2 1\n", None),
        ("g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n% c\n2 2 2\n2 1 3\n2 2 .5\n",
         [(0, 1, 3.0), (1, 0, 3.0), (1, 1, 0.5)]),
        ("g.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n",
         [(0, 1, -3), (1, 0, 3)]),
    ],
)  # fmt: skip
def test_dialects(tmp_path, name, text, edges):
    (tmp_path / name).write_text(text)
    if edges is None:
        with pytest.raises(GraphFileError, match="line 1"):
            gpop.io.load(tmp_path / name)
    else:
        assert edges_by_id(gpop.io.load(tmp_path / name)) == edges


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.konect", "1 2\n", "expected a header like % asym unweighted"),
        ("g.konect", "% asym unweighted\n0 1\n", r"line 2: '0 1': an id outside|line 2.*expected"),
        ("g.konect", "% asym unweighted\n% 2 3 3\n2 1\n", "has 1 edges, expected 2"),
        ("g.gr", "1 2\n", "line 1: '1 2': expected a header like p sp n m"),
        ("g.gr", "p sp 2 2\na 1 2 5\n", "has 1 edges, expected 2"),
        ("g.gr", "p sp 2 1\na 1 3 5\n", r"line 2: 'a 1 3 5': an id outside 1\.\.2"),
        ("g.gr", "p sp 2 1\na 1 2\n", "line 2: 'a 1 2': 2 columns, expected 3"),
        ("g.gr", "p sp 4294967295 0\n", "expected at most 4294967294"),
        ("g.gr", "p sp 4000000000 0\n", "its header says 4000000000 vertices"),
        ("g.graph", "", "is empty"),
        ("g.graph", "2 1\n2\n3\n", r"line 3: '3': expected neighbour \.\.\. with ids in 1\.\.2"),
        ("g.graph", "2 1\n2\n1\n1\n", "more than 2 adjacency lists"),
        ("g.graph", "2 3\n2\n1\n", "its lists hold 2 neighbours, expected 2 m = 6"),
        ("g.graph", "2 1 5\n2\n1\n", "an unknown fmt"),
        ("g.graph", "3000000000 0\n", "its header says 3000000000 vertices"),
        ("g.adj", "Graph\n", "line 1: 'Graph': expected AdjacencyGraph or WeightedAdjacencyGraph"),
        ("g.adj", "AdjacencyGraph\n3\n9\n0\n", "3 numbers, expected 14 for n = 3, m = 9"),
        ("g.adj", "AdjacencyGraph\n1\n1\n0\n7\n", "edge 0 leads to vertex 7"),
        ("g.adj", "AdjacencyGraph\n1\n1\n0\nx\n", "line 5: 'x': expected integers"),
        ("g.mtx", "3 3 1\n1 1\n", "line 1: '3 3 1': expected %%MatrixMarket"),
        ("g.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n", "expected coordinate"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 0\n", "expected a square matrix"),
        (
            "g.mtx",
            "%%MatrixMarket matrix coordinate pattern general\n2 2 9\n1 1\n",
            "has 1 edges, expected 9",
        ),
        ("g.sg", "short", "5 bytes, expected a header of 17"),
        ("g.npz", "PK", "is not a SciPy sparse matrix"),
        ("g.graphml", "<xml", "is not a GraphML file"),
        ("g.gml", "graph [", "is not a GML file"),
        ("g.parquet", "PAR1", "is not an Arrow or Parquet table"),
        ("g.arrow", "ARROW1", "is not an Arrow or Parquet table"),
        ("g.adj.zst", "nothing", "damaged compressed data"),
        *((f"g.el.{ending}", "", "damaged compressed data") for ending in ("gz", "bz2", "xz", "zst")),
    ],
)
def test_malformed(tmp_path, name, text, message):
    needs(name)
    (tmp_path / name).write_text(text)
    with pytest.raises(GraphFileError, match=message) as error:
        gpop.io.load(tmp_path / name)
    assert "\n" not in str(error.value)


def test_gap_sizes(tmp_path):
    """The size of the file tells .sg from .wsg; a directed graph has its reverse behind it."""
    graph = small_graphs()["rmat weighted"]
    graph.save(tmp_path / "g.wsg")
    size = 17 + 2 * (8 * (graph.n + 1) + 8 * graph.m)
    assert (tmp_path / "g.wsg").stat().st_size == size
    os.replace(tmp_path / "g.wsg", tmp_path / "g.sg")
    with pytest.raises(GraphFileError, match=r"it is a \.wsg by its size"):
        gpop.io.load(tmp_path / "g.sg")
    with pytest.raises(UsageError, match=r"the graph has weights, expected a name ending in \.wsg"):
        graph.save(tmp_path / "g.sg")
    small_graphs()["rmat symmetric"].save(tmp_path / "u.sg")
    assert (tmp_path / "u.sg").read_bytes()[0] == 0


def test_metis_is_undirected(tmp_path):
    for graph in (small_graphs()["rmat"], Graph.from_edges([0, 1], [1, 0], [1, 2])):
        with pytest.raises(UsageError, match="a METIS graph is undirected"):
            graph.save(tmp_path / "g.graph")


@pytest.mark.parametrize(
    "ending", [".sg", ".el", ".konect", ".adj", ".graph", ".gr.bz2", ".mtx", ".npz", ".parquet", ".arrow"]
)
def test_refused_before_it_is_read(tmp_path, monkeypatch, ending):
    needs(ending)
    graph = storable(generate("uniform", scale=15, degree=16, seed=1), ending)
    path = tmp_path / f"g{ending}"
    graph.save(path)
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 500_000)
    with pytest.raises(NotEnoughMemory, match=r"needs \d+\.\d MB, but only 500.0 KB is available"):
        gpop.io.load(path)


@pytest.mark.parametrize("weights", [None, (1, 200)])
def test_binary_csr_that_does_not_fit_is_mapped(tmp_path, monkeypatch, weights):
    graph = generate("rmat", scale=12, degree=64, seed=1, weights=weights)
    path = tmp_path / "g.bin"
    graph.save(path)
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 1_000_000)
    mapped = gpop.io.load(path)
    monkeypatch.undo()
    assert isinstance(mapped.indices.base.obj, mmap.mmap)
    assert same(mapped, graph)
    assert mapped.indices.flags.writeable  # the same compiled kernels as for any graph
    assert same(mapped.reverse(), graph.reverse())
    data = bytearray(path.read_bytes())
    data[8 + 4 * graph.n + 3] = 0xFF
    path.write_bytes(data)
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 1_000_000)
    with pytest.raises(GraphFileError, match="edge 0 leads to vertex"):
        gpop.io.load(path)


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_table_in_many_batches(tmp_path, ending):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    graph = generate("rmat", scale=8, degree=8, seed=1, weights=(1, 200))
    edges = graph.to_arrow()
    table = pa.table({**dict(zip(edges.column_names, edges.columns, strict=True)), "note": ["x"] * graph.m})
    table = table.set_column(0, "source", table.column(0).dictionary_encode())
    path = tmp_path / f"g{ending}"
    if ending == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=100)
    else:
        pyarrow.feather.write_feather(table, str(path), chunksize=100)
    read = gpop.io.load(path)
    assert read.weights.dtype == np.uint32
    assert edges_by_id(read) == edges_by_id(graph)
    bad = table.set_column(1, "target", pa.array([-1] * graph.m))
    pyarrow.feather.write_feather(bad, str(tmp_path / "bad.arrow"))
    with pytest.raises(GraphFileError, match=r"bad\.arrow: target\[0\] is -1, expected ids that are not"):
        gpop.io.load(tmp_path / "bad.arrow")
    twice = pa.Table.from_arrays([table.column(1)] * 3, names=["source", "target", "source"])
    pyarrow.feather.write_feather(table.select([1]), str(tmp_path / "bad.arrow"))
    with pytest.raises(GraphFileError, match="the table has 1 columns"):
        gpop.io.load(tmp_path / "bad.arrow")
    with pytest.raises(UsageError, match="column 'source' occurs several times"):
        Graph.from_arrow(twice)

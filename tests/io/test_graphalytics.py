"""Data sets of Graphalytics: every vertex, both directions, ids and weights, and what is refused."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import gpop
from gpop.common.errors import GraphFileError, UsageError

PROPERTIES = {
    "graph.small.vertex-file": "small.v",
    "graph.small.edge-file": "small.e",
    "graph.small.directed": "true",
    "graph.small.edge-properties.names": "weight",
    "graph.small.edge-properties.types": "real",
    "graph.small.algorithms": "bfs, wcc",
    "graph.small.bfs.source-vertex": "40",
}


def write(folder, vertices, edges, **changed):
    """A data set; ``changed`` properties by the last part of their names, None to leave one out."""
    said = dict(PROPERTIES)
    for name, value in changed.items():
        said[next(key for key in said if key.endswith(name.replace("_", "-")))] = value
    lines = [f"{key} = {value}" for key, value in said.items() if value is not None]
    (folder / "small.properties").write_text("# A data set\n\n" + "\n".join(lines) + "\n")
    (folder / "small.v").write_text(vertices)
    (folder / "small.e").write_text(edges)
    return folder / "small.properties"


def test_every_vertex_is_there(tmp_path):
    path = write(tmp_path, "70\n5\n40\n\n12\n", "40 5 1\n70 40 2.5\n")
    graph = gpop.load(path)
    assert (graph.name, graph.original_ids.tolist()) == ("small", [5, 12, 40, 70])
    assert graph.indptr.tolist() == [0, 0, 0, 1, 2]
    assert (graph.indices.tolist(), graph.weights.tolist()) == ([0, 2], [1, 2.5])


def test_sparse_ids(tmp_path):
    far = 10**12
    graph = gpop.load(write(tmp_path, f"{far}\n3\n{2**62}\n", f"3 {far} 1\n{2**62} 3 2\n"))
    assert graph.original_ids.tolist() == [3, far, 2**62]
    assert (graph.indptr.tolist(), graph.indices.tolist()) == ([0, 1, 1, 2], [1, 0])
    for vertex in (4, 2**62 + 1):
        with pytest.raises(GraphFileError, match=f"an edge of vertex {vertex}, which is not in"):
            gpop.load(write(tmp_path, f"{far}\n3\n", f"3 {vertex} 1\n"))


def test_an_undirected_edge_goes_both_ways_and_a_loop_once(tmp_path):
    path = write(tmp_path, "0\n1\n2\n", "0 1 3\n2 2 4\n", directed="false", types="integer")
    graph = gpop.load(path)
    assert graph.original_ids is None and graph.is_symmetric()
    assert (graph.indices.tolist(), graph.weights.tolist()) == ([1, 0, 2], [3, 3, 4])
    assert graph.weights.dtype.kind == "u"


def test_weights_are_read_where_they_are_wanted(tmp_path):
    path = write(tmp_path, "1\n2\n", "1 2 3\n")
    assert gpop.load(path).weights.dtype == np.float64
    assert gpop.load(path, weighted=False).weights is None
    path = write(tmp_path, "1\n2\n", "1 2\n", names=None, types=None)
    assert gpop.load(path).weights is None
    with pytest.raises(GraphFileError, match="weight"):
        gpop.load(path, weighted=True)


def test_no_edges_and_no_vertices(tmp_path):
    assert gpop.load(write(tmp_path, "3\n9\n", "")).out_degree.tolist() == [0, 0]
    assert gpop.load(write(tmp_path, "", "")).n == 0


def test_packed_files(tmp_path):
    path = write(tmp_path, "", "", vertex_file="small.v.gz", edge_file="small.e.gz")
    with (
        gzip.open(tmp_path / "small.v.gz", "wt") as vertices,
        gzip.open(tmp_path / "small.e.gz", "wt") as edges,
    ):
        vertices.write("7\n8\n")
        edges.write("7 8 0.5\n")
    assert gpop.load(path).weights.tolist() == [0.5]


@pytest.mark.parametrize(
    "vertices, edges, changed, message",
    [
        ("1\n2\n", "1 3 1\n", {}, r"small\.e: an edge of vertex 3, which is not in small\.v"),
        ("", "1 3 1\n", {}, r"small\.e: an edge of vertex 1, which is not in small\.v"),
        ("1\n2\n1\n", "", {}, r"small\.v: has vertex 1 twice"),
        ("-1\n2\n", "", {}, r"small\.v: has vertex -1, expected ids from 0 on"),
        ("1\nx\n", "", {}, r"small\.v, line 2: 'x': expected a whole number"),
        ("1\n2 3\n", "", {}, r"small\.v, line 2: '2 3': expected a whole number"),
        ("1\n2\n", "1 2\n", {}, r"small\.e, line 1: '1 2': 2 columns, expected 3"),
        ("", "", {"directed": "maybe"}, r"graph\.small\.directed = maybe: expected true or false"),
        ("", "", {"edge_file": None}, r"has no property graph\.small\.edge-file"),
        ("", "", {"vertex_file": None}, r"expected one property graph\.NAME\.vertex-file"),
        ("", "", {"names": "a, b"}, r"edge-properties\.names = a, b: expected one, a weight"),
        ("", "", {"vertex_file": "none.v"}, r"No such file|cannot be read"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, vertices, edges, changed, message):
    with pytest.raises(GraphFileError, match=message) as caught:
        gpop.load(write(tmp_path, vertices, edges, **changed))
    assert "\n" not in str(caught.value)


def test_a_line_that_is_no_property(tmp_path):
    path = tmp_path / "x.properties"
    path.write_text("# one\nhello\n")
    with pytest.raises(GraphFileError, match=r"x\.properties, line 2: 'hello': expected a property"):
        gpop.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(GraphFileError, match="expected text"):
        gpop.load(path)


def test_it_is_not_written(tmp_path):
    with pytest.raises(UsageError, match="data sets of Graphalytics are only read"):
        gpop.save(gpop.Graph.from_edges([0], [1]), tmp_path / "x.properties")

"""What `save` writes `load` reads: what a format has no room for is refused, or warned of, in time."""

from __future__ import annotations

import os

import numpy as np
import pytest

import gpop.io
from gpop.common.errors import GpopError, UsageError
from gpop.graph.graph import Graph
from tests.io.test_formats import edges_by_id, needs

TEXT = [".el", ".csv", ".konect", ".mtx", ".adj", ".gr"]


def pair(weights=None, ids=None, n: int = 2) -> Graph:
    """Two vertices with edges to each other, and perhaps others."""
    graph = Graph.from_edges([0, 1], [1, 0], weights, n=n)
    if ids is not None:
        names = isinstance(ids, list) and isinstance(ids[0], str)
        graph.original_ids = np.array(ids, object) if names else np.array(ids)
    return graph


def refused(graph: Graph, path, match: str) -> None:
    with pytest.raises(GpopError, match=match) as error:
        graph.save(path)
    assert "\n" not in str(error.value)
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("ending", TEXT)
@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_weights_that_are_not_finite(tmp_path, ending, weight):
    refused(pair([0.0, weight]), tmp_path / f"g{ending}", f"weight {weight} of edge 1 cannot be stored")
    if ending == ".el":
        refused(pair([0.0, weight], ["a", "b"]), tmp_path / "g.el", "weight .* cannot be stored")


@pytest.mark.parametrize("weights", [[-(2**63), 1], np.array([2**63, 1], np.uint64)])
def test_weights_of_64_bits(tmp_path, weights):
    refused(pair(weights), tmp_path / "g.adj", "a weight of 64 bits, expected integers below 2")
    pair(weights).save(tmp_path / "g.el")
    assert gpop.io.load(tmp_path / "g.el").weights.tolist() == list(weights)


@pytest.mark.parametrize("ending", [".el", ".csv", ".parquet"])
@pytest.mark.parametrize(
    ("ids", "match"),
    [([-1, 5], r"original_ids\[0\] is -1"), (np.array([1, 2**63], np.uint64), r"original_ids\[1\] is 9")],
)
def test_ids_that_are_no_ids_of_edge_lists(tmp_path, ending, ids, match):
    needs(ending)
    refused(pair(ids=ids), tmp_path / f"g{ending}", match)


@pytest.mark.parametrize("ending", [".el", ".csv"])
@pytest.mark.parametrize(
    ("ids", "match"),
    [
        (["01", "2"], "vertex '01' cannot be written .* not read as numbers"),
        (["1.5", "2"], "vertex '1.5' cannot be written"),
        (["source", "target"], "vertex 'source' .* expected no edge that reads like the header"),
        (["a\0b", "c"], "cannot be written in an edge list"),
        (["\ud800", "c"], "cannot be written in an edge list"),
        ([1.5, 2.5], "original ids are float"),
    ],
)
def test_names_that_are_read_as_others(tmp_path, ending, ids, match):
    refused(pair(ids=ids), tmp_path / f"g{ending}", match)


@pytest.mark.parametrize("ids", [["anna", "01"], ["7", "x"], ["1", "23"], [np.int64(7), np.int64(9)]])
def test_names_that_are_read(tmp_path, ids):
    graph = Graph.from_csr([0, 1, 2], [1, 0], original_ids=np.array(ids, object))
    for ending in (".el", ".bin"):
        graph.save(tmp_path / f"g{ending}")
        read = gpop.io.load(tmp_path / f"g{ending}")
        assert repr([(str(u), str(v)) for u, v, _ in edges_by_id(read)]) == repr(
            [(str(u), str(v)) for u, v, _ in edges_by_id(graph)]
        )


@pytest.mark.parametrize("ending", [".el", ".parquet", ".graphml", ".gml"])
def test_names_of_two_vertices(tmp_path, ending):
    needs(ending)
    refused(
        pair(ids=["a", "a"]), tmp_path / f"g{ending}", "2 vertices are called 'a' and would be read as one"
    )


def test_names_without_a_place_in_xml(tmp_path):
    needs(".graphml")
    for ids in (["\1", "b"], ["\ud800", "b"]):
        refused(pair(ids=ids), tmp_path / "g.graphml", "cannot be written, expected characters that XML has")
    for ids in ([(1, 2), None], [1.5, 2.5]):
        graph = pair()
        graph.original_ids = ids
        refused(graph, tmp_path / "g.gml", "expected integers or text")


@pytest.mark.parametrize("path", [None, 5, b"g.el"])
def test_what_is_no_file_and_no_graph(tmp_path, path):
    for work in (gpop.io.load, pair().save):
        with pytest.raises(UsageError, match=f"{path!r}: expected the name of a file"):
            work(path)
    for graph in (None, pair().to_scipy()):
        with pytest.raises(UsageError, match=r"gpop\.save: expected a gpop\.Graph, got .*: make one with"):
            gpop.io.save(graph, tmp_path / "g.el")


@pytest.mark.parametrize("ending", [".el", ".gr", ".graph"])
def test_names_of_graphs_are_comments(tmp_path, ending):
    graph = Graph.from_edges([0, 1], [1, 0], [7, 7], name="é Nodes: 9\n5 4\r\np sp 3 3")
    graph.save(tmp_path / f"g{ending}")
    assert edges_by_id(gpop.io.load(tmp_path / f"g{ending}")) == edges_by_id(graph)
    assert gpop.io.load(tmp_path / f"g{ending}").n == 2


@pytest.mark.parametrize("ending", [".konect", ".mtx", ".gr"])
def test_more_vertices_than_the_text_bears_out(tmp_path, ending):
    refused(pair(n=1_100_000), tmp_path / f"g{ending}", "its header says 1100000 vertices")


@pytest.mark.parametrize(
    ("ending", "n", "lost"), [(".el", 1033, 1031), (".csv", 1033, 1031), (".parquet", 1_051_000, 1_050_998)]
)
def test_most_vertices_without_edges(tmp_path, ending, n, lost):
    needs(ending)
    path = tmp_path / f"g{ending}"
    with pytest.warns(UserWarning, match=f"without {lost} of {n} vertices, which have no edges"):
        pair(n=n).save(path)
    assert gpop.io.load(path).n == n - lost
    pair(n=1032).save(path)  # and nothing is said
    assert gpop.io.load(path).n == 1032

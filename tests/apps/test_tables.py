"""Results in the names of the input: tables, the largest, pictures, and what a pickle takes along."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import numpy as np
import pandas
import polars
import pytest

import gpop
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.tables import Top, columns, largest
from gpop.apps.without_messages import Phase, direct_run

EDGES = {
    "from": ["anna", "bo", "anna", "dora", "ed"],
    "to": ["bo", "cy", "cy", "anna", "<b>"],
    "weight": [1, 2, 7, 1, 1],
}
"""anna reaches bo and cy, and neither dora, ed nor <b>."""


@pytest.fixture(scope="module")
def graph():
    return gpop.read_edges(EDGES)


@pytest.fixture(scope="module")
def found(graph):
    return gpop.sssp(graph, "anna")


def plain(values):
    """None where pandas has its own word for nothing."""
    return [None if pandas.isna(value) else value for value in values]


EXPECTED = {"anna": 0, "bo": 1, "cy": 3, "dora": None, "ed": None, "<b>": None}


def test_distances_have_names_and_none_where_not_reached(found):
    frame = found.to_pandas()
    assert dict(zip(frame["vertex"], plain(frame["distance"]), strict=True)) == EXPECTED
    assert str(frame["distance"].dtype) == "UInt32"
    assert dict(zip(frame["vertex"], plain(found.series("distance").tolist()), strict=True)) == EXPECTED
    for table in (found.to_arrow().to_pydict(), found.to_polars().to_dict(as_series=False)):
        assert dict(zip(table["vertex"], table["distance"], strict=True)) == EXPECTED
        assert table["reached"] == [table["distance"][i] is not None for i in range(6)]
    assert found.to_polars()["distance"].dtype == polars.UInt32
    assert found.distance[~found.reached].tolist() == [2**31 - 1] * 3  # as documented


def test_parents_are_names(graph):
    frame = gpop.bfs(graph, "anna").to_pandas().set_index("vertex")
    assert plain(frame["parent"][["anna", "bo", "cy", "dora"]]) == ["anna", "anna", "anna", None]
    arrow = gpop.bfs(graph, "anna").to_arrow()
    assert arrow["parent"].to_pylist() == gpop.bfs(graph, "anna").to_polars()["parent"].to_list()
    assert arrow["parent"].null_count == 3


def test_ids_that_are_numbers():
    graph = gpop.read_edges({"from": [70000, 30], "to": [30, 9]})
    found = gpop.bfs(graph, graph.vertex_of(70000), reorder="degree")
    assert found.series("level").to_dict() == {9: 2, 30: 1, 70000: 0}
    assert found.to_arrow()["parent"].to_pylist() == [30, 70000, 70000]
    assert str(gpop.bfs(graph, 0).to_pandas()["parent"].dtype) == "Int64"
    with pytest.raises(gpop.UsageError, match="source 70000 is not in the graph"):  # a number is an index
        gpop.bfs(graph, 70000)


def test_names_as_seeds_and_a_list_of_vertices(graph):
    found = gpop.nibble(graph, ["anna", "dora"], iterations=1)
    frame = found.to_pandas()
    assert frame.columns.tolist() == ["vertex", "probability"]
    assert set(frame["vertex"]) == {"anna", "bo", "cy", "dora"}
    assert found.top(1)[0][0] == "anna"
    assert gpop.nibble(graph, "anna", iterations=1).series("probability")["anna"] == 0.5
    with pytest.raises(gpop.UsageError, match="seed 'zoe' is not|'zoe' is not in graph"):
        gpop.nibble(graph, ["anna", "zoe"])


def test_components_have_the_name_of_their_smallest_vertex(graph):
    found = gpop.connected_components(graph)
    assert found.series("label").to_dict() == {
        "anna": "anna", "bo": "anna", "dora": "anna", "cy": "anna", "ed": "ed", "<b>": "ed",
    }  # fmt: skip
    assert found.top() == [("anna", 4), ("ed", 2)]
    assert found.top().header == ("label", "vertices")


def test_the_largest(found):
    assert found.top(2) == [("cy", 3), ("bo", 1)]  # unreached ones are not the farthest
    assert repr(found.top(1)) == "vertex  distance\ncy             3"
    with pytest.raises(
        gpop.UsageError, match="no column 'distances': expected one of vertex, distance, reac"
    ):
        found.top(by="distances")
    with pytest.raises(gpop.UsageError, match="'reached' holds no numbers"):
        found.top(by="reached")


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32])
def test_largest_is_a_stable_descending_sort(dtype):
    values = np.random.default_rng(1).integers(0, 40, 9000).astype(dtype)
    expected = sorted(range(9000), key=lambda i: (-int(values[i]), i))
    for most in (0, 1, 7, 9, 8999, 9000, 5000):
        assert largest(values, most).tolist() == expected[:most]


def test_a_count_has_no_table(graph):
    found = gpop.triangle_count(graph)
    with pytest.raises(gpop.UsageError, match="TriangleResult says nothing about single vertices: count"):
        found.to_pandas()
    assert "count 1" in found._repr_html_() and "<svg" not in found._repr_html_()


@dataclass(frozen=True, kw_only=True)
class Everything(AppResult):
    """A result of one's own, with every kind of field."""

    start: int = holds(Holds.VERTEX)
    members: np.ndarray = holds(Holds.LIST)
    nearest: np.ndarray = holds(Holds.VERTICES)
    cost: np.ndarray = holds(Holds.VALUES, missing=np.inf, column="price")
    matrix: np.ndarray = holds(Holds.VALUES)
    rounds: int = holds(Holds.NO_VERTICES)


def own(graph=None):
    run = direct_run(
        [Phase("all", 1, 0.0)], seconds=0.0, prepare_seconds=0, threads=1, partition_size=4, partitions=1
    )
    result = Everything(
        start=1, members=np.array([0, 2], np.uint32), nearest=np.array([1, -1, 0]), rounds=3,
        cost=np.array([1.5, np.inf, 0]), matrix=np.zeros((3, 2)), run=run,
    )  # fmt: skip
    return result if graph is None else result.of(graph)


def test_tables_follow_from_what_fields_hold():
    table = columns(own())
    assert list(table) == ["vertex", "members", "nearest", "price"]  # no column of two dimensions
    assert table["members"].values.tolist() == [True, False, True]
    assert own().to_arrow().to_pydict() == {
        "vertex": [0, 1, 2],
        "members": [True, False, True],
        "nearest": [1, None, 0],
        "price": [1.5, None, 0.0],
    }
    named = own(gpop.read_edges({"from": ["a", "b"], "to": ["b", "c"]}))
    assert named.to_arrow()["nearest"].to_pylist() == ["b", None, "a"]
    assert np.isnan(named.to_pandas()["price"][1]) and named.top() == [("a", 1.5), ("c", 0.0)]


def test_a_part_of_the_answer_names_its_own_vertices(graph):
    whole = own(gpop.read_edges({"from": ["a", "b"], "to": ["b", "c"]}))
    run = replace(whole.run, part=(1, 3), partition_size=1, partitions=3)
    part = replace(whole, run=run, nearest=whole.nearest[1:], cost=np.array([np.inf, 2]))
    assert part.top() == [("c", 2.0)]
    tree = gpop.bfs(graph, "anna")
    part = replace(tree, run=run, parent=tree.parent[1:3], level=tree.level[1:3]).of(graph)
    assert part.top() == [("bo", 1)]
    with pytest.raises(gpop.UsageError, match="a path needs the whole answer.* from 1 on: expected gather"):
        part.path("bo")


def test_names_that_are_no_text():
    graph = gpop.read_edges({"u": [("a", 1), ("b", 2)], "v": [("b", 2), 3.5]})
    found = gpop.bfs(graph, ("a", 1))
    assert found.path(3.5) == [("a", 1), ("b", 2), 3.5]
    assert found.series("level").tolist() == [0, 1, 2]
    assert found.to_pandas()["parent"].tolist() == [("a", 1), ("a", 1), ("b", 2)]
    with pytest.raises(gpop.UsageError, match="ids that are integers or text"):
        found.to_arrow()


def test_a_pickle_takes_the_names_and_leaves_the_edges():
    n = 1000
    columns = {"u": [f"v{i % n}" for i in range(20 * n)], "v": [f"v{i * 7 // 3 % n}" for i in range(20 * n)]}
    graph = gpop.read_edges(columns)
    found = gpop.bfs(graph, "v3")
    kept = pickle.dumps(found)
    assert len(kept) < graph.nbytes / 2
    again = pickle.loads(kept)
    assert again.graph is None and again.path("v8") == found.path("v8")
    assert again.to_pandas().equals(found.to_pandas())
    assert pickle.loads(pickle.dumps(again)).top(3) == found.top(3)
    with pytest.raises(gpop.UsageError, match="'nobody' is not among"):
        again.path("nobody")


def svg(html):
    """The picture in some HTML, as XML that it must be."""
    return ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])


def test_what_a_notebook_shows(graph, found):
    for thing, words in ((graph, ["6 vertices, 5 edges", "original ids"]), (found, ["SSSPResult", "cy"])):
        html = thing._repr_html_()
        assert all(word in html for word in words)
        bars = [each for each in svg(html) if each.tag.endswith("rect")]
        assert len(bars) == {"Graph": 3, "SSSPResult": 4}[type(thing).__name__]  # degrees 0-2, distances 0-3
        assert "<script" not in html and "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "<b>" not in Top(("vertex", "x"), [("<b>", 1)])._repr_html_()
    assert "<svg" in gpop.Graph.from_edges([], [], n=0)._repr_html_()


def test_communities_are_shown_by_their_sizes():
    names = {"from": ["a", "b", "c", "x", "y", "z"], "to": ["b", "c", "a", "y", "z", "w"]}
    groups = gpop.label_propagation(gpop.read_edges(names, "from", "to"), 1)
    sizes = dict(groups.top(9))
    assert sum(sizes.values()) == 7 and len(sizes) == groups.count and set(sizes) <= set("abcxyzw")
    assert "<svg" in groups._repr_html_()
    assert dict(groups.to_pandas()["label"].value_counts()) == sizes


def test_a_run_without_an_app_is_shown_in_a_line(found):
    html = found.run._repr_html_()
    assert "Run of" in html and f"{found.run.iterations:,} iterations" in html


def test_a_picture(found, graph):
    from matplotlib.figure import Figure

    axes = found.plot(ax=Figure().add_subplot())
    assert [bar.get_height() for bar in axes.patches] == [1, 1, 0, 1]
    assert axes.get_xlabel() == "distance" and axes.get_title() == "SSSPResult"
    axes = gpop.connected_components(graph).plot(ax=Figure().add_subplot())
    assert axes.get_ylabel() == "components"
    with pytest.raises(gpop.UsageError, match="no column 'x'"):
        found.plot("x", ax=Figure().add_subplot())


def test_five_lines():
    frame = pandas.DataFrame(EDGES)
    graph = gpop.read_edges(frame, "from", "to", weight=False)
    found = gpop.pagerank(graph)
    best = found.top(10)
    ranks = dict(zip(graph.original_ids, found.rank.tolist(), strict=True))
    assert best == sorted(ranks.items(), key=lambda pair: -pair[1]) and len(best) == 6

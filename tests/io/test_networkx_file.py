"""GraphML and GML by way of NetworkX."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gpop.io
from gpop.common.errors import GraphFileError, UsageError
from gpop.graph.graph import Graph

pytest.importorskip("networkx")


@pytest.mark.parametrize("weights", [[2**31, 5], [2**63 - 1, -(2**63)]])
def test_weights_of_more_than_32_bits_come_back(tmp_path, weights):
    """GML has none: NetworkX writes them as text. The second edge is there twice."""
    Graph.from_edges([0, 1, 1], [1, 0, 0], np.array([*weights, 7])).save(tmp_path / "g.gml")
    found = gpop.io.load(tmp_path / "g.gml").weights
    assert sorted(found.tolist()) == sorted([*weights, 7])


@pytest.mark.parametrize("ids", [["01", "2"], [-1, 5], [2**63, 1], ["1.5", "x"], [2**53, 9]])
@pytest.mark.parametrize("ending", [".gml", ".graphml"])
def test_names_come_back(tmp_path, monkeypatch, ending, ids):
    """A name like 01 is not the number 1."""
    kind = object if isinstance(ids[0], str) else np.int64 if max(ids) < 2**63 else np.uint64
    Graph.from_csr([0, 1, 2], [1, 0], original_ids=np.array(ids, kind)).save(tmp_path / f"g{ending}")
    assert gpop.io.load(tmp_path / f"g{ending}").original_ids.tolist() == ids
    pytest.importorskip("igraph")
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert gpop.io.load(tmp_path / f"g{ending}").original_ids.tolist() == ids


def test_weights_of_64_bits_are_refused(tmp_path):
    with pytest.raises(UsageError, match="a weight is 9223372036854775808, expected integers below"):
        Graph.from_edges([0], [1], np.array([2**63], np.uint64)).save(tmp_path / "g.gml")


def test_other_text_is_no_weight(tmp_path):
    Graph.from_edges([0], [1], [2**31]).save(tmp_path / "g.gml")
    text = (tmp_path / "g.gml").read_text().replace('"2147483648"', '"seven"')
    (tmp_path / "g.gml").write_text(text)
    with pytest.raises(GraphFileError, match="attribute 'weight' of the edges: expected numbers"):
        gpop.io.load(tmp_path / "g.gml")
    assert gpop.io.load(tmp_path / "g.gml", weighted=False).m == 1

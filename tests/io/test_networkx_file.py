"""GraphML and GML by way of NetworkX."""

from __future__ import annotations

import numpy as np
import pytest

import gpop.io
from gpop.common.errors import GraphFileError
from gpop.graph.graph import Graph

pytest.importorskip("networkx")


@pytest.mark.parametrize("weights", [[2**31, 5], [2**63 - 1, -(2**63)]])
def test_weights_of_more_than_32_bits_come_back(tmp_path, weights):
    """GML has none: NetworkX writes them as text. The second edge is there twice."""
    Graph.from_edges([0, 1, 1], [1, 0, 0], np.array([*weights, 7])).save(tmp_path / "g.gml")
    found = gpop.io.load(tmp_path / "g.gml").weights
    assert sorted(found.tolist()) == sorted([*weights, 7])


def test_other_text_is_no_weight(tmp_path):
    Graph.from_edges([0], [1], [2**31]).save(tmp_path / "g.gml")
    text = (tmp_path / "g.gml").read_text().replace('"2147483648"', '"seven"')
    (tmp_path / "g.gml").write_text(text)
    with pytest.raises(GraphFileError, match="attribute 'weight' of the edges: expected numbers"):
        gpop.io.load(tmp_path / "g.gml")
    assert gpop.io.load(tmp_path / "g.gml", weighted=False).m == 1

"""Files that ranks read in shares."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpop.apps.weights import heaviest_weight
from gpop.common.errors import UsageError
from gpop.graph.edge_pieces import told_type
from gpop.io.share import Share
from gpop.ranks.load import _in_one
from gpop.ranks.part import InEdges
from gpop.ranks.part_graph import PartGraph, note_weights


@pytest.mark.parametrize(("least", "dtype"), [(0, np.uint64), (-1, np.float64)])
def test_weights_have_the_type_that_holds_those_of_all_ranks(least, dtype):
    other = {told_type(np.array([2**63], np.uint64))}
    world = SimpleNamespace(everyones=lambda own: [own, other])
    ends = [np.array([0, 1], np.uint32), np.array([1, 0], np.uint32)]
    share = Share(2, None, ends, [np.array([2**40, least])], 1)
    assert _in_one(share, world).weights.dtype == dtype


@pytest.mark.parametrize(("weight", "said"), [(-3, "is -3.0"), (np.nan, "is -inf"), (3, None)])
def test_weights_below_zero_are_known_of_a_graph_in_parts(weight, said):
    world, ends = SimpleNamespace(sum=np.asarray, most=np.asarray), np.array([0, 1], np.uint32)
    weights = np.array([2.5, weight])
    graph = PartGraph(2, 2, InEdges(ends, ends, weights), np.array([0, 2]), 1, np.ones(2, np.uint32))
    note_weights(graph, weights, world)
    if said is None:
        assert heaviest_weight(graph, "sssp") == 3
    else:
        with pytest.raises(
            UsageError, match=f"sssp needs weights that are not negative: the smallest .* {said}"
        ):
            heaviest_weight(graph, "sssp")

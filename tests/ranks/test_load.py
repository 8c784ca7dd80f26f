"""Files that ranks read in shares."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpop.graph.edge_pieces import told_type
from gpop.io.share import Share
from gpop.ranks.load import _in_one


@pytest.mark.parametrize(("least", "dtype"), [(0, np.uint64), (-1, np.float64)])
def test_weights_have_the_type_that_holds_those_of_all_ranks(least, dtype):
    other = {told_type(np.array([2**63], np.uint64))}
    world = SimpleNamespace(everyones=lambda own: [own, other])
    ends = [np.array([0, 1], np.uint32), np.array([1, 0], np.uint32)]
    share = Share(2, None, ends, [np.array([2**40, least])], 1)
    assert _in_one(share, world).weights.dtype == dtype

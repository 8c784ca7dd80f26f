"""Edges in pieces: the type of their weights."""

from __future__ import annotations

import numpy as np

from gpop.graph.edge_pieces import csr_of


def test_opposite_weights_have_a_sign():
    for weight, dtype in ((np.uint32(7), np.int64), (np.uint64(2**63), np.float64)):
        ends = [np.array([0], np.uint32), np.array([1], np.uint32)]
        *_, weights = csr_of(2, ends, [np.array([weight])], True, opposite=-1)
        assert weights.dtype == dtype
        assert weights.tolist() == [int(weight), -int(weight)]

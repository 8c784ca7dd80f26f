"""HPGraph's table 2: the paper's averages are arithmetic means, the geometric ones are smaller."""

from __future__ import annotations

import numpy as np
import pytest

from perf.hpgraph_published import GRAPHS, MILLISECONDS, published_gain, sentences

BOTH = {
    ("bfs", "MapGraph"): (2.47, 2.04),
    ("sssp", "MapGraph"): (2.73, 2.29),
    ("pagerank", "MapGraph"): (1.85, 1.70),
    ("bfs", "Gunrock"): (1.38, 1.12),
    ("sssp", "Gunrock"): (1.10, 0.93),
    ("pagerank", "Gunrock"): (6.44, 4.17),
    ("sssp", "nvGRAPH"): (4.37, 3.94),
    ("pagerank", "nvGRAPH"): (1.02, 0.94),
}


@pytest.mark.parametrize("app, over", BOTH)
def test_both_means_of_the_papers_table(app, over):
    assert published_gain(app, over) == pytest.approx(BOTH[app, over], abs=0.005)


def test_every_system_has_every_graph():
    for table in MILLISECONDS.values():
        assert {len(times) for times in table.values()} == {len(GRAPHS)}


def test_sentences():
    ratios = [2.0, 8.0, 4.0]
    here, paper = sentences("pagerank", ratios)
    assert f"arithmetic mean {np.mean(ratios):.2f}, geometric 4.00" in here
    assert "Gunrock 6.44 and 4.17" in paper and "HPGraph 1.00" not in paper

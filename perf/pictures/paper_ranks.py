"""PageRank by the papers' 19 implementations beside the best of every graph (Fig. 1, table 4.4)."""

from __future__ import annotations

from perf.pictures.paper_heat import drawn

TITLE = "PageRank, 19 implementations beside the best of each graph (Fig. 1, table 4.4)"
PAPER = "Edge lists are never far behind; push and pull win where degrees are constant and lose on a star."
draw = drawn("pagerank", lambda runs: runs.best)

"""BFS by the papers' 56 implementations beside the optimum that switches in every level (table 4.6)."""

from __future__ import annotations

from perf.pictures.paper_heat import drawn

TITLE = "BFS, 56 implementations beside the optimum (table 4.6)"
PAPER = "No implementation is near the optimum everywhere: the best single one takes 6.88 times its time."
draw = drawn("bfs", lambda runs: runs.optimum)

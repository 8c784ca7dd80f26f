"""HPGraph's steps (its figure 6): which programs and modes they are, and one run of each.

Paper: HPGraph, section 5; programs: `gpop.matrix.programs`.
"""

from __future__ import annotations

from typing import Any

import gpop
from gpop.matrix import programs
from perf.gpu_contenders import Outcome

APPS = ("bfs", "sssp", "pagerank")

STEPS = {
    "CSR, a thread per row": (False, "vertex-pull"),
    "HYB": (False, "hyb"),
    "HYB, bottom-up": (True, "hyb"),
    "gpop's choice": (True, "auto"),
}
"""Of HPGraph's figure 6: whether BFS may go bottom-up, and the mode."""


def steps_of(app: str) -> dict[str, tuple[bool, str]]:
    """Those of `STEPS` that make a difference to an app."""
    return {name: step for name, step in STEPS.items() if app == "bfs" or name != "HYB, bottom-up"}


def searched(graph: gpop.Graph, app: str, source: int, bottom_up: bool, mode: str, target: str) -> Outcome:
    """One run of a program of HPGraph; of PageRank one iteration of 20."""
    options: dict[str, Any] = {"mode": mode, "target": target}
    if app == "pagerank":
        values, run = programs.pagerank(graph, tolerance=0, iterations=20, **options)
        return Outcome(run.seconds / max(run.iterations, 1), run.iterations, 0, values)
    if app == "bfs":
        values, _, run = programs.bfs(graph, source, bottom_up=bottom_up, **options)
    else:
        values, run = programs.sssp(graph, source, **options)
    return Outcome(run.seconds, run.iterations, 0, values)

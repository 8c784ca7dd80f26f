"""The implementations that two papers compare on a GPU, by their names: 19 of PageRank and 56 of BFS.

Each is a strategy by name (`gpop.model.strategies`) in the form of the papers: without a list of active
vertices (masked), and for BFS with one of four ways to count the next frontier, which end the name: none,
``-bulk``, ``-warpreduce``, ``-blockreduce``. ``-16-64`` is the size of a virtual warp and the vertices that
it takes at once; of the four sizes the papers name this one. ``NoDiv`` is `perf.paper_pagerank.NoDiv`. What
gpop has by name beside them is `NAMED`.

Those of BFS are gpop's own in a mode (`perf.own`), so that the log of steps has them; those of PageRank are a
family (`perf.implementations`) of which none is registered unless it is asked for: ``python -m perf
gpu-strategies``.
Papers: Verstraaten, Varbanescu, de Laat, "Quantifying the performance impact of graph structure on neighbour
iteration strategies for PageRank" (2015); Verstraaten, "Analysis and prediction
of GPU graph algorithm performance" (2022).
"""

from __future__ import annotations

from typing import Any

import gpop
from gpop.model.asked import asked_on
from gpop.model.strategies import TREE
from perf.implementations import Prepared
from perf.paper_pagerank import PROGRAMS, ranks

LIBRARY = "gpop"
THREADED = True
IMPLEMENTATIONS: dict[str, dict] = {}

SIZES = ("8-32", "16-64", "32-32", "32-128")
COUNTED = {"": "each", "-bulk": "bulk", "-warpreduce": "warp", "-blockreduce": "block"}
LISTS = ("edge-list", "struct-edge-list", "reverse-edge-list", "reverse-struct-edge-list")
"""Of edges; BFS and PageRank have them both, and push and pull by vertices."""

TOLERANCE = 1e-5
"""Of ranks."""


def _walks(extra: tuple[str, ...] = ()) -> dict[str, str]:
    """Name -> strategy, of those without and with virtual warps; ``extra`` ends the names of more pulls."""
    plain = {name: name for name in (*LISTS, "vertex-push", "vertex-pull")}
    plain |= {f"vertex-pull{end}": "vertex-pull" for end in extra}
    warps = {"vertex-push-warp": "vertex-push-warp", "vertex-pull-warp": "vertex-pull-warp"}
    warps |= {f"vertex-pull-warp{end}": "vertex-pull-warp" for end in extra}
    sized = {f"{name}-{size}": f"{walk}:{size}" for name, walk in warps.items() for size in SIZES}
    return plain | sized


def _flags(mode: str, program: str | None = None) -> dict[str, Any]:
    if program is None:
        return {"family": "gpop", "mode": mode, "target": "gpu"}
    return {"family": "paper", "mode": mode, "target": "gpu", "program": program, "tolerance": TOLERANCE}


PAPER = {
    "pagerank": {
        name: _flags(walk, "NoDiv" if "-nodiv" in name else "Dividing")
        for name, walk in _walks(("-nodiv",)).items()
    },
    "bfs": {
        name + end: _flags(f"{walk}/masked/{how}")
        for name, walk in _walks().items()
        for end, how in COUNTED.items()
    },
}
"""Algorithm -> name -> flags."""

NAMED = {name: {f"gpu-{mode}": _flags(mode) for mode in asked_on("gpu") if mode != TREE} for name in PAPER}


def prepare(algorithm: str, graph: gpop.Graph, variant: dict, flags: dict, threads: int) -> Prepared:
    """``flags``: options of `gpop.run`, and the program of PageRank."""
    options = {name: flags[name] for name in ("mode", "target")} | {"threads": threads}
    cls = PROGRAMS[flags["program"]]
    return Prepared(
        call=lambda: ranks(cls, graph, variant["damping"], variant["iterations"], **options),
        answer=lambda result: result[0],
        run=lambda result: result[1],
    )

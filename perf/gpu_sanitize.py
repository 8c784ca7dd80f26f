"""Run one app on a small graph on the GPU, in every mode, for compute-sanitizer to watch.

What is taken by its name alone is divided among the apps: each of those is watched with some of them. Those
without messages have no modes.

``compute-sanitizer --tool memcheck python -m perf.gpu_sanitize bfs``. Every array gets an allocation of
its own, so that memcheck sees where it ends, and results are compared with the CPU's. ``perf/gpu_check.sh``
runs this for every app.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import gpop
from gpop.apps.with_messages import APPS
from gpop.compare import differs
from gpop.execution.options import Target
from gpop.generate import generate
from gpop.gpu import engine
from gpop.gpu.device import cupy
from gpop.gpu.direct import triangles
from gpop.model.strategies import ASKED, MODES, TREE, asked_on

BY_NAME = [asked for asked in asked_on("gpu")[1 + len(MODES) :] if asked != TREE]
PARTS = 4

DIRECT: dict[str, Callable[[gpop.Graph, Target], np.ndarray]] = {
    "afforest": lambda graph, target: gpop.connected_components(graph, "afforest", target=target).label,
    "clustering": lambda graph, target: gpop.clustering(graph, target=target).coefficient,
    "lists": lambda graph, target: gpop.sssp(graph, 0, method="lists", target=target).distance,
    "triangles": lambda graph, target: np.array([gpop.triangle_count(graph, target=target).count]),
}
"""What works on adjacency lists, and its answer."""

WATCHED = (*APPS, *DIRECT)


def main(name: str) -> int:
    """Exit code 1 if a result is not the CPU's."""
    cupy().cuda.set_allocator(None)
    engine.SLICE_NS = 10**12  # everything is slow while it is watched
    # Vertices of more than 256 edges, and more edges than one block takes alone.
    graph = generate("rmat", scale=10, degree=8, seed=1, weights=(1, 255))
    if name in DIRECT:
        return without_messages(name, graph)
    app, source = APPS[name], int(np.argmax(graph.out_degree))
    common = {"partition_size": 64, "ratio": 1.0}
    expected = app.answer(graph, app.solve(graph, source, {"mode": "sc", "threads": 1, **common}))
    code = 0
    modes = (*ASKED[: 1 + len(MODES)], *BY_NAME[[*APPS].index(name) % PARTS :: PARTS])
    for mode in modes:
        result = app.solve(graph, source, {"mode": mode, "target": "gpu", **common})
        wrong = differs(app.answer(graph, result), expected)
        code |= wrong
        print(f"{name} {mode}: {result.run.iterations} iterations, {'WRONG' if wrong else 'as on the CPU'}")
    return int(code)


def without_messages(name: str, graph: gpop.Graph) -> int:
    """The same of an algorithm on adjacency lists, of the graph and of its symmetric copy."""
    triangles.LONG = 16  # so that some lists are
    code = 0
    for each in (graph, graph.symmetrize()):
        wrong = differs(DIRECT[name](each, "gpu"), DIRECT[name](each, "cpu"))
        code |= wrong
        print(f"{name} on {each!r}: {'WRONG' if wrong else 'as on the CPU'}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

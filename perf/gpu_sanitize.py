"""Run one app on a small graph on the GPU, in every mode, for compute-sanitizer to watch.

What is taken by its name alone is divided among the apps: each of those is watched with some of them. Those
without messages have no modes.

``compute-sanitizer --tool memcheck python -m perf.gpu_sanitize bfs``; ``bfs.1`` runs the first share of its
modes, one of `SHARES`, so that several are watched at once. Every array gets an allocation of its own, so
that memcheck sees where it ends, and results are compared with those of plain Python. ``perf/gpu_check.sh``
runs this for every app. ``GPOP_TEST_KERNELS`` says how little kernels are optimised, as for the tests.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np

import gpop
from gpop.apps.with_messages import APPS
from gpop.compare import differs
from gpop.execution.options import Target
from gpop.generate import generate
from gpop.gpu import choices, device, engine, kernel, limits
from gpop.gpu.device import cupy
from gpop.gpu.direct import triangles
from gpop.model.asked import ASKED, asked_on
from gpop.model.strategies import MODES, TREE

BLOCKS = 16
"""Of a launch, not one on every multiprocessor: they wait for each other as all would, and every barrier of
every block is looked at."""

BY_NAME = [asked for asked in asked_on("gpu")[1 + len(MODES) :] if asked != TREE]
PARTS = 4

DIRECT: dict[str, Callable[[gpop.Graph, Target], np.ndarray]] = {
    "afforest": lambda graph, target: gpop.connected_components(graph, "afforest", target=target).label,
    "clustering": lambda graph, target: gpop.clustering(graph, target=target).coefficient,
    "lists": lambda graph, target: gpop.sssp(graph, 0, method="lists", target=target).distance,
    "triangles": lambda graph, target: np.array([gpop.triangle_count(graph, target=target).count]),
}
"""What works on adjacency lists, and its answer."""

LEVELS: dict[str, dict[str, int]] = {
    "pieces": {"PIECE": 32},
    "sweeps": {"LEVEL_EDGES": 512},
    "asks": {"ASK_EDGES": 512, "ASK_SHARE": 1 << 20, "ASK_DEGREE": 0, "ASK_LEAST": 0},
}
"""Ways of the levels of small graphs, and limits with which searches and paths on this graph have them."""

SHARES = 2
"""Of the modes of an app, each of which is a kernel to compile and to watch."""

WATCHED = (*(f"{name}.{share}" for share in range(1, SHARES + 1) for name in APPS), *DIRECT)
"""What is run, several at once; then `LEVELS`, one by one."""


def main(asked: str) -> int:
    """Exit code 1 if a result is not that of plain Python, which has nothing to compile."""
    cupy().cuda.set_allocator(None)
    engine.SLICE_NS = 10**12  # everything is slow while it is watched
    all_of_it = device.current_device()
    device._device = lambda index: all_of_it._replace(multiprocessors=BLOCKS)
    kernel.compile_quickly(os.environ.get("GPOP_TEST_KERNELS"))
    # Vertices of more than 512 edges, and more edges than one block takes alone.
    graph = generate("rmat", scale=10, degree=8, seed=1, weights=(1, 255))
    name, _, share = asked.partition(".")
    if name in DIRECT:
        return without_messages(name, graph)
    if name in LEVELS:
        return in_levels(name, graph)
    app, source = APPS[name], int(np.argmax(graph.out_degree))
    common = {"partition_size": 64, "ratio": 1.0}
    expected = app.answer(graph, app.solve(graph, source, {"target": "python", **common}))
    code = 0
    for mode in modes_of(name)[int(share) - 1 :: SHARES] if share else modes_of(name):
        began = time.perf_counter()
        result = app.solve(graph, source, {"mode": mode, "target": "gpu", **common})
        wrong = differs(app.answer(graph, result), expected)
        code |= wrong
        said = "WRONG" if wrong else "as on the CPU"
        took = time.perf_counter() - began
        print(f"{name} {mode}: {result.run.iterations} iterations, {said}, {took:.1f} s", flush=True)
    return int(code)


def modes_of(name: str) -> tuple[str, ...]:
    """Those of every app, and its part of the strategies by name."""
    return (*ASKED[: 1 + len(MODES)], *BY_NAME[[*APPS].index(name) % PARTS :: PARTS])


def without_messages(name: str, graph: gpop.Graph) -> int:
    """The same of an algorithm on adjacency lists, of the graph and of its symmetric copy."""
    triangles.LONG = 16  # so that some lists are
    code = 0
    for each in (graph, graph.symmetrize()):
        wrong = differs(DIRECT[name](each, "gpu"), DIRECT[name](each, "cpu"))
        code |= wrong
        print(f"{name} on {each!r}: {'WRONG' if wrong else 'as on the CPU'}")
    return int(code)


def in_levels(name: str, graph: gpop.Graph) -> int:
    """Levels of several blocks and nothing else, more than once on what a run leaves."""
    for limit, value in {"ONE_BLOCK": 0, **LEVELS[name]}.items():
        setattr(limits, limit, value)
    choices.prefers_cluster = lambda vertices, edges: False
    source, code = int(np.argmax(graph.out_degree)), 0
    for app, options in (("bfs", {}), ("sssp", {"delta": np.inf})):
        expected = APPS[app].answer(graph, APPS[app].solve(graph, source, {"target": "python", **options}))
        for mode in ("auto", "sc", "auto"):
            result = APPS[app].solve(graph, source, {"mode": mode, "target": "gpu", **options})
            wrong = differs(APPS[app].answer(graph, result), expected)
            code |= wrong
            said = "WRONG" if wrong else "as on the CPU"
            print(f"{app} {mode} in {name}: {result.run.iterations} iterations, {said}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""The model of the first paper: a degree is two reads (offsets), lists of neighbours and edges are free.

Paper: Verstraaten, Varbanescu, de Laat, "Quantifying the performance impact of graph structure on neighbour
iteration strategies for PageRank" (Euro-Par 2015), section 3.2. Its text says that pull reads less than the
edge list; by its own formulas they read the same, and push reads less.
"""

from __future__ import annotations

from perf.workload import Linear, Work

KERNELS = {
    "edge": Work(reads=Linear(edges=3), atomics=Linear(edges=1)),
    "push": Work(reads=Linear(vertices=3), atomics=Linear(edges=1)),
    "pull": Work(reads=Linear(edges=3), writes=Linear(vertices=1)),
    "nodiv": Work(reads=Linear(edges=1), writes=Linear(vertices=1)),
}
CONSOLIDATE = {
    "plain": Work(Linear(vertices=2), Linear(vertices=2), Linear(vertices=1)),
    "nodiv": Work(Linear(vertices=4), Linear(vertices=2), Linear(vertices=1)),
}
READS = {"rank": 1, "degree": 2, "own degree": 2}
DIFFERENCES_TOGETHER = 1
"""Vertices whose differences are added by one atomic."""

"""The abstract model of the thesis: what its pseudocode (algorithms 1 to 9) reads; neighbours are free.

Paper: Verstraaten, "Analysis and prediction of GPU graph algorithm performance" (2022), chapter 6.
"""

from __future__ import annotations

from perf.workload import Linear, Work

KERNELS = {
    "edge": Work(reads=Linear(edges=4), atomics=Linear(edges=1)),
    "push": Work(reads=Linear(vertices=2), atomics=Linear(edges=1)),
    "pull": Work(reads=Linear(edges=2), writes=Linear(vertices=1)),
    "nodiv": Work(reads=Linear(edges=1), writes=Linear(vertices=1)),
}
CONSOLIDATE = {
    "plain": Work(Linear(vertices=2), Linear(vertices=2), Linear(vertices=1)),
    "nodiv": Work(Linear(vertices=3), Linear(vertices=2), Linear(vertices=1)),
}
READS = {"rank": 1, "degree": 1, "own degree": 1, "end": 1}
DIFFERENCES_TOGETHER = 1

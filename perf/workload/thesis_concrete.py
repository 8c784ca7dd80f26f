"""The concrete model of the thesis: all loads of compiled kernels, of arguments, offsets, neighbours, too.

A thread that walks loads a count and two pointers (8 bytes each, all else 4), the degree of a vertex that
pushes is the difference of its offsets, and differences of ranks are added by a warp together.
Paper: Verstraaten, "Analysis and prediction of GPU graph algorithm performance" (2022), ch. 6, appendix B.
"""

from __future__ import annotations

from fractions import Fraction

from perf.workload import Linear, Work

DIFFERENCES_TOGETHER = 32
ATOMICS = Linear(vertices=Fraction(1, DIFFERENCES_TOGETHER))
KERNELS = {
    "edge": Work(reads=Linear(edges=7), atomics=Linear(edges=1)),
    "push": Work(reads=Linear(vertices=6, edges=1), atomics=Linear(edges=1)),
    "pull": Work(reads=Linear(vertices=5, edges=3), writes=Linear(vertices=1)),
    "nodiv": Work(reads=Linear(vertices=5, edges=2), writes=Linear(vertices=1)),
}
CONSOLIDATE = {
    "plain": Work(Linear(vertices=2), Linear(vertices=2), ATOMICS),
    "nodiv": Work(Linear(vertices=3), Linear(vertices=2), ATOMICS),
}
READS = {"rank": 1, "degree": 1, "end": 1, "neighbour": 1, "offset": 1, "argument": 1}

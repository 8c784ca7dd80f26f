"""Analytical workload models of PageRank: how many reads, writes and atomics an iteration takes (V, E).

A model is a module with ``KERNELS``, the work of the four walks (edge, push, pull, nodiv), ``CONSOLIDATE``,
what follows each of them, and ``READS``, how many reads it counts for each event of the pseudocode
(perf/workload/pseudocode.py), by which counting finds the same. Models know no contention, no caches and no
imbalance within a warp: they are for ranking, and the papers show that they rank wrongly.
"""

from __future__ import annotations

import importlib
from fractions import Fraction
from types import ModuleType
from typing import NamedTuple

MODELS = {
    "Euro-Par 2015": "perf.workload.euro_par",
    "thesis, abstract": "perf.workload.thesis_abstract",
    "thesis, concrete": "perf.workload.thesis_concrete",
}


class Linear(NamedTuple):
    """So many for each vertex, so many for each edge."""

    vertices: Fraction | int = 0
    edges: Fraction | int = 0

    def __add__(self, other: Linear) -> Linear:  # type: ignore[override]
        return Linear(self.vertices + other.vertices, self.edges + other.edges)

    def __sub__(self, other: Linear) -> Linear:
        return Linear(self.vertices - other.vertices, self.edges - other.edges)

    def of(self, vertices: int, edges: int) -> Fraction:
        """For a graph of this size."""
        return Fraction(self.vertices) * vertices + Fraction(self.edges) * edges


class Work(NamedTuple):
    """Operations on global memory."""

    reads: Linear = Linear()
    writes: Linear = Linear()
    atomics: Linear = Linear()

    def __add__(self, other: Work) -> Work:  # type: ignore[override]
        return Work(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def __sub__(self, other: Work) -> Work:
        return Work(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))

    def of(self, vertices: int, edges: int) -> tuple[Fraction, Fraction, Fraction]:
        """Reads, writes and atomics on a graph of this size."""
        return tuple(part.of(vertices, edges) for part in self)


def model_named(name: str) -> ModuleType:
    """The module of a model."""
    return importlib.import_module(MODELS[name])


def kernel_of(implementation: str) -> str:
    """The walk that an implementation is of, to a model: arrays or structs, warps or not are the same.

    >>> [kernel_of(name) for name in ("reverse-edge-list", "vertex-pull-warp-nodiv-8-32", "vertex-push")]
    ['edge', 'nodiv', 'push']
    """
    if "edge-list" in implementation:
        return "edge"
    if "-nodiv" in implementation:
        return "nodiv"
    return "push" if "-push" in implementation else "pull"


def total(model: ModuleType, kernel: str) -> Work:
    """The work of an iteration, consolidation included."""
    return model.KERNELS[kernel] + model.CONSOLIDATE["nodiv" if kernel == "nodiv" else "plain"]


def operations(model: ModuleType, kernel: str, vertices: int, edges: int) -> float:
    """All operations of an iteration, each counted as one."""
    return float(sum(total(model, kernel).of(vertices, edges)))


def chosen(model: ModuleType, vertices: int, edges: int) -> str:
    """The walk with the fewest operations: a model as a chooser.

    >>> chosen(model_named("Euro-Par 2015"), 100, 1000), chosen(model_named("Euro-Par 2015"), 100, 90)
    ('push', 'edge')
    """
    return min(model.KERNELS, key=lambda kernel: operations(model, kernel, vertices, edges))

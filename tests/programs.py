"""Toy programs that the engine is tested with, and what the reference target makes of any program.

Each program and set of traits takes seconds to compile, so tests share these few. The compiled engine is
compared with `interpret`, that is ``target="python"``, which has tests of its own with answers worked out by
hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

import gpop
from gpop.graph.graph import Graph

NOWHERE = 0xFFFFFFFF
OFFSET = 0.25  # a module global that a function reads


class Smallest(gpop.Program):
    """Smallest label that reaches a vertex; the same fixpoint in any order of updates."""

    label = gpop.VertexField(np.uint32)
    inactive_message = gpop.HARMLESS
    combine = "min"

    def scatterFunc(self, node):
        return self.label[node]

    def gatherFunc(self, value, node):
        if value < self.label[node]:
            self.label[node] = value
            return True
        return False


class Distance(gpop.Program):
    """Shortest paths over weighted edges."""

    distance = gpop.VertexField(np.float64, np.inf)
    inactive_message = gpop.HARMLESS

    def scatterFunc(self, node):
        return self.distance[node]

    def applyWeight(self, value, weight):
        return value + weight

    def gatherFunc(self, value, node):
        if value < self.distance[node]:
            self.distance[node] = value
            return True
        return False


class Parents(gpop.Program):
    """Breadth-first search; the message of a vertex that was not reached would be taken for a parent."""

    parent = gpop.VertexField(np.uint32, NOWHERE)
    level = gpop.VertexField(np.int32, -1)
    inactive_message = NOWHERE

    def scatterFunc(self, node):
        return node

    def gatherFunc(self, value, node):
        if self.parent[node] == NOWHERE:
            self.parent[node] = value
            return True
        return False

    def filterFunc(self, node):
        self.level[node] = self.iteration + 1
        return True


class Colours(gpop.Program):
    """Sets of four colours; a vertex that has all of them wants no more messages."""

    mask = gpop.VertexField(np.uint8)

    def scatterFunc(self, node):
        return self.mask[node]

    def needsFunc(self, node):
        return self.mask[node] != 15

    def gatherFunc(self, value, node):
        if value & ~self.mask[node]:
            self.mask[node] |= value
            return True
        return False


class Rumours(gpop.Program):
    """A sum in which a stale, lost or doubled message shows; it declares nothing."""

    heard = gpop.VertexField(np.int64)
    arrived = gpop.VertexField(np.int64)

    def scatterFunc(self, node):
        return self.heard[node] % 1009 + np.int64(node) + 1

    def gatherFunc(self, value, node):
        self.heard[node] += value
        self.arrived[node] += 1
        return value % 3 != 0


class MarkedRumours(Rumours):
    """The same, with a value that stands for "no message"."""

    inactive_message = -1
    track_touched = True


class WeightedRumours(Rumours):
    """The same over edges with weights; the order of value and weight matters."""

    def applyWeight(self, value, weight):
        return value * weight + 1


class Drift(gpop.Program):
    """Mass flows along edges in float32, so the order of additions shows in the last bits."""

    mass = gpop.VertexField(np.float32)
    inflow = gpop.VertexField(np.float32)
    threshold = gpop.Parameter(np.float32, 1e-6)
    inactive_message = 0.0

    def scatterFunc(self, node):
        return self.mass[node] / np.float32(self.out_degree[node])

    def initFunc(self, node):
        self.mass[node] = 0
        return False

    def gatherFunc(self, value, node):
        self.inflow[node] += value
        return True

    def filterFunc(self, node):
        self.mass[node] += self.inflow[node]
        self.inflow[node] = 0
        return self.mass[node] > self.threshold and self.out_degree[node] > 0


class Rank(gpop.Program):
    """PageRank in float32: every vertex active; settles when no rank changes by more than ``eps``."""

    rank = gpop.VertexField(np.float32)
    inflow = gpop.VertexField(np.float32)
    eps = gpop.Parameter(np.float32)
    damping = gpop.Parameter(np.float32, 0.85)
    all_active = True

    def scatterFunc(self, node):
        return self.rank[node] / np.float32(self.out_degree[node])

    def gatherFunc(self, value, node):
        self.inflow[node] += value

    def filterFunc(self, node):
        before = self.rank[node]
        self.rank[node] = np.float32(1 - self.damping) + self.damping * self.inflow[node]
        self.inflow[node] = 0
        return abs(self.rank[node] - before) > self.eps


class Diary(gpop.Program):
    """Every call leaves a digit in the diary of its vertex: 1 init, 2 gather, 3 filter (base 4).

    A message is the sender's diary when it was scattered. Fields say what the functions answer.
    """

    diary = gpop.VertexField(np.int64)
    letter = gpop.VertexField(np.int64)
    keep = gpop.VertexField(np.bool_)
    wake = gpop.VertexField(np.bool_, True)
    stay = gpop.VertexField(np.bool_, True)

    def scatterFunc(self, node):
        return self.diary[node] + 1

    def initFunc(self, node):
        self.diary[node] = self.diary[node] * 4 + 1
        return self.keep[node]

    def gatherFunc(self, value, node):
        self.diary[node] = self.diary[node] * 4 + 2
        self.letter[node] += value
        return self.wake[node]

    def filterFunc(self, node):
        self.diary[node] = self.diary[node] * 4 + 3
        return self.stay[node]


class Flag(gpop.Program):
    """Messages of type bool; a field that no function uses."""

    marked = gpop.VertexField(np.bool_)
    note = gpop.VertexField(np.float64, 4.5)

    def scatterFunc(self, node):
        return not self.marked[node]

    def gatherFunc(self, value, node):
        if value and not self.marked[node]:
            self.marked[node] = True
            return True
        return False


def squared(x):
    """A helper that a function calls."""
    return x * x


def softened(x, by):
    """A helper that calls a helper."""
    return math.sqrt(squared(x) + abs(by)) - OFFSET


class Formula(gpop.Program):
    """What functions may use: helpers, module globals, math, NumPy types, parameters, the iteration."""

    value = gpop.VertexField(np.float64)
    largest = gpop.VertexField(np.int16, -5)
    strength = gpop.Parameter(np.float64, 0.5)
    shift = gpop.Parameter(np.int32, 2)
    all_active = True

    def scatterFunc(self, node):
        return softened(self.value[node], self.strength) + math.exp(-np.float64(self.iteration))

    def gatherFunc(self, value, node):
        self.largest[node] = max(self.largest[node], min(int(value * 100), 30000))
        self.value[node] += value * self.strength

    def filterFunc(self, node):
        self.value[node] = self.value[node] % 10.0 + self.shift * self.out_degree[node]
        return True


def interpret(program: gpop.Program, frontier: Iterable[int] | None = None, iterations: int = 10**9) -> dict:
    """Run a program as plain Python (`gpop.reference`); updates its fields.

    Returns the final ``frontier`` (a set), the number of ``iterations``, and per iteration ``sizes``
    (vertices in the frontier) and ``edges`` (their out-edges); and whether the run ``converged``.
    """
    frontier = None if frontier is None else np.array(list(frontier), np.int64)
    run = gpop.run(program, frontier, iterations=iterations, target="python")
    return {
        "frontier": set(run.frontier.tolist()),
        "iterations": run.iterations,
        "converged": run.converged,
        "sizes": run.trace.column("frontier").tolist(),
        "edges": run.trace.column("active_edges").tolist(),
    }


def program_class(text: str, file: str) -> type:
    """The class ``Toy`` of a source text, as if it stood in this file."""
    namespace = {"__name__": "toy"}
    exec(compile(text, file, "exec"), namespace)
    return namespace["Toy"]


def random_graph(seed: int, n: int, m: int, weights: bool = False) -> Graph:
    """Random edges, self-loops and duplicates included; about a third of the vertices have no out-edge."""
    rng = np.random.default_rng(seed)
    tails = rng.integers(0, max(1, 2 * n // 3), m)
    heads = rng.integers(0, n, m)
    return Graph.from_edges(tails, heads, rng.integers(0, 50, m).astype(np.uint32) if weights else None, n=n)


class Halved(gpop.Program):
    """Every vertex has half of what it had, whatever it hears; all together they lose half of that."""

    left = gpop.VertexField(np.float64, 1)
    heard = gpop.VertexField(np.float64)
    lost = gpop.VertexField(np.float64)
    least = gpop.Parameter(np.float64)
    all_active = True
    combine = "add"
    settles = "lost", "least"

    def scatterFunc(self, node):
        return self.left[node]

    def gatherFunc(self, value, node):
        self.heard[node] += value
        return True

    def filterFunc(self, node):
        self.lost[node] = self.left[node] / 2
        self.left[node] = self.lost[node]
        return True

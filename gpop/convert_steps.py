"""What ``python -m gpop.convert`` does to a graph, in order, and the memory that each step takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from gpop.common.errors import UsageError
from gpop.direct.components import largest_component
from gpop.graph import transform
from gpop.graph.build import DUPLICATES
from gpop.graph.graph import Graph
from gpop.graph.modify import weight_dtype

POLICIES = tuple(policy for policy in DUPLICATES if policy != "keep")


class Weights(NamedTuple):
    """A choice of weights: ``none``, ``random`` (low, high, seed) or ``constant`` (low)."""

    kind: str
    low: int = 0
    high: int = 0
    seed: int | None = None


class Step(NamedTuple):
    """Something done to the graph: its name, the function, and the bytes it takes for (n, m, weight)."""

    name: str
    change: Callable[[Graph], Graph]
    memory: Callable[[int, int, int], int]


def _csr_bytes(n: int, m: int, weight: int) -> int:
    return 8 * (n + 1) + (4 + weight) * m


def _build_bytes(n: int, m: int, weight: int) -> int:
    # of skewed graphs: one bucket, which is sorted at a time, may hold a good part of the edges
    return 8 * (n + 1) + (12 + 2 * weight) * m


def steps(given: argparse.Namespace) -> list[Step]:
    """What is asked for, in the order in which it is done."""

    def constant(graph: Graph) -> Graph:
        return transform.with_weights(graph, np.full(graph.m, given.weights.low, np.uint32))

    chosen = []
    if given.reverse:
        chosen.append(Step("reverse", lambda graph: graph.reverse(), _build_bytes))
    if given.remove_self_loops:
        chosen.append(Step("remove self-loops", transform.remove_self_loops, _csr_bytes))
    if given.remove_duplicates:
        change = partial(transform.remove_duplicates, policy=given.remove_duplicates)
        # sums of integers have 8 bytes: 2 * 8 while building, 8 as the widened input
        chosen.append(Step("remove duplicates", change, lambda n, m, w: _build_bytes(n, m, 12 if w else 0)))
    if given.symmetrize:
        chosen.append(
            Step("symmetrize", lambda graph: graph.symmetrize(), lambda n, m, w: _build_bytes(n, 2 * m, w))
        )
    if given.largest_component:
        # the graph turned round, where lists are in no order; the forest, labels and their counts; the part
        chosen.append(
            Step(
                "largest component",
                largest_component,
                lambda n, m, w: _build_bytes(n, m, w) + _csr_bytes(n, m, w) + 40 * n,
            )
        )
    if given.weights and given.weights.kind == "random":
        _, low, high, seed = given.weights
        seed = given.seed if seed is None else seed
        if not 0 <= seed < 2**64:
            raise UsageError(f"seed {seed} is not possible, expected 0..{2**64 - 1}")
        weight_dtype(low, high)  # a wrong range is found out before the work
        change = partial(transform.random_weights, low=low, high=high, seed=seed)
        chosen.append(Step("random weights", change, lambda n, m, w: 8 * m))
    if given.weights and given.weights.kind == "constant":
        chosen.append(Step("constant weights", constant, lambda n, m, w: 4 * m))
    if given.relabel:
        both = 2 if given.relabel in ("bfs", "rcm") else 1
        change = partial(transform.relabel, order=given.relabel, seed=given.seed)
        chosen.append(
            Step(f"relabel by {given.relabel}", change, lambda n, m, w: _build_bytes(n, both * m, w) + 20 * n)
        )
    return chosen


def predicted_bytes(n: int, m: int, weight: int, chosen: list[Step]) -> int:
    """Most memory that any step takes beside the graph it is given; edges may double on the way."""
    most = 0
    for step in chosen:
        most = max(most, step.memory(n, m, weight))
        if step.name == "symmetrize":
            m *= 2
        if step.name.endswith("weights"):
            weight = 4
    return most

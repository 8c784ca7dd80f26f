"""Runs that always ask (kernels/bottom_up.cuh), that are never alone, or whose edges are cut into pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from gpop.gpu import limits, prepared, strategies
from gpop.gpu.budgeted_graph import BudgetedGraph

ALONE = re.compile(r"ALONE_EDGES = \d+, ALONE_VERTICES = \d+;")


def may_pull(active_edges: float, needy_edges: float) -> bool:
    """In place of the chooser: always."""
    return active_edges + needy_edges >= 0.0


def prefers_asking(pushed: float, streamed: float, asked: float, fetched: float, ratio: float) -> bool:
    """In place of the chooser: always."""
    return pushed + streamed + asked + fetched + ratio >= 0.0


def missed_bytes(field_bytes: float, edges: float) -> float:
    """In place of what the model says: as if no field were in a cache, and memory slow."""
    return field_bytes * 0.0 + 1000.0 * edges


@contextmanager
def with_text(pattern: re.Pattern, text: str) -> Iterator[None]:
    """In the source of kernels this stands in place of what matches."""
    before = prepared.compile_kernel

    def compile_kernel(source: str):
        source, found = pattern.subn(text, source)
        assert found == 1
        return before(source)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared, "compile_kernel", compile_kernel)
        yield


@contextmanager
def never_alone() -> Iterator[None]:
    """Block 0 iterates alone where nothing is active only."""
    with (
        with_text(ALONE, "ALONE_EDGES = 0, ALONE_VERTICES = 0;"),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(limits, "LEVEL_EDGES", 0)
        yield


@contextmanager
def asking() -> Iterator[None]:
    """Every iteration of a run that may pull does."""
    with never_alone(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(strategies, "may_pull", may_pull)
        patch.setattr(strategies, "prefers_asking", prefers_asking)
        yield


def only_pages(patch: pytest.MonkeyPatch) -> None:
    """Edges that are streamed are cut into pages also where there is room for all."""
    patch.setattr(BudgetedGraph, "needed_bytes", lambda self, names: np.inf)

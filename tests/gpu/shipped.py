"""The programs of the apps, the gallery and `tests.programs`, each with a type of weights or None."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

import gpop
from gpop.apps.affine import Affine, WeightedAffine
from gpop.apps.bfs import BFS
from gpop.apps.cc import ConnectedComponents
from gpop.apps.heat_kernel import HeatKernel
from gpop.apps.independent_set import IndependentSet
from gpop.apps.nibble import Nibble
from gpop.apps.pagerank_nibble import PageRankNibble
from gpop.apps.pagerank_programs import (
    ConvergingPageRank,
    DoublePageRank,
    PageRank,
    WeightedConvergingDoublePageRank,
    WeightedPageRank,
)
from gpop.apps.sssp import SSSP, DoubleSSSP, FloatSSSP, WideSSSP
from tests import programs

APPS = {
    cls.__name__: (cls, weight)
    for cls, weight in [
        (BFS, None), (ConnectedComponents, None), (PageRank, None), (ConvergingPageRank, None),
        (DoublePageRank, None), (Nibble, None), (HeatKernel, None), (PageRankNibble, None),
        (IndependentSet, None), (Affine, None), (WeightedAffine, np.uint32),
        (WeightedPageRank, np.float32), (WeightedConvergingDoublePageRank, np.uint32),
        (SSSP, np.uint32), (WideSSSP, np.uint64), (FloatSSSP, np.float32), (DoubleSSSP, np.float64),
    ]
}  # fmt: skip


def _programs_of(module) -> dict:
    """Programs defined in a module; those with weights get whole numbers."""
    found = [
        value for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, gpop.Program) and value.__module__ == module.__name__
    ]  # fmt: skip
    weighted = gpop.Program.applyWeight
    return {cls.__name__: (cls, None if cls.applyWeight is weighted else np.uint32) for cls in found}


def _gallery() -> dict:
    found = {}
    for path in sorted((Path(__file__).resolve().parents[2] / "apps").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"gallery_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= _programs_of(module)
    return found


SHIPPED = APPS | _gallery() | _programs_of(programs)

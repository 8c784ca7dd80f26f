"""Courses of evolution, each measured once: what pictures of `gpop.generate.evolve` are drawn from."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpop.generate.degree_fit import Target, critical_distance
from gpop.generate.evolve import evolution
from perf.pictures.sheet import Sheet

SIGNIFICANCE = 0.05
CRITICAL_COLOUR = "#888888"


class Course(NamedTuple):
    """Of the fittest graph of every generation, the first population's included, and degrees in the end."""

    distance: list[float]
    connectivity: list[float]
    edges: list[int]
    degrees: list[int]
    seconds: float
    """Median of the generations'."""

    def fitting(self) -> int | None:
        """The first generation with a connected graph whose degrees are within p = 0.05, if there is one."""
        critical = critical_distance(SIGNIFICANCE, len(self.degrees))
        both = zip(self.distance, self.connectivity, strict=True)
        return next((i for i, (far, joined) in enumerate(both) if far <= critical and joined == 1), None)


class Courses(Sheet):
    """``sizes`` are numbers of vertices; a course ends after ``generations``, or after ``seconds``."""

    def __init__(
        self,
        folder: Path,
        words: list[str],
        sizes: tuple[int, ...],
        seeds: int,
        generations: int,
        seconds: float,
    ) -> None:
        super().__init__(folder, words)
        self.sizes, self.seeds = sizes, tuple(range(1, seeds + 1))
        self.generations, self.seconds = generations, seconds

    def course(self, vertices: int, target: str, crossover: str, mutation: str, seed: int) -> Course:
        """One course, measured or kept."""
        chosen = {"vertices": vertices, "target": target, "crossover": crossover, "mutation": mutation}
        key = {**chosen, "seed": seed, "generations": self.generations, "seconds": self.seconds}
        name = "-".join(map(str, (*chosen.values(), seed)))
        return Course(**self.measured(name, key, lambda: self._evolve(seed=seed, **chosen)._asdict()))

    def _evolve(self, **chosen: Any) -> Course:
        best, moments = [], []
        for population in islice(evolution(**chosen), self.generations + 1):
            best.append((population.distance[0], population.connectivity[0], len(population.edges[0])))
            moments.append(time.perf_counter())
            if moments[-1] - moments[0] > self.seconds:  # the first population compiles
                break
        edges = population.edges[0]
        ends = np.append(edges >> np.uint64(32), edges & np.uint64(0xFFFFFFFF)).astype(np.int64)
        degrees = np.bincount(ends, minlength=chosen["vertices"]).tolist()
        distance, connectivity, counts = map(list, zip(*best, strict=True))
        return Course(distance, connectivity, counts, degrees, float(np.median(np.diff(moments))))


def least_distance(target: Target, vertices: int) -> float:
    """What the degrees of no connected graph can come below: they are whole numbers from 1 on.

    Between d and d + 1 their distribution function is flat and the target's is not, and before 1 it is 0.

    >>> round(least_distance(Target("exponential", (0.1,)), 100), 3)
    0.095
    """
    table = target.table(vertices)
    return float(max(table[1], np.diff(table[1:]).max(initial=0) / 2, 1 - table[-1]))

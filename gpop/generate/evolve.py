"""Graph whose degrees follow a distribution, found by evolution.

M. Verstraaten's thesis, chapter 5. The graphs of a population are ranked by their *fitness*, (1 - distance)
times connectivity (`gpop.generate.degree_fit`). Every generation, pairs of distinct parents are drawn in
proportion to fitness, as many as there are graphs, and have a child each (`gpop.generate.offspring`). Of old
and new ones together the best fifth survives, and others drawn in proportion to fitness. The graph is the
fittest of the last generation; the best of one is never below that of the one before.

The graphs are directed, without self-loops and multiple edges; a degree counts both directions. At first
each edge is there with the probability that gives the expected number. Mutation changes about `CHANGES`
entries of the matrix of a child: ``flip`` each with the same probability, which draws the number of edges
towards half of all; ``balanced`` as many edges in as out, at the density that the target has.

``crossover`` and ``target`` are explained in the modules above.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.memory import require_memory
from gpop.common.parallel import for_each
from gpop.common.progress import progress_bar
from gpop.generate import check_sizes
from gpop.generate.degree_fit import CRITICAL, LEAST_SAMPLE, Target, critical_distance, fit, target_of
from gpop.generate.offspring import CROSSOVERS, child_of
from gpop.graph.build import Edges
from gpop.graph.graph import Graph
from gpop.graph.modify import hashes

UNDIRECTED = False
TAKES_LONG = True

POPULATION = 100
BEST = 2 * POPULATION // 5
CHANGES = 10

MUTATIONS = ("flip", "balanced")


class Candidates(NamedTuple):
    """Graphs as `gpop.generate.offspring` has them, and how good each is."""

    edges: list[np.ndarray]
    distance: np.ndarray
    connectivity: np.ndarray

    @property
    def fitness(self) -> np.ndarray:
        """What parents and survivors are drawn by, and the best are known by."""
        return (1 - self.distance) * self.connectivity

    def chosen(self, which: np.ndarray) -> Candidates:
        """Some of them."""
        return Candidates([self.edges[i] for i in which], self.distance[which], self.connectivity[which])

    def __add__(self, other: Candidates) -> Candidates:  # type: ignore[override]
        return Candidates(
            self.edges + other.edges,
            np.append(self.distance, other.distance),
            np.append(self.connectivity, other.connectivity),
        )


def evolution(seed: int, vertices: int, target: str, crossover: str, mutation: str) -> Iterator[Candidates]:
    """The population at first and after every generation, the fittest graph first, without end."""
    check_sizes(2, vertices=vertices)
    for name, value, known in (("crossover", crossover, CROSSOVERS), ("mutation", mutation, MUTATIONS)):
        if value not in known:
            raise UsageError(f"{name} {value!r} is unknown, expected one of {', '.join(known)}")
    wanted = target_of(target)
    density = _density(wanted, vertices)
    insert, remove = mutation_rates(mutation, vertices, density)
    require_memory(
        int(2 * POPULATION * 8 * density * vertices * (vertices - 1)),
        f"a population of {POPULATION} graphs of {vertices} vertices",
    )
    table = wanted.table(vertices)
    seeds = _seeds(seed)
    nothing = np.empty(0, np.uint64)

    def candidates(own_seed, pairs, insert, remove):
        edges: list = [None] * len(pairs)
        distance, connectivity = np.empty((2, len(pairs)))

        def make(i):
            edges[i] = child_of(
                *pairs[i],
                CROSSOVERS[crossover],
                own_seed,
                np.uint64(4 * POPULATION + i),
                vertices,
                insert,
                remove,
            )
            distance[i], connectivity[i] = fit(edges[i], vertices, table)

        for_each(len(pairs), make)
        return Candidates(edges, distance, connectivity)

    population = candidates(next(seeds), [(nothing, nothing)] * POPULATION, density, 0.0)
    for own_seed in seeds:
        population = population.chosen(np.argsort(-population.fitness, kind="stable"))
        yield population
        first, second, survival = np.split(
            hashes(int(own_seed), 4 * POPULATION) / 2**64, (POPULATION, 2 * POPULATION)
        )
        pairs = [
            (population.edges[i], population.edges[j])
            for i, j in zip(*_parents(population.fitness, first, second), strict=True)
        ]
        population += candidates(own_seed, pairs, insert, remove)
        population = population.chosen(_survivors(population.fitness, survival))


def _seeds(seed: int) -> Iterator[np.uint64]:
    """One for each generation."""
    block = 1 << 10
    number = 0
    while True:
        yield from hashes(seed ^ 0x65766F6C7665, number + block)[number:]
        number += block


def _density(target: Target, vertices: int) -> float:
    """Share of the entries that are edges when degrees are as expected."""
    density = target.mean / (2 * (vertices - 1))
    if density > 1:
        raise UsageError(
            f"a mean degree of {target.mean:g} is not possible, expected at most {2 * (vertices - 1)}"
            f" with {vertices} vertices"
        )
    return density


def mutation_rates(mutation: str, vertices: int, density: float) -> tuple[float, float]:
    """Probabilities that an absent edge is inserted and that an edge is removed.

    >>> mutation_rates("flip", 100, 0.25), mutation_rates("balanced", 100, 0.25)
    ((0.001, 0.001), (0.0006666666666666666, 0.002))
    """
    rate = min(CHANGES / vertices**2, 1.0)
    if mutation == "flip":
        return rate, rate
    return min(rate / 2 / max(1 - density, rate), 1.0), min(rate / 2 / density, 1.0)


def _parents(fitness: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two different graphs for each pair of numbers from 0 to 1, in proportion to fitness."""
    weights = np.maximum(fitness, 1e-12)
    ends = np.cumsum(weights)
    last = len(ends) - 1
    one = np.minimum(np.searchsorted(ends, first * ends[-1], "right"), last)
    place = second * (ends[-1] - weights[one])
    place += np.where(place >= ends[one] - weights[one], weights[one], 0)
    other = np.minimum(np.searchsorted(ends, place, "right"), last)
    return one, np.where(other == one, (one + 1) % len(ends), other)  # equal by rounding only


def _survivors(fitness: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The best, and others in proportion to fitness, without replacement.

    The least of ``-log(number) / weight`` are such a sample (Efraimidis, Spirakis: Weighted random
    sampling with a reservoir, IPL 2006).
    """
    order = np.argsort(-fitness, kind="stable")
    rest = order[BEST:]
    weights = np.maximum(fitness[rest], 1e-12)
    lots = -np.log(np.maximum(numbers[: len(rest)], 2.0**-64)) / weights
    return np.append(order[:BEST], rest[np.argsort(lots, kind="stable")[: POPULATION - BEST]])


def edges(
    seed: int,
    vertices: int,
    target: str,
    crossover: str,
    mutation: str,
    generations: int,
    progress: bool = False,
) -> tuple[int, Edges]:
    """The fittest graph after so many generations: (n, edges)."""
    check_sizes(0, generations=generations)
    course = evolution(seed, vertices, target, crossover, mutation)
    best = next(course).edges[0]
    with progress_bar(generations, "evolving", "generation", progress) as bar:
        for population in islice(course, generations):
            best = population.edges[0]
            bar.update()

    def chunk(first, last):
        return (best[first:last] >> np.uint64(32)).astype(np.uint32), best[first:last].astype(np.uint32), None

    return vertices, Edges(len(best), chunk)


def remark(graph: Graph, target: str, **sizes: object) -> str:
    """How well the degrees of a graph fit, in words."""
    wanted = target_of(target)
    sources = np.repeat(np.arange(graph.n, dtype=np.uint64), graph.out_degree)
    distance, connectivity = fit(sources << np.uint64(32) | graph.indices, graph.n, wanted.table(graph.n))
    text = f"degrees are {distance:.3f} from {target}"
    if graph.n >= LEAST_SAMPLE:
        p = max((p for p in CRITICAL if distance <= critical_distance(p, graph.n)), default=None)
        said = f"within p = {p:.2f}" if p else f"beyond p = {min(CRITICAL):.2f}"
        text += f" ({said} of the Kolmogorov-Smirnov test)"
    return f"{text}; {connectivity:.0%} of the vertices are weakly connected"

"""What mutation alone does to the number of edges."""

from __future__ import annotations

import numpy as np

from gpop.generate.evolve import MUTATIONS, mutation_rates
from gpop.generate.offspring import CROSSOVERS, child_of
from perf.pictures.courses import Courses
from perf.pictures.study import legend_below, panels

TITLE = "Mutation alone (section 5.4)"
PAPER = (
    "Flipping bits leads to graphs with half of all edges, whatever the target; probabilities of their own "
    "for inserting and removing are proposed instead."
)
VERTICES = 100
DENSITY = 0.05
COLOURS = dict(zip(MUTATIONS, ("#d95f02", "#1b9e77"), strict=True))


def lineage(mutation: str, generations: int, seed: int) -> list[float]:
    """Densities of a graph, its mutated child, the child of that ..., nobody selected."""
    entries = VERTICES * (VERTICES - 1)
    nothing = np.empty(0, np.uint64)
    rates = [(DENSITY, 0.0)] + [mutation_rates(mutation, VERTICES, DENSITY)] * generations
    edges, densities = nothing, []
    for generation, (insert, remove) in enumerate(rates):
        edges = child_of(edges, edges, CROSSOVERS["edge"], np.uint64(seed), np.uint64(generation), VERTICES,
                         insert, remove)  # fmt: skip
        densities.append(len(edges) / entries)
    return densities


def expected(mutation: str, generations: np.ndarray) -> np.ndarray:
    """What the densities are on average."""
    insert, remove = mutation_rates(mutation, VERTICES, DENSITY)
    balance = insert / (insert + remove)
    return balance + (DENSITY - balance) * (1 - insert - remove) ** generations


def draw(courses: Courses) -> list[str]:
    """Density over generations, of every seed, and its expectation."""
    figure, ((panel,),) = panels(1, width=5, height=3.6)
    generations = np.arange(courses.generations + 1)
    said = []
    for mutation in MUTATIONS:
        found = np.array([lineage(mutation, courses.generations, seed) for seed in courses.seeds])
        panel.plot(generations, found.T, color=COLOURS[mutation], alpha=0.6, linewidth=0.8)
        panel.plot(
            generations, expected(mutation, generations), "--", color=COLOURS[mutation], label=mutation
        )
        said.append(
            f"{mutation}: from {found[:, 0].mean():.3f} to {found[:, -1].mean():.3f} of all entries in "
            f"{courses.generations} generations ({expected(mutation, generations)[-1]:.3f} expected)."
        )
    panel.set(xlabel="generation", ylabel="density", ylim=(0, None))
    legend_below(figure, panel)
    courses.save(figure, f"{VERTICES} vertices")
    return said

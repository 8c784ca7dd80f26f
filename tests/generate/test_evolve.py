"""Evolution: elitism, selection, what it comes to and that it is the same for any number of threads."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from gpop.generate.degree_fit import DEFAULTS, critical_distance, target_of
from gpop.generate.evolve import BEST, MUTATIONS, POPULATION, _parents, _survivors, evolution
from tests.conftest import SEED


def until_fitting(seed, target, mutation, generations, vertices=100):
    """Generations until the best graph is connected and its degrees are the target's at p = 0.05, if so."""
    critical = critical_distance(0.05, vertices)
    course = evolution(seed, vertices, target, "union", mutation)
    for generation, population in enumerate(islice(course, generations + 1)):
        if population.distance[0] <= critical and population.connectivity[0] == 1:
            return generation
    return None


def test_a_hundred_vertices_reach_p_of_5_percent():
    """The hardest of the three targets."""
    assert until_fitting(1, "uniform", "balanced", 300) is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("target", DEFAULTS)
def test_a_hundred_vertices_reach_p_of_5_percent_with_every_seed(target, mutation, seed):
    assert until_fitting(seed, target, mutation, 1000) is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("target", ["uniform", "normal"])
def test_a_thousand_vertices_reach_p_of_5_percent(target, seed):
    """Nobody can for the exponential one: half of its step from 0 to 1 is more than the critical distance."""
    step = target_of("exponential").below(np.array([0, 1]))
    assert np.diff(step)[0] / 2 > critical_distance(0.05, 1000)
    assert until_fitting(seed, target, "balanced", 1000, vertices=1000) is not None


@pytest.mark.parametrize("crossover", ["vertex", "edge", "point", "union"])
def test_the_best_is_never_lost(crossover):
    best = None
    for population in islice(evolution(SEED, 40, "normal:12:6", crossover, "flip"), 25):
        assert len(population.edges) == POPULATION
        assert (np.diff(population.fitness) <= 0).all()
        assert best is None or population.fitness[0] >= best
        best = population.fitness[0]
    first = next(evolution(SEED, 40, "normal:12:6", crossover, "flip"))
    assert best > first.fitness[0]


def test_the_first_graphs_have_the_expected_edges():
    first = next(evolution(SEED, 100, "uniform:0:40", "vertex", "flip"))
    edges = np.array([len(each) for each in first.edges])
    assert edges.mean() == pytest.approx(100 * 20 / 2, rel=0.02)
    assert len({each.tobytes() for each in first.edges}) == POPULATION


def test_any_number_of_threads(monkeypatch):
    def course():
        return list(islice(evolution(3, 50, "exponential:0.2", "edge", "balanced"), 4))

    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    alone = course()
    monkeypatch.setenv("NUMBA_NUM_THREADS", "4")
    for one, other in zip(alone, course(), strict=True):
        assert all(map(np.array_equal, one.edges, other.edges))
        assert np.array_equal(one.fitness, other.fitness)


def test_parents_are_two_and_drawn_by_fitness():
    draws = np.random.default_rng(SEED).random((2, 200_000))
    fitness = np.array([0.1, 0.4, 0.2, 0.3])
    first, second = _parents(fitness, *draws)
    assert (first != second).all()
    assert np.bincount(first) / len(first) == pytest.approx(fitness, abs=0.01)
    for one in range(4):
        others = np.where(np.arange(4) == one, 0, fitness)
        drawn = second[first == one]
        assert np.bincount(drawn, minlength=4) / len(drawn) == pytest.approx(others / others.sum(), abs=0.01)
    one, two = _parents(
        np.zeros(4), np.array([0, 1.0]), np.array([0, 1.0])
    )  # numbers rounded to 1, no weights
    assert (one != two).all()


def test_survivors_are_the_best_and_others_by_fitness():
    random = np.random.default_rng(SEED)
    fitness = random.permutation(np.where(np.arange(2 * POPULATION) < BEST, 1.0, 0.0))
    best = fitness == 1
    rest = np.flatnonzero(~best)
    fitness[rest] = np.where(np.arange(len(rest)) < len(rest) // 2, 0.2, 0.6)
    survived = np.zeros(2 * POPULATION)
    for _ in range(400):
        survivors = _survivors(fitness, random.random(2 * POPULATION))
        assert len(set(survivors)) == len(survivors) == POPULATION
        survived[survivors] += 1 / 400
    assert (survived[best] > 1 - 1e-9).all()
    low, high = (survived[fitness == value].mean() for value in (0.2, 0.6))
    expected = weighted_sample(np.repeat([0.2, 0.6], len(rest) // 2), POPULATION - BEST, random)
    assert (low, high) == (pytest.approx(expected[0], abs=0.02), pytest.approx(expected[1], abs=0.02))


def weighted_sample(weights, count, random):
    """Shares of two halves in samples without replacement, drawn by NumPy one after the other."""
    chance = weights / weights.sum()
    drawn = np.zeros(len(weights))
    for _ in range(400):
        drawn[random.choice(len(weights), count, replace=False, p=chance)] += 1 / 400
    half = len(weights) // 2
    return drawn[:half].mean(), drawn[half:].mean()

"""A graph, programs on it and what they come to; and whether a graph is usable after a run that failed."""

from __future__ import annotations

import numpy as np

import gpop
from tests.programs import MarkedRumours, Rank, Rumours, Smallest, interpret, random_graph

GRAPH = random_graph(1, 200, 900)


def smallest(graph=GRAPH, seed=0):
    """A program with random labels."""
    program = Smallest(graph)
    program.label = np.random.default_rng(seed).permutation(graph.n)
    return program


def fixpoint(graph=GRAPH, seed=0):
    """What its labels become."""
    program = smallest(graph, seed)
    interpret(program)
    return program.label


def rank(graph=GRAPH, eps=-1):
    """A program that never settles unless ``eps`` says so."""
    program = Rank(graph)
    program.rank, program.eps = 1, eps
    return program


def assert_usable(graph):
    """Runs come to what they should, in every mode."""
    for mode in ("sc", "pc", "auto"):
        program, expected = Rumours(graph), Rumours(graph)
        wanted = interpret(expected, [3, 50], iterations=4)
        run = gpop.run(program, [3, 50], iterations=4, mode=mode, threads=1, partition_size=16)
        assert np.array_equal(program.heard, expected.heard)
        assert sorted(run.frontier.tolist()) == sorted(wanted["frontier"])
        marked = gpop.run(MarkedRumours(graph), [3], iterations=1, threads=1, partition_size=16)
        assert 3 in marked.touched

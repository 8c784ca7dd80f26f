"""Counted runs of label propagation on a small graph, and what they must touch."""

from __future__ import annotations

import numpy as np

import gpop
from gpop.generate import generate
from tests.programs import Smallest

BITS = 5
RMAT = generate("rmat", scale=10, degree=8, seed=11)


def smallest(graph=RMAT, seed=0):
    program = Smallest(graph)
    program.label = np.random.default_rng(seed).permutation(graph.n)
    return program


def count(program, frontier=None, **options):
    options = {"partition_size": 1 << BITS, "threads": 1, "counters": True, **options}
    return gpop.run(program, frontier, **options)


class Expected:
    """What a scatter of these vertices must touch, from the graph alone."""

    def __init__(self, graph, frontier, bits=BITS):
        frontier = np.unique(frontier)
        tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
        rows, columns = tails >> bits, graph.indices >> bits
        active = np.isin(tails, frontier)
        scattered = np.isin(rows, frontier >> bits)  # PC: whole partitions
        self.k = -(-graph.n >> bits)
        self.edges = int(active.sum())
        self.messages = np.unique([tails[active], columns[active]], axis=1).shape[1]
        self.bins = np.unique([rows[active], columns[active]], axis=1).shape[1]
        self.all_edges = int(scattered.sum())
        self.all_messages = np.unique([tails[scattered], columns[scattered]], axis=1).shape[1]
        self.all_bins = np.unique([rows[scattered], columns[scattered]], axis=1).shape[1]
        self.partitions = np.unique(frontier >> bits)


def frontiers():
    rng = np.random.default_rng(4)
    return {
        "hub": [int(np.argmax(RMAT.out_degree))],
        "leaf": [int(np.argmin(RMAT.out_degree))],
        "sparse": rng.choice(1024, 12),
        "half": rng.choice(1024, 512),
        "all": np.arange(1024),
    }


def mostly_inside():
    """Vertices with 6 edges in their partition and 2 to others."""
    rng = np.random.default_rng(8)
    tails = np.repeat(np.arange(1024), 8)
    inside = (tails >> BITS << BITS) + rng.integers(0, 1 << BITS, tails.size)
    anywhere = rng.integers(0, 1024, tails.size)
    return gpop.Graph.from_edges(tails, np.where(np.arange(tails.size) % 8 < 6, inside, anywhere))

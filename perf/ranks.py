"""``python -m perf ranks``: what several ranks send each other, counted beside predicted.

    python -m perf ranks rmat:scale=20,degree=16,symmetrize,permute --ranks 2,4,8,16
    python -m perf ranks road.bin uniform:scale=18 --ranks 2,3

Counted: the graph is cut as a job of so many ranks would cut it, and mirrors are counted: one value travels
for each in an iteration in which all vertices are active. ``bytes`` is what an exchange sends for them,
headers included. Predicted: `gpop.model.traffic.values_sent`, from out-degrees alone. ``edges`` is the
largest share of a rank over the mean. No MPI is needed for any of this.

Then on paper, PageRank on RMAT graphs of 32 edges per vertex: values of 4 bytes, a network of 100 Gb/s of
which 0.8 are reached, 8.6 G edges/s for a node of 16 cores. Memory of a node is that of its edges (6 bytes
in CSR and bins, and 8 for each message, of which there are 0.3 for an edge), mirrors, and 3 fields of all
vertices: fields are as long as the whole graph on every rank.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.cpu.exchange import HEADER
from gpop.layout.partition import partition_bits
from gpop.model.traffic import rmat_values_sent, values_sent
from gpop.ranks.part import cut, partition_in_edges
from perf.graphs import open_graph
from perf.parser import documented
from perf.provenance import perf_command, written

VALUE_BYTES, EDGES_PER_VERTEX = 4, 32
NETWORK, EDGE_RATE = 100e9 / 8 * 0.8, 8.6e9
EDGE_BYTES, MIRROR_BYTES, VERTEX_BYTES = 6 + 0.3 * 8, 40, 3 * 4 + 4
PAPER = ((30, 16), (31, 32), (32, 64), (33, 128), (34, 256), (35, 512), (36, 1024))
"""Scale and nodes."""


class Counted(NamedTuple):
    """Mirrors of all ranks, bytes of an exchange, and the largest share of the edges over the mean."""

    values: int
    bytes: int
    balance: float


def count(graph: gpop.Graph, ranks: int) -> Counted:
    """Cut a graph and count what would travel.

    Examples
    --------
    >>> ring = gpop.Graph.from_edges(np.arange(64), (np.arange(64) + 1) % 64)
    >>> count(ring, 2).values
    2
    """
    bits = partition_bits(graph.n, ranks, edges=graph.m)
    in_edges = partition_in_edges(graph, bits)
    bounds = cut(in_edges, ranks, bits, graph.n)
    owner = np.repeat(np.arange(ranks), np.diff(bounds)).astype(np.int64)
    sources = np.repeat(np.arange(graph.n), graph.out_degree)
    to = owner[graph.indices]
    across = to != owner[sources]
    pairs = np.unique(sources[across] * ranks + to[across])
    between = np.bincount(owner[pairs // ranks] * ranks + pairs % ranks, minlength=ranks * ranks)
    words = HEADER * ranks * (ranks - 1) + ((between * VALUE_BYTES + 7) // 8).sum()
    shares = np.bincount(to, minlength=ranks)
    return Counted(pairs.size, int(8 * words), float(shares.max() * ranks / max(graph.m, 1)))


def counted_table(graph: gpop.Graph, ranks: list[int]) -> None:
    """Count and prediction side by side."""
    print(graph)
    print(f"{'ranks':>6}{'values':>13}{'of m':>8}{'predicted':>13}{'ratio':>8}{'MB':>9}{'edges':>7}")
    for number in ranks:
        found, expected = count(graph, number), values_sent(graph.out_degree, number)
        print(
            f"{number:6}{found.values:13,}{found.values / max(graph.m, 1):8.4f}{expected:13,.0f}"
            f"{found.values / max(expected, 1):8.4f}{found.bytes / 1e6:9.2f}{found.balance:7.2f}"
        )


def paper_table() -> None:
    """Time, traffic and memory of a node for graphs that nobody has here."""
    print(f"{'RMAT':>6}{'nodes':>7}{'GB sent':>9}{'network s':>11}{'compute s':>11}{'GB memory':>11}")
    for scale, nodes in PAPER:
        edges = (EDGES_PER_VERTEX << scale) / nodes
        values = rmat_values_sent(scale, EDGES_PER_VERTEX, nodes) / nodes
        memory = EDGE_BYTES * edges + MIRROR_BYTES * values + VERTEX_BYTES * 2**scale
        sent = VALUE_BYTES * values
        print(
            f"{scale:6}{nodes:7}{sent / 1e9:9.2f}{sent / NETWORK:11.2f}{edges / EDGE_RATE:11.2f}"
            f"{memory / 1e9:11.0f}"
        )


def _numbers(text: str) -> list[int]:
    if not all(word.isdecimal() and int(word) > 1 for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}: expected whole numbers from 2 on, separated by commas")
    return [int(word) for word in text.split(",")]


def _run(argv: list[str]) -> None:
    parser = documented("ranks", __doc__)
    parser.add_argument("graphs", nargs="*", help="files or generators; none: on paper only")
    parser.add_argument("--ranks", type=_numbers, default="2,4,8,16", help="separated by commas")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the output there too")
    given = parser.parse_args(argv)
    with written(given.out, perf_command("ranks", argv)):
        for spec in given.graphs:
            counted_table(open_graph(spec), given.ranks)
            print()
        paper_table()


def main(argv: list[str]) -> int:
    """Count and print the tables."""
    return exit_code(lambda: _run(argv))

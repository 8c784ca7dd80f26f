"""``python -m perf ranks``: what several ranks send each other, counted beside predicted.

    python -m perf ranks rmat:scale=20,degree=16,symmetrize,permute --ranks 2,4,8,16
    python -m perf ranks road.bin uniform:scale=18 --ranks 2,3

Counted: the graph is cut as a job of so many ranks would cut it, and mirrors are counted: one value travels
for each in an iteration in which all vertices are active. ``bytes`` is what an exchange sends for them,
headers included. Predicted: `gpop.model.traffic.values_sent`, from out-degrees alone. ``edges`` is the
largest share of a rank over the mean. The lines after ``grid`` say the same of a grid of ranks, which has the
edges of a hub in several places (`gpop.model.traffic`). No MPI is needed for any of this.

Then on paper, PageRank on RMAT graphs of 32 edges per vertex: values of 4 bytes, a network of 100 Gb/s of
which 0.8 are reached, 8.6 G edges/s for a node of 16 cores. Memory of a node is that of its edges (6 bytes
in CSR and bins, and 8 for each message, of which there are 0.3 for an edge), mirrors, and 3 fields of all
vertices: fields are as long as the whole graph on every rank. ``level us`` is what an iteration takes in
which next to nothing is active: 2 us for each rank that one speaks to, as measured between two processes of
one host (a network switch adds to that). On a grid, behind it, a value goes two ways, and to fewer ranks.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.cpu.exchange_wire import HEADER
from gpop.layout.partition import partition_bits
from gpop.model.traffic import (
    grid_of,
    grid_values_sent,
    rmat_grid_values_sent,
    rmat_values_sent,
    values_sent,
)
from gpop.ranks.part import cut
from perf.graphs import open_graph
from perf.parser import with_out
from perf.provenance import perf_command, written

VALUE_BYTES, EDGES_PER_VERTEX = 4, 32
NETWORK, EDGE_RATE, MESSAGE_US = 100e9 / 8 * 0.8, 8.6e9, 2
EDGE_BYTES, MIRROR_BYTES, VERTEX_BYTES = 6 + 0.3 * 8, 50, 3 * 4 + 4
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
    sources = np.repeat(np.arange(graph.n), graph.out_degree)
    owner = _owners(graph, graph.indices, ranks, ranks)
    between = _between(sources, owner, owner[graph.indices], ranks)
    shares = np.bincount(owner[graph.indices], minlength=ranks)
    return Counted(int(between.sum()), _bytes(between), _balance(shares))


def count_grid(graph: gpop.Graph, ranks: int) -> Counted:
    """The same on a grid: values down the columns, what was combined along the rows.

    Examples
    --------
    >>> ring = gpop.Graph.from_edges(np.arange(64), (np.arange(64) + 1) % 64)
    >>> count_grid(ring, 4).values                         # two leave their row, two their column
    4
    """
    rows, columns = grid_of(ranks)
    sources = np.repeat(np.arange(graph.n), graph.out_degree)
    row = _owners(graph, graph.indices, rows, ranks)
    column = _owners(graph, sources, columns, ranks)
    to, of = row[graph.indices], column[sources]
    down = _between(sources, row, to, rows)
    along = _between(graph.indices.astype(np.int64), column, of, columns)
    shares = np.bincount(to * columns + of, minlength=ranks)
    sent = _bytes(down, columns) + _bytes(along, rows)
    return Counted(int(down.sum() + along.sum()), sent, _balance(shares))


def _owners(graph: gpop.Graph, ends: np.ndarray, ranges: int, ranks: int) -> np.ndarray:
    """In which of so many ranges each vertex lies, which have about as many of these ends of edges each."""
    bits = partition_bits(graph.n, ranks, edges=graph.m)
    counts = np.bincount(ends >> bits, minlength=-(-graph.n >> bits))
    return np.repeat(np.arange(ranges), np.diff(cut(counts, ranges, bits, graph.n)))


def _between(vertices: np.ndarray, owner: np.ndarray, to: np.ndarray, ranges: int) -> np.ndarray:
    """Vertices that a range tells another, each once: a number for each pair; ``to``: where edges lead."""
    across = to != owner[vertices]
    pairs = np.unique(vertices[across] * ranges + to[across])
    return np.bincount(owner[pairs // ranges] * ranges + pairs % ranges, minlength=ranges * ranges)


def _bytes(between: np.ndarray, lines: int = 1) -> int:
    """A header for each pair in each of so many lines of ranks, and values in words."""
    pairs = (between.size - int(between.size**0.5)) * lines
    return int(8 * (HEADER * pairs + ((between * VALUE_BYTES + 7) // 8).sum()))


def _balance(shares: np.ndarray) -> float:
    return float(shares.max() * shares.size / max(shares.sum(), 1))


def counted_table(graph: gpop.Graph, ranks: list[int]) -> None:
    """Count and prediction side by side."""
    print(graph)
    in_degrees = np.bincount(graph.indices, minlength=graph.n)
    head = f"{'values':>13}{'of m':>8}{'predicted':>13}{'ratio':>8}{'MB':>9}{'edges':>7}"
    print(f"{'ranks':>12}{head}")
    for number in ranks:
        sides = "grid {} x {}".format(*grid_of(number))
        for name, found, expected in (
            (number, count(graph, number), values_sent(graph.out_degree, number)),
            (sides, count_grid(graph, number), grid_values_sent(graph.out_degree, in_degrees, number)),
        ):
            print(
                f"{name:>12}{found.values:13,}{found.values / max(graph.m, 1):8.4f}{expected:13,.0f}"
                f"{found.values / max(expected, 1):8.4f}{found.bytes / 1e6:9.2f}{found.balance:7.2f}"
            )


def paper_table() -> None:
    """Time, traffic and memory of a node for graphs that nobody has here, and on a grid."""
    sent = f"{'GB sent':>9}{'network s':>11}{'level us':>10}"
    print(f"{'RMAT':>6}{'nodes':>7}{'compute s':>11}{'GB memory':>11}{sent}{'grid':>9}{sent}")
    for scale, nodes in PAPER:
        edges = (EDGES_PER_VERTEX << scale) / nodes
        values = rmat_values_sent(scale, EDGES_PER_VERTEX, nodes) / nodes
        memory = EDGE_BYTES * edges + MIRROR_BYTES * values + VERTEX_BYTES * 2**scale
        rows, columns = grid_of(nodes)
        on_grid = rmat_grid_values_sent(scale, EDGES_PER_VERTEX, nodes) / nodes
        print(
            f"{scale:6}{nodes:7}{edges / EDGE_RATE:11.2f}{memory / 1e9:11.0f}{_sent(values, nodes - 1)}"
            f"{f'{rows} x {columns}':>9}{_sent(on_grid, rows + columns - 2)}"
        )


def _sent(values: float, others: int) -> str:
    """Cells of what a node sends in an iteration, to so many others."""
    sent = VALUE_BYTES * values
    return f"{sent / 1e9:9.2f}{sent / NETWORK:11.2f}{MESSAGE_US * others:10}"


def _numbers(text: str) -> list[int]:
    if not all(word.isdecimal() and int(word) > 1 for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}: expected whole numbers from 2 on, separated by commas")
    return [int(word) for word in text.split(",")]


def _run(argv: list[str]) -> None:
    parser = with_out("ranks", __doc__)
    parser.add_argument("graphs", nargs="*", help="files or generators; none: on paper only")
    parser.add_argument("--ranks", type=_numbers, default="2,4,8,16", help="separated by commas")
    given = parser.parse_args(argv)
    with written(given.out, perf_command("ranks", argv)):
        for spec in given.graphs:
            counted_table(open_graph(spec), given.ranks)
            print()
        paper_table()


def main(argv: list[str]) -> int:
    """Count and print the tables."""
    return exit_code(lambda: _run(argv))

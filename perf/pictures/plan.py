"""What the figures are drawn from: graphs, thread counts, implementations and repeats, by the scale.

Three datasets of the store. ``figures``: few graphs, all implementations, all threads. ``figures scaling``:
RMAT graphs up to the scale with every number of threads. ``figures degrees``: RMAT graphs of one size and
growing degree. The last two are measured with the dual mode only.
"""

from __future__ import annotations

from typing import NamedTuple

from gpop.common.memory import available_bytes
from perf.algorithms import ALGORITHMS
from perf.register import register_graphs, register_run_config
from perf.store import Store

MAIN, SCALING, DEGREES = "figures", "figures scaling", "figures degrees"
DUAL = "gpop-auto"
BYTES_PER_EDGE = 128
"""Memory that measuring takes, generously: the graph, its bins, weights, a peer's copy, the right answer."""


class Plan(NamedTuple):
    """Sizes of everything that is measured."""

    scale: int
    threads: tuple[int, ...]
    repeats: int
    quick: bool

    @property
    def most_threads(self) -> int:
        return self.threads[-1]

    @property
    def graphs(self) -> dict[str, list[str]]:
        """Specs of the graphs of each dataset."""
        scales = range(self.scale - max(2, self.most_threads.bit_length() - 1), self.scale + 1)
        main = [f"rmat:scale={self.scale},degree=16"]
        if not self.quick:
            side = 1 << self.scale // 2
            main += [f"uniform:scale={self.scale}", f"road:width={side},height={side}"]
        degrees = (1, 4) if self.quick else (1, 2, 4, 8, 16, 32)
        return {
            MAIN: main,
            SCALING: [f"rmat:scale={scale}" for scale in scales[-2 if self.quick else 0 :]],
            DEGREES: [f"rmat:scale={self.scale - 1},degree={degree}" for degree in degrees],
        }

    @property
    def implementations(self) -> dict[str, list[str]]:
        """Implementations to measure on each dataset; all where none is named."""
        return {MAIN: [], SCALING: [DUAL], DEGREES: [DUAL]}

    def register(self, store: Store) -> None:
        """Tell the store; what it knows already stays."""
        for dataset, specs in self.graphs.items():
            register_graphs(store, dataset, specs, "python -m gpop.generate")
            for threads in self.threads if dataset == SCALING else self.threads[-1:]:
                for app in ALGORITHMS:
                    register_run_config(store, app, dataset, threads, self.repeats)


def default_scale(threads: int) -> int:
    """RMAT scale that ends in about ten minutes on two cores, one more for every fourfold of threads.

    >>> default_scale(2) <= default_scale(32)
    True
    """
    scale = 18 + max(threads.bit_length() - 2, 0) // 2
    while 16 * BYTES_PER_EDGE << scale > available_bytes() and scale > 10:
        scale -= 1
    return scale


def team_sizes(threads: int) -> tuple[int, ...]:
    """Powers of two up to the number of threads, and that number.

    >>> team_sizes(6), team_sizes(1)
    ((1, 2, 4, 6), (1,))
    """
    return tuple(sorted({1 << i for i in range(threads.bit_length())} | {threads}))

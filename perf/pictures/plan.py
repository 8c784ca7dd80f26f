"""What the figures are drawn from: graphs, thread counts, implementations and repeats.

Datasets of the store. ``figures``: RMAT of every scale and other graphs, all implementations, all threads.
``figures scaling``: RMAT of every scale with every number of threads. ``figures weak T threads``: RMAT in
proportion to the threads. ``figures degrees``: RMAT of one size and growing degree. All but the first are
measured with gpop as it comes (`DEFAULT`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from gpop.common.errors import UsageError
from gpop.common.memory import available_bytes
from perf.algorithms import ALGORITHMS
from perf.graphs import BOTH_WAYS, file_of, name_of
from perf.hardware import platform_name
from perf.implementations import gpop_version, registered
from perf.register import register_graphs, register_run_config
from perf.run_benchmarks import family_of
from perf.store import MOST_RETRIES, Store

MAIN, SCALING, DEGREES = "figures", "figures scaling", "figures degrees"
DEFAULT, DUAL = "gpop", "gpop-auto"
REAL = {"soc-Slashdot0902": "", "cnr-2000": "", "dimacs9-FLA": BOTH_WAYS}
"""A social network, a web and a road network, whose file lists each road once."""

SCALES = (20, 22)
BYTES_PER_EDGE = 128
"""Memory that measuring takes, generously: the graph, its bins, weights, a peer's copy, the right answer."""

NS_PER_EDGE = {"pagerank": 60, "bfs": 15, "sssp": 40, "cc": 15, "nibble": 60}
PEER_FACTOR, ANSWER_NS, START_SECONDS = 8, 1500, 8
"""For the estimate: a run of gpop on one thread, how much longer a peer's takes, the right answers of a
graph, and what a worker takes to start."""


class Plan(NamedTuple):
    """Sizes of everything that is measured; ``scales`` ascend, ``real`` are files."""

    scales: tuple[int, ...]
    threads: tuple[int, ...]
    repeats: int
    quick: bool
    real: tuple[str, ...] = ()

    @property
    def most_threads(self) -> int:
        return self.threads[-1]

    @property
    def scale(self) -> int:
        """Of graphs that there are many of: the smallest."""
        return self.scales[0]

    @property
    def main(self) -> str:
        """Name of the graph that pictures of one graph are of: the largest RMAT."""
        return name_of(f"rmat:scale={self.scales[-1]},degree=16")

    @property
    def weak(self) -> dict[int, str]:
        """Threads and the graph for them."""
        first = self.scale - (self.most_threads.bit_length() - 1)
        teams = [1 << step for step in range(self.most_threads.bit_length())]
        return {threads: f"rmat:scale={first + step},seed=1" for step, threads in enumerate(teams)}

    @property
    def graphs(self) -> dict[str, list[str]]:
        """Specs of the graphs of each dataset."""
        main = [f"rmat:scale={scale},degree=16" for scale in self.scales]
        if not (self.quick or self.real):
            side = 1 << self.scale // 2
            main += [f"uniform:scale={self.scale}", f"road:width={side},height={side}"]
        degrees = (1, 4) if self.quick else (1, 2, 4, 8, 16, 32)
        return {
            MAIN: [*main, *self.real],
            SCALING: [f"rmat:scale={scale}" for scale in self.scales],
            **{weak_dataset(threads): [spec] for threads, spec in self.weak.items()},
            DEGREES: [f"rmat:scale={self.scale - 1},degree={degree}" for degree in degrees],
        }

    def teams(self, dataset: str) -> tuple[int, ...]:
        """Numbers of threads that a dataset is measured with."""
        if dataset == SCALING:
            return self.threads
        weak = [threads for threads in self.weak if weak_dataset(threads) == dataset]
        return tuple(weak) or self.threads[-1:]

    @property
    def implementations(self) -> dict[str, list[str]]:
        """Implementations to measure on each dataset; all where none is named."""
        return {dataset: [] if dataset == MAIN else [DEFAULT] for dataset in self.graphs}

    @property
    def turns(self) -> list[tuple[str, list[str]]]:
        """Dataset and implementations in the order of measuring: others, which take longest, come last."""
        families = {name: flags["family"] for app in ALGORITHMS for name, flags in registered(app).items()}
        own = sorted(name for name, family in families.items() if family == "gpop")
        rest = [(dataset, only) for dataset, only in self.implementations.items() if dataset != MAIN]
        return [(MAIN, own), *rest, (MAIN, sorted(set(families) - set(own)))]

    def register(self, store: Store) -> None:
        """Tell the store; what it knows already stays."""
        for dataset, specs in self.graphs.items():
            register_graphs(store, dataset, specs, "python -m gpop.generate, or files")
            for threads in self.teams(dataset):
                for app in ALGORITHMS:
                    register_run_config(store, app, dataset, threads, self.repeats)


def weak_dataset(threads: int) -> str:
    """Dataset of the graph for so many threads.

    >>> weak_dataset(4)
    'figures weak 4 threads'
    """
    return f"figures weak {threads} threads"


def estimate(store: Store, plan: Plan) -> float:
    """Seconds that measuring what the store lacks may take, roughly."""
    store.complete_variants()
    chosen = [
        job
        for job in store.missing(platform_name(), gpop_version(), MOST_RETRIES)
        if job["dataset"] in plan.graphs
        and job["implementation"] in (plan.implementations[job["dataset"]] or [job["implementation"]])
    ]
    seconds = 0.0
    for path in {job["path"] for job in chosen}:
        seconds += START_SECONDS + 1e-9 * ANSWER_NS * expected_edges(path)
    for job in chosen:
        factor = 1 / job["threads"] if family_of(job) == "gpop" else PEER_FACTOR
        once = 1e-9 * NS_PER_EDGE[job["algorithm"]] * expected_edges(job["path"]) * factor
        seconds += (job["repeats"] + 1) * once
    return seconds


def expected_edges(spec: str) -> float:
    """Edges of a graph that is not there yet; of a file by its size.

    >>> expected_edges("rmat:scale=10,degree=4"), expected_edges("road:width=16,height=8")
    (4096, 512)
    """
    sizes = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", spec)}
    if "scale" in sizes:
        return sizes.get("degree", 16) << sizes["scale"]
    if "width" in sizes:
        return 4 * sizes["width"] * sizes["height"]
    return file_of(spec)[0].stat().st_size


def real_graphs(folder: Path) -> tuple[str, ...]:
    """Files of the real graphs in a folder, which are read where they lie."""
    paths = {folder / f"{name}.txt.xz": suffix for name, suffix in REAL.items()}
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise UsageError(f"--real {folder}: has no {', '.join(missing)}")
    return tuple(f"{path}{suffix}" for path, suffix in paths.items())


def default_scales() -> list[int]:
    """Scales of RMAT that fit in memory; the smallest of them in any case.

    >>> set(default_scales()) <= set(SCALES)
    True
    """
    return [scale for scale in SCALES if 16 * BYTES_PER_EDGE << scale <= available_bytes()] or [SCALES[0]]

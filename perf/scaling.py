"""Strong scaling of the apps on this machine: time, speed-up by number of threads.

    python perf/scaling.py --scale 22 --threads 1,2 --rounds 5

Graph: RMAT with weights 1..255 (`gpop.generate`), symmetrised for connected components; the source is
the vertex with the largest out-degree. Each number is the median of ``--rounds`` runs after one that
is discarded, threads alternating within a round so that a slow minute hits all of them; times are those
of the iteration loop. The partition size is fixed, so results must be bitwise the same for every
number of threads (interleaved apps: equal), and the table says whether they were.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics

import numpy as np

import gpop
from gpop.generate import generate
from gpop.partition import l2_cache_bytes

PARTITION_SIZE = 1 << 15


def apps(graph: gpop.Graph, symmetric: gpop.Graph, source: int) -> dict:
    """Name -> function that makes one call and returns its run and its result."""

    def pagerank(**options):
        found = gpop.pagerank(graph, iterations=10, **options)
        return found.run, found.rank

    def bfs(**options):
        found = gpop.bfs(graph, source, **options)
        return found.run, found.parent

    def sssp(**options):
        found = gpop.sssp(graph, source, **options)
        return found.run, found.distance

    def cc(**options):
        found = gpop.connected_components(symmetric, **options)
        return found.run, found.label

    def nibble(**options):
        found = gpop.nibble(graph, source, **options)
        return found.run, found.values

    return {"pagerank": pagerank, "bfs": bfs, "sssp": sssp, "cc": cc, "nibble": nibble}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", default=f"1,{os.cpu_count()}", help="numbers separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    threads = [int(number) for number in given.threads.split(",")]

    graph = generate("rmat", scale=given.scale, degree=given.degree, seed=given.seed, weights=(1, 255))
    symmetric = graph.symmetrize()
    source = int(np.argmax(graph.out_degree))
    print(f"{platform.machine()}, {os.cpu_count()} cores, L2 {l2_cache_bytes() >> 10} KiB; {graph}")
    print(f"{'app':10}{'threads':>8}{'ms':>10}{'speed-up':>10}{'iterations':>12}  same result")
    for name, call in apps(graph, symmetric, source).items():
        seconds: dict[int, list[float]] = {number: [] for number in threads}
        iterations, same, first = {}, dict.fromkeys(threads, True), None
        for turn in range(given.rounds + 1):
            for number in threads:
                run, result = call(threads=number, partition_size=PARTITION_SIZE)
                first = result.copy() if first is None else first
                same[number] &= np.array_equal(first, result)
                iterations[number] = run.iterations
                if turn > 0:
                    seconds[number].append(run.seconds)
        base = statistics.median(seconds[threads[0]])
        for number in threads:
            median = statistics.median(seconds[number])
            speed_up = f"{base / median:9.2f}x"
            print(f"{name:10}{number:8}{1e3 * median:10.1f}{speed_up}{iterations[number]:12}  {same[number]}")


if __name__ == "__main__":
    main()

"""``python -m perf scaling``: strong and weak scaling of the apps: time and speed-up by threads.

    python -m perf scaling --scale 22 --threads 1,2 --rounds 5 --out FILE
    python -m perf scaling --scale 20 --threads 1,2,4,8,16 --weak

Graph: RMAT with weights 1..255 (`gpop.generate`), symmetrised for connected components; the source is
the vertex with the largest out-degree. Each number is the median of ``--rounds`` runs after one that
is discarded, threads alternating within a round so that a slow minute hits all of them; times are those
of the iteration loop. ``sssp`` is what a call takes by itself (lists, on these), ``sssp-messages`` the
program that sends some. The partition size of programs whose ties depend on it is fixed, so results must be
bitwise the same for every number of threads, and the table says whether they were. ``arithmetic`` is no app:
`STEPS` in registers, without memory. Where a core alone has a higher clock, or two are one, all together do
less than so many times as much: an app's speed-up is to be read beside it.

Weak scaling: ``--scale`` is that of the graph for the first number of threads, and every doubling of the
threads doubles the graph. The table gives nanoseconds per edge times threads, and the efficiency: that of
the first number of threads over this one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from types import SimpleNamespace

import numpy as np

import gpop
from gpop.common.cached import cached
from gpop.common.command import exit_code
from gpop.common.errors import GpopError
from gpop.common.parallel import for_each
from gpop.generate import generate
from perf.parser import with_out
from perf.provenance import perf_command, written

PARTITION_SIZE = 1 << 15
ITERATIONS = 10
STEPS, SHARES = 1 << 27, 1 << 10


APPS = ("arithmetic", "pagerank", "bfs", "sssp", "sssp-messages", "cc", "nibble")


@cached
def _mix(share, steps, found):
    """Steps of four generators of random numbers (xorshift), which do not wait for each other."""
    seed, left, right, last = np.uint64(share + 1), np.uint64(13), np.uint64(7), np.uint64(17)
    a, b, c, d = seed, seed + np.uint64(1 << 20), seed + np.uint64(1 << 21), seed + np.uint64(1 << 22)
    for _ in range(steps):
        a, b, c, d = a ^ a << left, b ^ b << left, c ^ c << left, d ^ d << left
        a, b, c, d = a ^ a >> right, b ^ b >> right, c ^ c >> right, d ^ d >> right
        a, b, c, d = a ^ a << last, b ^ b << last, c ^ c << last, d ^ d << last
    found[share] = a ^ b ^ c ^ d


def arithmetic(threads: int) -> tuple[SimpleNamespace, np.ndarray]:
    """`STEPS` in all, in shares that threads take one by one."""
    found, start = np.zeros(SHARES, np.uint64), time.perf_counter()
    for_each(SHARES, lambda share: _mix(share, STEPS // SHARES, found), threads)
    return SimpleNamespace(seconds=time.perf_counter() - start, iterations=1), found


def apps(graph: gpop.Graph, symmetric: gpop.Graph, source: int) -> dict:
    """Name -> function that makes one call and returns its run and its result."""

    def pagerank(**options):
        found = gpop.pagerank(graph, iterations=ITERATIONS, **options)
        return found.run, found.rank

    def bfs(**options):
        found = gpop.bfs(graph, source, partition_size=PARTITION_SIZE, **options)
        return found.run, found.parent

    def sssp(**options):
        found = gpop.sssp(graph, source, **options)
        return found.run, found.distance

    def by_messages(**options):
        return sssp(method="messages", partition_size=PARTITION_SIZE, **options)

    def cc(**options):
        found = gpop.connected_components(symmetric, **options)
        return found.run, found.label

    def nibble(**options):
        found = gpop.nibble(graph, source, partition_size=PARTITION_SIZE, **options)
        return found.run, found.values

    return dict(zip(APPS, (arithmetic, pagerank, bfs, sssp, by_messages, cc, nibble), strict=True))


def make_graphs(scale: int, given: argparse.Namespace) -> tuple[gpop.Graph, dict]:
    """The graph of a scale, and the calls of `apps` on it that are wanted."""
    graph = generate("rmat", scale=scale, degree=given.degree, seed=given.seed, weights=(1, 255))
    calls = apps(graph, graph.symmetrize(), int(np.argmax(graph.out_degree)))
    return graph, {name: calls[name] for name in given.apps}


def strong(given: argparse.Namespace, threads: list[int]) -> None:
    """One graph for all numbers of threads."""
    graph, calls = make_graphs(given.scale, given)
    agreed: dict[str, dict[int, bool]] = {}
    print(graph)
    print(f"{'app':15}{'threads':>8}{'ms':>10}{'speed-up':>10}{'iterations':>12}  same result")
    for name, call in calls.items():
        seconds: dict[int, list[float]] = {number: [] for number in threads}
        iterations, same, first = {}, dict.fromkeys(threads, True), None
        for turn in range(given.rounds + 1):
            for number in threads:
                run, result = call(threads=number)
                first = result.copy() if first is None else first
                same[number] &= np.array_equal(first, result)
                iterations[number] = run.iterations
                if turn > 0:
                    seconds[number].append(run.seconds)
        agreed[name] = same
        base = statistics.median(seconds[threads[0]])
        for number in threads:
            median = statistics.median(seconds[number])
            speed_up = f"{base / median:9.2f}x"
            print(f"{name:15}{number:8}{1e3 * median:10.1f}{speed_up}{iterations[number]:12}  {same[number]}")
    if not all(all(each.values()) for each in agreed.values()):
        raise GpopError("results depend on the number of threads")


def weak(given: argparse.Namespace, threads: list[int]) -> None:
    """A graph in proportion to the threads."""
    print(f"{'app':15}{'threads':>8}{'scale':>7}{'ms':>10}{'ns/edge x threads':>19}{'efficiency':>12}")
    base: dict[str, float] = {}
    for number in threads:
        scale = given.scale + round(np.log2(number / threads[0]))
        graph, calls = make_graphs(scale, given)
        calls.pop("arithmetic", None)  # which does not grow with the graph
        for name, call in calls.items():
            median = statistics.median([call(threads=number)[0].seconds for _ in range(given.rounds + 1)][1:])
            cost = 1e9 * median * number / graph.m
            efficiency = base.setdefault(name, cost) / cost
            print(f"{name:15}{number:8}{scale:7}{1e3 * median:10.1f}{cost:19.2f}{efficiency:12.2f}")


def _numbers(text: str) -> list[int]:
    if not all(word.isdecimal() and int(word) for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}: expected whole numbers from 1 on, separated by commas")
    return [int(word) for word in text.split(",")]


def _names(text: str) -> list[str]:
    for name in text.split(","):
        if name not in APPS:
            raise argparse.ArgumentTypeError(f"{name!r}: expected some of {','.join(APPS)}")
    return text.split(",")


def _run(argv: list[str]) -> None:
    parser = with_out("scaling", __doc__)
    parser.add_argument("--apps", type=_names, default=list(APPS), help=f"of {','.join(APPS)}")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=_numbers, default=f"1,{os.cpu_count()}", help="separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--weak", action="store_true", help="the graph grows with the threads")
    given = parser.parse_args(argv)
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: expected 1 or more")
    with written(given.out, perf_command("scaling", argv)):
        (weak if given.weak else strong)(given, given.threads)


def main(argv: list[str]) -> int:
    """Measure and print the table."""
    return exit_code(lambda: _run(argv))

"""``python -m perf gather-formats``: what a row's messages are gathered from, side by side; HPGraph's steps.

    python -m perf gather-formats rmat:scale=22,symmetrize grid:width=2048,height=2048

Formats: CSR (sources push), its reverse (a destination walks its in-edges: shared by a warp, or by a thread
alone), bins and HYB. Anywhere: bytes of the layout per edge; bytes per edge that an iteration of PageRank
moves by the model (`gpop.model.gpu_bytes`); and the share of lanes that have an edge when warps take 32 rows,
a thread each, or 32 entries of COO: HPGraph's warp efficiency, counted instead of asked of the hardware.

With a GPU: milliseconds of an iteration of PageRank, each format and cuSPARSE's SpMV in turns, medians and
quartiles over the rounds by CUDA events, answers checked (`perf.gpu`). Then what each of HPGraph's steps
gains, of its programs (`gpop.matrix.programs`): CSR with a thread per row, HYB, HYB and bottom-up, and what
gpop chooses by itself; with MTEPS, edges of the graph over the time of a run. ``--ncu`` adds the share of
lanes at work as the hardware counts it. Against the paper: bit masks are in all steps, since the engine has
no other frontier; nothing goes through texture memory.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.common.parallel import worker_count
from gpop.gpu.device import cupy
from gpop.gpu.hyb_arrays import COO_CHUNK
from gpop.layout.hyb import Shape, shape_of
from gpop.layout.kept_bins import bins_of
from gpop.layout.partition import SMALL_ID_BITS
from gpop.model.gpu_bytes import combined_bytes, hyb_bytes, owner_bytes, push_bytes
from gpop.model.gpu_sizes import PLAIN, Part
from perf.gpu_contenders import TOLERANCE, Outcome, deviation, expected, solve, spmv
from perf.gpu_table import SPMV
from perf.graphs import normal, open_graph, vertex, with_weights
from perf.hpgraph_published import sentences
from perf.hpgraph_steps import APPS, STEPS, searched, steps_of
from perf.parser import with_out
from perf.provenance import perf_command, written
from perf.warp_efficiency import WARP, measure

RANKS = PLAIN._replace(kept=4, listed=0, probe=0, vertex=8, total=8)
"""Of PageRank: all are active, sums that are pushed are float64."""

SHARED, ALONE = "reverse CSR, warps", "reverse CSR, a thread each"
MODES = {"CSR": "sc", SHARED: "pull", ALONE: "vertex-pull", "bins": "pc", "HYB": "hyb"}


class Published(NamedTuple):
    """Of an app in HPGraph's tables 2 and 3 and figure 6, on a K40m: milliseconds, gain of HYB, lanes."""

    ms: str
    gain: str
    lanes: str
    graphs: str = "kron_g500-logn21 and roadNet-CA"


PUBLISHED = {
    "bfs": Published("27 and 173", "2.5 on LiveJournal", "86 to 99.9 %"),
    "sssp": Published("26 and 186", "not said", "85.5 to 90 %"),
    "pagerank": Published("34 and 4", "1.95 on kron", "99.4 to 99.6 %"),
}


class Format(NamedTuple):
    """Per edge: bytes of the layout and of an iteration; share of lanes with an edge, if warps have rows."""

    layout: float
    moved: float
    lanes: float | None = None


def lanes_alone(degrees: np.ndarray) -> float:
    """Share of lanes that have an edge when each of 32 threads walks a row, until the longest is done.

    Examples
    --------
    >>> lanes_alone(np.full(32, 5)), lanes_alone(np.append(np.zeros(31, np.int64), 5))
    (1.0, 0.03125)
    """
    rows = np.zeros(-(-len(degrees) // WARP) * WARP, np.int64)
    rows[: len(degrees)] = degrees
    taken = WARP * int(rows.reshape(-1, WARP).max(axis=1).sum())
    return int(rows.sum()) / max(taken, 1)


def lanes_of_hyb(n: int, m: int, shape: Shape) -> float:
    """The same of HYB: all slots of ELL, and windows of COO, of which only the last of a chunk may be short.

    Examples
    --------
    >>> lanes_of_hyb(64, 64, Shape(width=1, pitch=64, entries=0)), lanes_of_hyb(32, 36, Shape(1, 32, 4))
    (1.0, 0.5625)
    """
    whole, rest = divmod(shape.entries, COO_CHUNK)
    windows = whole * (COO_CHUNK // WARP) + -(-rest // WARP)
    return m / max(WARP * (-(-n // WARP) * shape.width + windows), 1)


def formats(graph: gpop.Graph) -> dict[str, Format]:
    """Of every format what needs no GPU; bins as for a GPU whose blocks have room for 2**15 vertices.

    Examples
    --------
    >>> ring = gpop.Graph.from_edges(np.arange(64), (np.arange(64) + 1) % 64)
    >>> round(formats(ring)["CSR"].layout, 3), formats(ring)["HYB"].lanes           # (65*8 + 64*4) / 64
    (12.125, 1.0)
    """
    n, m = graph.n, max(graph.m, 1)
    listed = graph if graph.equals_reverse() else graph.reverse()
    shape = shape_of(listed)
    bins, _ = bins_of(listed, SMALL_ID_BITS, worker_count())
    own = (bins.slots, bins.sources, bins.id_offsets, bins.ids)
    filled = np.count_nonzero(np.diff(bins.slots))
    everything = Part(
        n, graph.m, n, graph.m, messages=int(bins.messages), segments=filled, slots=n * shape.width,
        entries=shape.entries,
    )  # fmt: skip
    csr = (8 * (n + 1) + 4 * graph.m) / m
    moved = {
        each.__name__: each(everything, RANKS) / m
        for each in (push_bytes, owner_bytes, combined_bytes, hyb_bytes)
    }
    return {
        "CSR": Format(csr, moved["push_bytes"]),
        SHARED: Format(csr, moved["owner_bytes"]),
        ALONE: Format(csr, moved["owner_bytes"], lanes_alone(listed.out_degree)),
        "bins": Format(sum(array.nbytes for array in own) / m, moved["combined_bytes"]),
        "HYB": Format(shape.nbytes(n, 0) / m, moved["hyb_bytes"], lanes_of_hyb(n, graph.m, shape)),
    }


def in_turns(runs: dict[str, Callable[[], Outcome]], rounds: int) -> dict[str, list[Outcome]]:
    """Every run once per round, after a round that does not count."""
    found: dict[str, list[Outcome]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            outcome = run()
            if turn:
                found[name].append(outcome)
    return found


def print_formats(graph: gpop.Graph, rounds: int) -> bool:
    """The table of formats, with times where ``rounds`` is not 0; whether all answers were right."""
    shape, right = shape_of(graph if graph.equals_reverse() else graph.reverse()), True
    share = shape.entries / max(graph.m, 1)
    print(f"HYB: {shape.width} columns of ELL, {share:.0%} of the edges in COO")
    times: dict[str, list[float]] = {}
    if rounds:
        reference = expected(graph, "pagerank", 0)
        runs = {
            name: lambda mode=mode: solve(graph, "pagerank", 0, mode=mode, target="gpu")
            for name, mode in MODES.items()
        }
        found = in_turns(runs | {SPMV: spmv(graph)}, rounds)
        times = {name: [1e3 * each.seconds for each in outcomes] for name, outcomes in found.items()}
        errors = [deviation(each.values, reference) for name in runs for each in found[name]]
        right = max(errors) <= TOLERANCE
        print(f"PageRank: largest difference of a rank {max(errors):.1e}, at most {TOLERANCE:.0e} allowed")
    print(f"{'format':30}{'layout B/edge':>14}{'moved B/edge':>14}{'lanes':>8}" + rounds_head(rounds))
    for name, each in formats(graph).items():
        lanes = "" if each.lanes is None else f"{each.lanes:.1%}"
        print(f"{name:30}{each.layout:14.2f}{each.moved:14.2f}{lanes:>8}" + timed_cells(times, name))
    if rounds:
        print(f"{SPMV:66}" + timed_cells(times, SPMV))
    return right


def rounds_head(rounds: int) -> str:
    """Names of the columns with times."""
    return f"{'ms':>9}{'quartiles':>18}{'of SpMV':>9}" if rounds else ""


def timed_cells(times: dict[str, list[float]], name: str) -> str:
    """Median, quartiles, and the ratio to cuSPARSE's.

    Examples
    --------
    >>> timed_cells({"HYB": [2.0, 3.0, 4.0], SPMV: [1.5, 1.5, 1.5]}, "HYB").split()
    ['3.000', '2.500', '..', '3.500', '2.00']
    """
    if name not in times:
        return ""
    first, _, third = np.percentile(times[name], [25, 50, 75])
    median = statistics.median(times[name])
    return f"{median:9.3f}{f'{first:.3f} .. {third:.3f}':>18}{median / statistics.median(times[SPMV]):9.2f}"


def print_steps(
    graph: gpop.Graph, source: int, rounds: int, target: str, lanes: dict[tuple[str, str], float]
) -> tuple[bool, dict[str, float]]:
    """HPGraph's tables and figure 6: a line per app and step; whether all gave the same, and HYB's gains."""
    right, medians = True, {}
    print(f"{'app':10}{'step':24}{'ms':>10}{'MTEPS':>10}{'gain':>8}{'iterations':>12}{'lanes':>8}")
    for app in APPS:
        runs = {
            name: lambda app=app, up=up, mode=mode: searched(graph, app, source, up, mode, target)
            for name, (up, mode) in steps_of(app).items()
        }
        found = in_turns(runs, rounds)
        first = next(iter(found.values()))
        for name, outcomes in found.items():
            # as no clock has it on the emulator of the tests
            seconds, before = (
                max(1e-9, statistics.median(e.seconds for e in runs)) for runs in (outcomes, first)
            )
            medians[app, name] = seconds
            same = np.allclose(outcomes[0].values, first[0].values, rtol=TOLERANCE, atol=0)
            right &= same
            rate = f"{graph.m / seconds * 1e-6:10.0f}{before / seconds:8.2f}{outcomes[0].iterations:12}"
            share = f"{lanes[app, name]:8.1%}" if (app, name) in lanes else ""
            print(
                f"{app:10}{name:24}{1e3 * seconds:10.3f}{rate}{share}" + ("" if same else "  another answer")
            )
    return right, print_beside_paper(medians, lanes)


def print_beside_paper(
    seconds: dict[tuple[str, str], float], lanes: dict[tuple[str, str], float]
) -> dict[str, float]:
    """What was measured on a graph beside what the paper says of its own; what HYB gains in each app."""
    plain, hyb, *_ = STEPS
    gains = {}
    for app, said in PUBLISHED.items():
        gain = gains[app] = seconds[app, plain] / seconds[app, hyb]
        print(
            f"{app}: {hyb} takes {1e3 * seconds[app, hyb]:.2f} ms (the paper, {said.graphs}: {said.ms})",
            end="; ",
        )
        print(f"it gains {gain:.2f} over {plain} (the paper: {said.gain})", end="\n" if not lanes else "; ")
        if lanes:
            told = ", ".join(f"{step} {share:.1%}" for (of, step), share in lanes.items() if of == app)
            print(f"lanes at work: {told} (the paper: {said.lanes})")
    return gains


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = with_out("gather-formats", __doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="a file, or KIND:SIZE=VALUE,...")
    parser.add_argument("--rounds", type=int, default=5, help="that are counted (default %(default)s)")
    parser.add_argument("--source", type=int, help="of bfs and sssp; default: the vertex with most out-edges")
    parser.add_argument("--ncu", action="store_true", help="count the lanes at work in every step with ncu")
    given = parser.parse_args(argv)
    given.words = sys.argv[2:] if argv is None else argv
    if given.rounds < 1:
        raise UsageError(f"--rounds {given.rounds}: expected 1 or more")
    given.graphs = [normal(spec) for spec in given.graphs]
    return given


def _run(given: argparse.Namespace) -> int:
    try:
        cupy()
        missing = None
    except UsageError as error:
        missing = str(error)
    right, gains = True, []
    with written(given.out, perf_command("gather-formats", given.words), gpu=missing is None):
        if missing is not None:
            print(f"no times: {missing}")
        for spec in given.graphs:
            graph = with_weights(open_graph(spec))
            source = vertex(graph, "max-degree" if given.source is None else given.source)
            print(f"\n{spec}: {graph.n:,} vertices, {graph.m:,} edges")
            right &= print_formats(graph, 0 if missing else given.rounds)
            if missing is None:
                lanes = measure(spec, source) if given.ncu else {}
                same, found = print_steps(graph, source, given.rounds, "gpu", lanes)
                right &= same
                gains.append(found)
                graph.drop("device")
        for app in APPS if gains else ():
            print("\n".join(sentences(app, [each[app] for each in gains])))
    return 0 if right else 1


def main(argv: list[str] | None = None) -> int:
    """``python -m perf gather-formats GRAPH ...``"""
    return exit_code(lambda: _run(_parse(argv)))

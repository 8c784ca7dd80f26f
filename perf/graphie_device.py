"""``python -m perf graphie --gpu``: Graphie's runtime on a device, in turns with a plain stream and gpop.

Contenders (``perf.graphie_gpu`` has Graphie's runtime):

    plain stream     every partition in every step through two buffers, copy and kernel: what is simplest
    everything       every partition in every step; the paper's baseline has no shared memory either
    OPT1, OPT2       only active partitions; those that lie in a buffer are not transferred again
    both             the published scheme, also with fewer streams and the larger partitions of these
    gpop, streamed   lists read in place, some on the device (``residency="stream"``), with as many bytes
                     of the device in all as the published scheme takes

Seconds are medians by CUDA events around the steps, after a round that does not count; answers are compared
with gpop's. Below each table lie the active and the transferred partitions of every step (figure 8 of the
paper), and sentences: ratios, and the paper's own numbers beside these.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

import gpop
from gpop.gpu.device import cupy
from perf.graphie import Renamed, cut, partition_edges, rename_for_memory, rename_for_partitions
from perf.graphie_gpu import FAR, Runtime
from perf.graphie_ways import BOTH, EVERYTHING, PUBLISHED, WAYS, beside, published, saved
from perf.graphs import vertex, with_weights

STREAMS = (32, 16, 8, 4, 2, 1)
PLAIN, GPOP = "plain stream", "gpop, streamed"


class Ran(NamedTuple):
    """One run: steps, partitions of each that were active and transferred, bytes over the link, answer."""

    seconds: float
    steps: int
    active: list[int]
    transferred: list[int]
    moved: float
    values: np.ndarray


class Contender(NamedTuple):
    """Its name and streams, and a run of it."""

    name: str
    streams: int
    run: Callable[[], Ran]


def graphie(runtime: Runtime, app: str, source: int, options: dict[str, bool]) -> Ran:
    """One run of Graphie's runtime; values by the vertices of the graph."""
    found, parts = runtime.run(app, source, **options), runtime.parts
    edge_bytes = 4 * len(runtime.edges)
    moved = sum(found.transferred) / parts.count * float(parts.first[-1]) * edge_bytes
    values = np.empty(len(found.values), np.uint32)
    values[runtime.renamed.new_to_old] = found.values
    return Ran(found.seconds, len(found.active), found.active, found.transferred, moved, values)


def streamed(graph: gpop.Graph, app: str, source: int, budget: int) -> Ran:
    """One run of gpop; what is not reached has the value that it has in Graphie."""
    options = {"target": "gpu", "residency": "stream", "device_memory": budget}
    if app == "bfs":
        found = gpop.bfs(graph, source, **options)
        values = found.level.astype(np.uint32)
    elif app == "sssp":
        found = gpop.sssp(graph, source, **options)
        values = np.where(found.distance == np.iinfo(np.int32).max, FAR, found.distance)
    else:
        found = gpop.connected_components(graph, **options)
        values = found.label
    run = found.run
    moved = float(sum(run.trace.summary["link"]["bytes"]))
    return Ran(run.seconds, run.iterations, [], [], moved, values)


def same_answer(app: str, values: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether both say the same; of components, whatever they are called.

    Examples
    --------
    >>> same_answer("cc", np.array([4, 4, 1]), np.array([0, 0, 2]))
    True
    """
    if app != "cc":
        return np.array_equal(values, wanted)
    pairs = np.unique(np.stack([values, wanted]), axis=1).shape[1]
    return pairs == len(np.unique(values)) == len(np.unique(wanted))


def contenders(graph: gpop.Graph, renamed: Renamed, app: str, share: float) -> list[Contender]:
    """All of one app; prints what partitions and the second renaming come to."""
    source = vertex(graph, "max-degree")
    start = int(np.flatnonzero(renamed.new_to_old == source)[0])
    weight = 4 * (app == "sssp")
    memory = int(share * (4 + weight) * graph.m)
    found: list[Contender] = []
    for streams in STREAMS:
        parts = cut(renamed, partition_edges(memory, graph.m, 8 + weight, streams))
        begin = time.perf_counter()
        ids = rename_for_partitions(renamed, parts)
        seconds = time.perf_counter() - begin
        runtime = Runtime(renamed, parts, ids, streams)
        if streams != STREAMS[0]:
            found.append(Contender(BOTH, streams, partial(graphie, runtime, app, start, {})))
            continue
        plain = Runtime(renamed, parts, ids, 2, runtime.edges)
        found.append(Contender(PLAIN, 2, partial(graphie, plain, app, start, WAYS[EVERYTHING])))
        for name, way in WAYS.items():
            found.append(Contender(name, streams, partial(graphie, runtime, app, start, way)))
        found.append(Contender(GPOP, 0, partial(streamed, graph, app, source, runtime.nbytes)))
        print(
            f"{app}: {runtime.nbytes / 1e6:,.0f} MB of the device, {parts.count} partitions, whose flags are "
            f"{parts.count} bytes (one per vertex: {graph.n:,}); renaming 2 {seconds:.2f} s",
            end=", ",
        )
    return found


def in_turns(some: list[Contender], rounds: int) -> dict[tuple[str, int], list[Ran]]:
    """Every contender once per round, after a round that does not count; what is refused is left out."""
    found: dict[tuple[str, int], list[Ran]] = {}
    for turn in range(rounds + 1):
        for each in some:
            try:
                ran = each.run()
            except gpop.NotEnoughMemory as error:
                if not turn:
                    print(f"  {each.name}: {error}")
                continue
            if turn:
                found.setdefault((each.name, each.streams), []).append(ran)
    return found


def sentences(
    app: str, seconds: dict[tuple[str, int], float], moved: dict[tuple[str, int], float]
) -> list[str]:
    """What the times say, and what the paper's said."""
    most = STREAMS[0]
    base, both = (EVERYTHING, most), (BOTH, most)
    lines = [f"as published: {seconds[both] / seconds[PLAIN, 2]:.2f} of a plain stream's time (at most 1.0)"]
    if (GPOP, 0) in seconds:
        bar = "" if app == "cc" else " (at most 0.6)"
        lines.append(
            f"gpop, streamed: {seconds[GPOP, 0] / seconds[both]:.2f} of the published one's time{bar}"
        )
    for name in PUBLISHED:
        said = published(name, app)
        of_time = saved(seconds[base], seconds[name, most])
        of_bytes = saved(moved[base], moved[name, most])
        lines.append(
            f"{name} saves {of_time:.0f} % of the time, {of_bytes:.0f} % of the bytes (paper: {said})"
        )
    gain = seconds[BOTH, 1] / seconds[both]
    lines.append(f"{most} streams are {gain:.2f} times as fast as one (paper: more than 2)")
    told = {"all partitions": base, "as published": both, "gpop": (GPOP, 0)}
    return [*lines, beside(app, {name: seconds[key] for name, key in told.items() if key in seconds})]


def print_table(
    found: dict[tuple[str, int], list[Ran]], app: str, edge_bytes: int
) -> tuple[dict[tuple[str, int], float], dict[tuple[str, int], float], bool]:
    """The table of one app; seconds and bytes of every contender, and whether all answers were right."""
    # as no clock has it on the emulator of the tests
    seconds = {key: max(1e-9, statistics.median(e.seconds for e in ran)) for key, ran in found.items()}
    moved = {key: statistics.median(each.moved for each in ran) for key, ran in found.items()}
    wanted, right = found[PLAIN, 2][-1].values, True
    columns = f"{'steps':>6}{'active':>8}{'transferred':>12}{'x edges':>9}{'ms':>10}{'GB/s':>6}"
    print(f"  {'':16}{'streams':>8}{columns}")
    for (name, streams), ran in found.items():
        last, spent, over = ran[-1], seconds[name, streams], moved[name, streams]
        counts = f"{sum(last.active):8}{sum(last.transferred):12}" if last.active else f"{'':20}"
        agrees = same_answer(app, last.values, wanted)
        right &= agrees
        print(
            f"  {name:16}{streams or '':>8}{last.steps:6}{counts}{over / edge_bytes:9.2f}{1e3 * spent:10.2f}"
            f"{over / spent * 1e-9:6.1f}" + ("" if agrees else "  WRONG")
        )
    return seconds, moved, right


def print_tables(graph: gpop.Graph, apps: list[str], share: float, rounds: int) -> bool:
    """What was measured on one graph; whether all answers were right."""
    right = True
    for app in apps:
        used = with_weights(graph) if app == "sssp" else graph
        begin = time.perf_counter()
        renamed = rename_for_memory(used)
        first = time.perf_counter() - begin
        some = contenders(used, renamed, app, share)
        print(f"renaming 1 {first:.2f} s")
        found = in_turns(some, rounds)
        seconds, moved, all_right = print_table(found, app, (4 + 4 * (app == "sssp")) * graph.m)
        right &= all_right
        steps, gained = (
            found[BOTH, STREAMS[0]][-1],
            seconds[EVERYTHING, STREAMS[0]] - seconds[BOTH, STREAMS[0]],
        )
        print(f"  active      {' '.join(map(str, steps.active))}")
        print(f"  transferred {' '.join(map(str, steps.transferred))}")
        if gained > 0:
            print(f"  renaming 1 is worth {first / gained:,.0f} runs of what both save of everything")
        print("\n".join(f"  {line}" for line in sentences(app, seconds, moved)), flush=True)
        used.drop("device")
        cupy().get_default_memory_pool().free_all_blocks()
    return right

"""``python -m perf graphie``: what Graphie's partitions move over the link, counted, and what renaming costs.

Runs BFS, shortest paths and components as Graphie does, on the host: a super-step goes through the active
partitions, those that are resident first, and every edge of a partition updates its destination in place, so
that numbers of steps depend on that order. Partitions have 8 bytes an edge, source and destination (12 with
a weight); as many edges as fit the memory for edges divided by the number of streams; each stream has one
buffer in which its last partition stays. Bytes over the link are in multiples of the edges in CSR (4 bytes
each, 8 with a weight):

    everything     every partition in every step (the paper's baseline)
    OPT1           active partitions only
    OPT2           every partition, but those that are resident are not transferred again
    both           the published scheme
    bulk           the same, bulk-synchronous: what a step has heard is used in the next one
    in memory      as published with a buffer for every partition: each is transferred when first active
    id >> bits     the same with partitions that are ranges of ids of a power of two, nothing is renamed;
                   they differ in size
    lines          sectors of 32 bytes around the edges of active vertices, read in place; nothing resident

Below lie the active and the transferred partitions of every step of the published scheme and of that in
memory (figure 8 of the paper), and what OPT1 and OPT2 save of the bytes, beside what the paper says of its
time (figure 7). ``flags``: those of partitions, instead of one for each vertex; without the latter nobody
knows which sources are active, and all edges of an active partition are processed: how many had to be is
counted.

``--gpu`` runs all this on a device instead, beside a plain stream and gpop's (`perf.graphie_device`).

Paper: Han, Mawhirter, Wu, Buland, "Graphie" (PACT 2017).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit

import gpop
from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.model.link_bytes import SECTOR
from perf.graphie import Partitions, Renamed, cut, partition_edges, rename_for_memory, rename_for_partitions
from perf.graphie_ways import BOTH, EVERYTHING, PUBLISHED, WAYS, published, saved
from perf.graphs import open_graph, vertex, with_weights
from perf.parser import with_out
from perf.provenance import perf_command, written

APPS = ("bfs", "sssp", "cc")
STREAMS = (1, 2, 4, 8, 16, 32)
FAR = np.uint32(2**32 - 1)


class Moved(NamedTuple):
    """Super-steps of a run; partitions of each that were active and that were transferred, the edges of the
    latter, bytes of sectors, edges that were processed and those whose source had changed, in all."""

    steps: int
    active: list[int]
    transferred: list[int]
    edges: int
    sectors: int
    processed: int
    fresh: int
    values: np.ndarray


@njit(nogil=True)
def _update(first, last, source, heads, lengths, heard, values, of_vertex, activated, changed):
    """One partition: every edge updates its destination by what its source has in ``heard``, which activates
    the partition of that."""
    for edge in range(first, last):
        value = heard[source[edge]]
        if value == 2**32 - 1:
            continue
        value += lengths[edge]
        head = heads[edge]
        if value < values[head]:
            values[head] = value
            changed[head] = True
            if of_vertex[head] >= 0:
                activated[of_vertex[head]] = True


def run(
    renamed: Renamed,
    parts: Partitions,
    app: str,
    source: int,
    buffers: int,
    reuse: bool = True,
    only_active: bool = True,
    bulk: bool = False,
) -> Moved:
    """Do an app with these partitions through so many buffers, or one for each; ``source`` as renamed.

    ``bulk``: values are those of the beginning of the step, and not updated in place.
    """
    n, count = len(renamed.new_to_old), parts.count
    tails = np.repeat(np.arange(renamed.sources), np.diff(renamed.indptr))
    step_of = {"bfs": 1, "cc": 0}
    lengths = np.full(len(tails), step_of[app], np.uint32) if app in step_of else renamed.weights
    values = np.arange(n, dtype=np.uint32) if app == "cc" else np.full(n, FAR)
    of_vertex = np.full(n, -1)
    of_vertex[: renamed.sources] = parts.of_source
    activated, changed = np.zeros(count, bool), np.zeros(n, bool)
    if app == "cc":
        activated[:], changed[:] = True, True
    else:
        values[source], activated[of_vertex[source]], changed[source] = 0, True, True
    resident = np.full(buffers, -1)
    found = Moved(0, [], [], 0, 0, 0, 0, values)
    steps = sectors = edges = processed = fresh = 0
    sizes = np.diff(parts.first)
    degree = np.diff(renamed.indptr)
    while activated.any():
        steps += 1
        for begin in np.flatnonzero(activated & (parts.continued > 0)):
            activated[begin : begin + parts.continued[begin] + 1] = True
        active = activated if only_active else np.ones(count, bool)
        senders = np.flatnonzero(changed[: renamed.sources])
        sectors += int((-(-(4 * degree[senders] + SECTOR - 4) // SECTOR)).sum()) * SECTOR
        processed += int(sizes[active].sum())
        fresh += int(degree[senders].sum())
        heard = values.copy() if bulk else values
        here = [part for part in resident.tolist() if part >= 0 and active[part]] if reuse else []
        rest = np.setdiff1d(np.flatnonzero(active), here)
        activated, changed = np.zeros(count, bool), np.zeros(n, bool)
        for part in [*here, *rest.tolist()]:
            _update(
                parts.first[part], parts.first[part + 1], tails, renamed.heads, lengths, heard, values,
                of_vertex, activated, changed,
            )  # fmt: skip
        found.active.append(int(active.sum()))
        found.transferred.append(len(rest))
        edges += int(sizes[rest].sum())
        for turn, part in enumerate(rest.tolist()):
            resident[part if buffers >= count else turn % buffers] = part
    return found._replace(steps=steps, edges=edges, sectors=sectors, processed=processed, fresh=fresh)


def ranges_of_ids(renamed: Renamed, count: int) -> Partitions:
    """Partitions of 2**bits consecutive vertices, about ``count`` of them."""
    bits = max(0, int(np.ceil(np.log2(max(renamed.sources, 1) / max(count, 1)))))
    starts = np.arange(0, renamed.sources, 1 << bits)
    first = np.append(renamed.indptr[starts], renamed.indptr[-1])
    return Partitions(first, np.arange(renamed.sources) >> bits, np.zeros(len(starts), np.int64))


def timed(make: Callable[[], object]) -> tuple[object, float]:
    """What it makes, and how long that takes."""
    start = time.perf_counter()
    return make(), time.perf_counter() - start


def table(graph: gpop.Graph, apps: list[str], share: float) -> list[str]:
    """Lines for one graph with memory for this share of its edges in CSR."""
    lines = []
    for app in apps:
        used = with_weights(graph) if app == "sssp" else graph
        renamed, one = timed(partial(rename_for_memory, used))
        weight = 4 if app == "sssp" else 0
        csr, memory = (4 + weight) * graph.m, int(share * (4 + weight) * graph.m)
        size = partition_edges(memory, graph.m, 8 + weight, STREAMS[-1])
        parts = cut(renamed, size)
        ids, two = timed(partial(rename_for_partitions, renamed, parts))
        old = vertex(graph, "max-degree")
        source = int(np.flatnonzero(renamed.new_to_old == old)[0])
        ways = {name: (parts, STREAMS[-1], options) for name, options in WAYS.items()}
        ways["bulk"] = parts, STREAMS[-1], {"bulk": True}
        ways["in memory"] = parts, parts.count, {}
        ways["id >> bits"] = ranges_of_ids(renamed, parts.count), STREAMS[-1], {}
        lines.append(
            f"{app}: {parts.count} partitions of {size} edges, ids up to {int(ids.ids.max(initial=0)):,}; "
            f"renaming {one:.2f} s and {two:.2f} s; flags {parts.count} bytes (one per vertex: {graph.n:,})"
        )
        found = {}
        for name, (each, buffers, options) in ways.items():
            moved = found[name] = run(renamed, each, app, source, buffers, **options)
            right = "" if np.array_equal(moved.values, found[EVERYTHING].values) else "  WRONG"
            over = moved.edges * (8 + weight) / csr
            active = f"{sum(moved.active):8}{sum(moved.transferred):12}"
            lines.append(f"  {name:12}{moved.steps:6}{active}{over:9.2f}{right}")
        lines.append(f"  {'lines':12}{moved.steps:6}{'':20}{moved.sectors * (1 + weight / 4) / csr:9.2f}")
        both = found[BOTH]
        lines.append(
            f"  of {both.processed / graph.m:.2f} x edges that both processes "
            f"{both.fresh / both.processed:.0%} have a source that changed in the step before"
        )
        over = []
        for streams in STREAMS:
            size = partition_edges(memory, graph.m, 8 + weight, streams)
            parts = cut(renamed, size)
            moved = run(renamed, parts, app, source, streams)
            over.append(f"{streams}: {moved.edges * (8 + weight) / csr:.2f}")
        lines.append(f"  both, by streams   {'   '.join(over)}")
        for name in (BOTH, "in memory"):
            for which in ("active", "transferred"):
                each = " ".join(map(str, getattr(found[name], which)))
                lines.append(f"  {f'{name}, {which}':24}{each}")
        for name in PUBLISHED:
            less = saved(found[EVERYTHING].edges, found[name].edges)
            lines.append(
                f"  {name} saves {less:.0f} % of the bytes (paper: {published(name, app)} of the time)"
            )
    return lines


def _run(argv: list[str]) -> int:
    parser = with_out("graphie", __doc__)
    parser.add_argument("graphs", nargs="+", help="files or generators; opposite edges are added")
    parser.add_argument("--apps", default=",".join(APPS), help="default %(default)s")
    parser.add_argument(
        "--memory",
        type=float,
        default=0.25,
        help="for edges, as a share of them in CSR (default %(default)s)",
    )
    parser.add_argument("--gpu", action="store_true", help="run it on a device")
    parser.add_argument("--rounds", type=int, default=3, help="on a device (default %(default)s)")
    given = parser.parse_args(argv)
    apps = given.apps.split(",")
    for app in apps:
        if app not in APPS:
            raise UsageError(f"--apps: {app!r}: expected some of {','.join(APPS)}")
    if not given.memory > 0:
        raise UsageError(f"--memory {given.memory}: expected more than 0")
    if given.rounds < 1:
        raise UsageError(f"--rounds {given.rounds}: expected 1 or more")
    right = True
    with written(given.out, perf_command("graphie", argv), gpu=given.gpu):
        for spec in given.graphs:
            graph = open_graph(spec).symmetrize()
            print(f"{spec}: {graph!r}, memory for {given.memory:.0%} of the edges")
            if given.gpu:
                from perf.graphie_device import print_tables

                right &= print_tables(graph, apps, given.memory, given.rounds)
                continue
            print(f"  {'':12}{'steps':>6}{'active':>8}{'transferred':>12}{'x edges':>9}")
            print("\n".join(table(graph, apps, given.memory)), flush=True)
    return int(not right)


def main(argv: list[str] | None = None) -> int:
    """Count, or measure, and print the tables."""
    return exit_code(lambda: _run(sys.argv[2:] if argv is None else argv))

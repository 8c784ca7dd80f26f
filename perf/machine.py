"""``python -m perf machine [graph ...]``: caches, cores, measured bandwidth, and what follows from them.

Bandwidth: copy, triad and read (`perf.memory_bandwidth` says which bytes count) with 1, 2, 4 ... threads,
over arrays that exceed the last cache. For every graph: the shortest possible PageRank iteration, the
bytes that the model of partition-centric mode counts (`gpop.model.bytes`) over the best bandwidth, measured
over arrays as large as those bytes, as they may fit a cache; and what an iteration takes.
"""

from __future__ import annotations

import json
import statistics
from itertools import groupby
from typing import Any

import gpop
from gpop import constants
from gpop.common.command import exit_code, file_to_write
from gpop.common.memory import readable
from gpop.common.parallel import worker_count
from perf.graphs import normal, open_graph
from perf.hardware import facts, team_sizes
from perf.memory_bandwidth import bandwidth, memory_sized
from perf.parser import documented
from perf.provenance import perf_command, written

ITERATIONS = 10
ROUNDS = 5
LEAST_ARRAYS = 1 << 16


def best_bandwidth(threads: int, nbytes: int) -> float:
    """Most bytes per second over arrays of this size, rounded up to a power of two."""
    size = 1 << (max(int(nbytes), LEAST_ARRAYS) - 1).bit_length()
    return max(bandwidth(threads, min(size, max(memory_sized(), LEAST_ARRAYS))).values())


def pagerank_limit(graph: gpop.Graph, threads: int) -> dict[str, float]:
    """Bytes of an iteration by the model, the least time that they take, and the median time measured."""
    runs = [gpop.pagerank(graph, iterations=ITERATIONS, threads=threads).run for _ in range(ROUNDS + 1)][1:]
    nbytes = int(runs[-1].trace.column("bytes")[-1])
    limit = nbytes / best_bandwidth(threads, nbytes)
    measured = statistics.median(run.seconds for run in runs) / ITERATIONS
    return {
        "threads": threads,
        "bytes": nbytes,
        "bandwidth": best_bandwidth(threads, nbytes),
        "limit seconds": limit,
        "seconds": measured,
        "bytes per second": nbytes / measured,
        "share of limit": limit / measured,
    }


def describe(most_threads: int, graphs: list[gpop.Graph], nbytes: int) -> dict[str, Any]:
    """Everything that the command prints."""
    team = team_sizes(most_threads)
    told = facts() | {
        "threads": "a team of Python threads inside one compiled loop; no Numba threading layer is used",
        "array bytes": nbytes,
        "chosen by": constants.describe(),
        "bandwidth": [{"threads": threads, **bandwidth(threads, nbytes)} for threads in team],
    }
    if graphs:
        told["pagerank"] = [
            {"graph": repr(graph), **pagerank_limit(graph, threads)} for graph in graphs for threads in team
        ]
    return told


def text(told: dict[str, Any]) -> str:
    """The same for people."""
    lines = [f"processor   {told['processor']}, {told['architecture']}"]
    lines += [f"cores       {told['usable cores']} usable of {told['cores']}"]
    for cache in told["caches"]:
        lines.append(
            f"cache       L{cache['level']} {cache['kind']}: {cache['bytes'] >> 10:,} KiB, "
            f"{cache['ways']} ways, lines of {cache['line']} bytes, shared by {cache['shared by']} CPUs"
        )
    lines += [f"memory      {readable(told['memory bytes'])}", f"threads     {told['threads']}"]
    lines += [f"system      {told['system']}, Python {told['python']}", ""]
    lines += [f"GB/s over {readable(told['array bytes'])} (bytes of the program; ordinary stores)"]
    lines += ["threads      copy     triad      read"]
    for row in told["bandwidth"]:
        lines.append(
            f"{row['threads']:7}" + "".join(f"{row[name] / 1e9:10.1f}" for name in ("copy", "triad", "read"))
        )
    lines += ["", constants.text(told["chosen by"])]
    for graph, rows in groupby(told.get("pagerank", ()), key=lambda row: row["graph"]):
        lines += ["", f"a PageRank iteration on {graph}"]
        lines += ["threads        MB      GB/s  limit, ms  takes, ms  share of limit"]
        for row in rows:
            lines.append(
                f"{row['threads']:7}{row['bytes'] / 1e6:10.1f}{row['bandwidth'] / 1e9:10.1f}"
                f"{1e3 * row['limit seconds']:11.3f}{1e3 * row['seconds']:11.3f}{row['share of limit']:16.0%}"
            )
    return "\n".join(lines)


def _run(argv: list[str]) -> None:
    parser = documented("machine", __doc__)
    parser.add_argument(
        "graphs", nargs="*", metavar="graph", help="a file or KIND:SIZE=VALUE,... of a generator"
    )
    parser.add_argument("--threads", type=int, default=worker_count(), metavar="T", help="1, 2, 4 ... T")
    parser.add_argument("--megabytes", type=int, help="size of the arrays; default: four last-level caches")
    parser.add_argument("--json", type=file_to_write(), metavar="FILE", help="write the same as JSON")
    parser.add_argument(
        "--out", type=file_to_write(), metavar="FILE", help="write the output there, with a head"
    )
    given = parser.parse_args(argv)
    if given.threads < 1 or (given.megabytes or 1) < 1:
        parser.error("--threads and --megabytes: expected numbers from 1 on")
    graphs = [open_graph(normal(spec)) for spec in given.graphs]
    nbytes = memory_sized() if given.megabytes is None else given.megabytes << 20
    told = describe(given.threads, graphs, nbytes)
    if given.json:
        from gpop.common.replacing import replacing

        with replacing(given.json) as temporary:
            temporary.write_text(json.dumps(told, indent=1) + "\n")
    if given.out is None:
        print(text(told))
        return
    with written(given.out, perf_command("machine", argv)):
        print(text(told))


def main(argv: list[str]) -> int:
    """Print machine facts; returns the exit code."""
    return exit_code(lambda: _run(argv))

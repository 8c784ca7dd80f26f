"""``python -m gpop.info graph``: what a graph looks like and what work with it will cost.

Degrees, loops, duplicates, components, weights; r, the messages an edge costs (GPOP: aggregation); the
partitions and bytes of the default layout and of a run; and a lower bound of the diameter: a search
from the vertex of largest degree in the largest component, and one from the farthest vertex it met,
directions ignored. ``--json`` prints the same as one object, ``--plot FILE`` draws the degrees.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop import constants
from gpop.common.cached import cached
from gpop.common.command import (
    PICTURES,
    Parser,
    add_json_option,
    add_reading_options,
    exit_code,
    file_to_write,
    print_json,
    prog,
    reading_options,
)
from gpop.common.memory import available_bytes, readable, require_memory
from gpop.common.parallel import for_each, ranges, worker_count
from gpop.common.progress import by_default
from gpop.cpu.arrays import table_bytes
from gpop.cpu.workspace_tables import Needs, bins_table
from gpop.graph.graph import Graph
from gpop.layout.bins import Bins
from gpop.layout.kept_bins import bins_of
from gpop.layout.partition import partition_bits

_PIECE = 1 << 16  # vertices


def summary(values: np.ndarray) -> dict[str, float]:
    """Minimum, quartiles, maximum, mean and standard deviation; nothing for no values.

    Examples
    --------
    >>> summary(np.array([1, 2, 3, 4]))["median"]
    2.5
    """
    if values.size == 0:
        return {}
    numbers = np.percentile(values, (0, 25, 50, 75, 100)).tolist()
    names = ("min", "lower quartile", "median", "upper quartile", "max")
    spread = {"mean": float(values.mean(dtype=np.float64)), "std": float(values.std(dtype=np.float64))}
    return dict(zip(names, numbers, strict=True)) | spread


@cached
def _count_special(indptr, indices, first, last, longest, counts):
    """Add self-loops and repeated edges of the lists first..last-1, which need not ascend."""
    row = np.empty(longest, np.uint32)
    for v in range(first, last):
        size = indptr[v + 1] - indptr[v]
        ascending = True
        for i in range(size):
            row[i] = indices[indptr[v] + i]
            counts[0] += row[i] == v
            ascending &= i == 0 or row[i] >= row[i - 1]
        if not ascending:
            row[:size].sort()
        for i in range(1, size):
            counts[1] += row[i] == row[i - 1]


def special_edges(graph: Graph) -> tuple[int, int]:
    """Numbers of self-loops, and of edges that repeat another.

    Examples
    --------
    >>> special_edges(Graph.from_edges([0, 0, 1, 1, 1], [0, 1, 0, 0, 0]))
    (1, 2)
    """
    pieces = ranges(graph.n, _PIECE)
    counts = np.zeros((len(pieces), 2), np.int64)

    def work(i):
        first, last = pieces[i]
        longest = int(graph.out_degree[first:last].max())
        _count_special(graph.indptr, graph.indices, first, last, longest, counts[i])

    for_each(len(pieces), work)
    loops, repeats = counts.sum(axis=0).tolist()
    return loops, repeats


def in_degrees(graph: Graph) -> np.ndarray:
    """Number of in-edges of each vertex."""
    degree = np.zeros(graph.n, np.int64)
    for first, last in ranges(graph.m, max(graph.n, 1 << 22)):  # bincount works on a 64-bit copy
        degree += np.bincount(graph.indices[first:last], minlength=graph.n)
    return degree


def diameter_bound(graph: Graph, start: int) -> int:
    """Length of a longest shortest path, at least: from the vertex farthest from ``start``.

    The graph must be symmetric.

    Examples
    --------
    >>> chain = Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1])
    >>> diameter_bound(chain, 1)
    2
    """
    farthest = int(gpop.bfs(graph, start).level.argmax())
    return int(gpop.bfs(graph, farthest).level.max())


def run_bytes(graph: Graph, bins: Bins, message_bytes: int = 4, field_bytes: int = 4) -> int:
    """Most memory of a run beside graph and layout, with one field and messages of these widths.

    The workspace of a run with a frontier that may choose between SC and PC on all cores.
    """
    needs = Needs(**dict.fromkeys(Needs._fields, False))._replace(sc=True, frontier=True)
    table = bins_table(bins, needs, np.dtype(f"u{message_bytes}"), worker_count())
    return table_bytes(table) + field_bytes * graph.n


def describe(graph: Graph) -> dict[str, Any]:
    """Everything that is told about a graph, as plain numbers and texts.

    Examples
    --------
    >>> told = describe(Graph.from_edges([0, 1, 1, 2, 3], [1, 0, 2, 1, 3], n=5))
    >>> told["components"], told["self-loops"], told["isolated"], told["diameter at least"]
    (3, 1, 1, 2)
    """
    # a symmetric copy while it is built, its layout and messages
    require_memory(24 * graph.m + 80 * graph.n, f"describing a graph of {graph.n} vertices, {graph.m} edges")
    inward, outward = in_degrees(graph), graph.out_degree
    loops, repeats = special_edges(graph)
    bits = partition_bits(graph.n, worker_count(), edges=graph.m)
    bins = bins_of(graph, bits, worker_count())[0]
    told = {
        "name": graph.name,
        "vertices": graph.n,
        "edges": graph.m,
        "bytes": graph.nbytes,
        "weights": None if graph.weights is None else {"type": str(graph.weights.dtype)},
        "renumbered": graph.original_ids is not None,
        "symmetric": graph.is_symmetric(),
        "self-loops": loops,
        "duplicates": repeats,
        "isolated": int(np.count_nonzero((inward == 0) & (outward == 0))),
        "out-degree": summary(outward),
        "in-degree": summary(inward),
    }
    if graph.weights is not None:
        told["weights"] |= summary(graph.weights)
    told |= _components(graph, inward + outward)
    return told | {
        "layout": {
            "partition size": 1 << bits,
            "partitions": int(bins.k),
            "messages": bins.messages,
            "r": bins.messages / graph.m if graph.m else 0.0,
            "bytes": bins.nbytes,
        },
        "run bytes": run_bytes(graph, bins),
        "kept": [each._asdict() for each in graph.kept()],
        "available bytes": available_bytes(),
        "chosen by": constants.describe(),
    }


def _components(graph: Graph, degree: np.ndarray) -> dict[str, int]:
    """Number of weak components, size of the largest, and how far apart its vertices are at least."""
    if graph.n == 0:
        return {"components": 0, "largest component": 0, "diameter at least": 0}
    both_ways = graph if graph.is_symmetric() else graph.symmetrize()
    found = gpop.connected_components(both_ways)
    sizes = np.bincount(found.label)
    label = int(sizes.argmax())
    start = int(np.where(found.label == label, degree, -1).argmax())
    return {
        "components": found.count,
        "largest component": int(sizes[label]),
        "diameter at least": diameter_bound(both_ways, start),
    }


def text(told: dict[str, Any]) -> str:
    """What `describe` tells, for people."""
    n, layout, weights = told["vertices"], told["layout"], told["weights"]
    share = f"{100 * told['largest component'] / max(n, 1):.3g} %"
    lines = {
        "graph": f"{told['name'] or '(unnamed)'}, {readable(told['bytes'])}",
        "vertices": f"{n:,}" + (", renumbered" if told["renumbered"] else ""),
        "edges": f"{told['edges']:,}" + (", symmetric" if told["symmetric"] else ", directed"),
        "self-loops": f"{told['self-loops']:,}",
        "duplicates": f"{told['duplicates']:,}",
        "isolated": f"{told['isolated']:,} vertices",
        "components": f"{told['components']:,}, the largest of {told['largest component']:,} ({share})",
        "diameter": f"at least {told['diameter at least']:,} (directions ignored)",
        "out-degree": _summary_text(told["out-degree"]),
        "in-degree": _summary_text(told["in-degree"]),
        "weights": "none" if weights is None else f"{weights['type']}, {_summary_text(weights)}",
        "partitions": f"{layout['partitions']:,} of {layout['partition size']:,} vertices",
        "messages": f"{layout['messages']:,}, r = {layout['r']:.3f} for each edge",
        "layout": readable(layout["bytes"]),
        "run": f"{readable(told['run bytes'])} at most (messages and field of 4 bytes), "
        f"{readable(told['available bytes'])} available",
        "kept": _kept_text(told["kept"]),
        "auto": _constants_text(told["chosen by"]),
    }
    return "\n".join(f"{name:12}{line}" for name, line in lines.items())


def _constants_text(told: dict[str, Any]) -> str:
    """What modes are chosen by."""
    numbers = ", ".join(f"{name} {value:.4g}" for name, value in told["constants"].items())
    return f"{numbers} ({told['origin']})"


def _kept_text(kept: list[dict[str, Any]]) -> str:
    """What is kept with the graph after all this, the largest first."""
    ordered = sorted(kept, key=lambda each: -each["host_bytes"])
    return ", ".join(f"{each['kind']} {readable(each['host_bytes'])}" for each in ordered)


def _summary_text(numbers: dict[str, float]) -> str:
    if "mean" not in numbers:
        return "none"
    five = " ".join(f"{numbers[name]:.6g}" for name in tuple(summary(np.zeros(1)))[:5])
    return f"{five} (quartiles), mean {numbers['mean']:.4g}, std {numbers['std']:.4g}"


def plot(graph: Graph, path: Path) -> None:
    """Draw how many vertices have which degree, on logarithmic axes."""
    from matplotlib.figure import Figure

    from gpop.common.replacing import replacing

    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.add_subplot()
    for name, marker, degrees in (("out", "o", graph.out_degree), ("in", "x", in_degrees(graph))):
        degree, count = np.unique(degrees, return_counts=True)
        shown = degree > 0
        axes.plot(degree[shown], count[shown], marker, markersize=3, label=f"{name}-degree")
    axes.set(xscale="log", yscale="log", xlabel="degree", ylabel="vertices", title=graph.name)
    axes.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:])


def _inform(argv: list[str] | None) -> None:
    parser = Parser(prog=prog("gpop.info"), description=__doc__)
    parser.add_argument("graph", type=Path, help="graph file")
    add_reading_options(parser)
    add_json_option(parser)
    parser.add_argument(
        "--plot", type=file_to_write(PICTURES), metavar="FILE", help="draw the degrees: .png, .svg or .pdf"
    )
    given = parser.parse_args(argv)
    graph = gpop.load(given.graph, progress=by_default(), **reading_options(given))
    told = describe(graph)
    try:
        if given.plot:  # before a reader of the text may go away
            plot(graph, given.plot)
    finally:
        if given.json:
            print_json("info", told)
        else:
            print(text(told))


def main(argv: list[str] | None = None) -> int:
    """Describe a graph file; returns the exit code."""
    return exit_code(lambda: _inform(argv))


if __name__ == "__main__":
    sys.exit(main())

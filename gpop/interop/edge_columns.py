"""Edge tables of any library -> Graph: which columns, and what becomes of ids and duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.arguments import plain
from gpop.common.errors import UsageError
from gpop.graph.arguments import as_ids, as_size, as_weights
from gpop.graph.build import check_duplicates
from gpop.graph.edge_pieces import csr_of
from gpop.graph.graph import Graph
from gpop.graph.renumber import dense_ids

SOURCE = ("source", "src", "from", "u", "fromnodeid", "from_node", "source_id", "start")
TARGET = ("target", "dst", "to", "v", "tonodeid", "to_node", "target_id", "destination", "end")
WEIGHT = ("weight", "weights", "w", "value", "cost", "distance", "length")


def end_places(names: list[Any]) -> tuple[int | None, int | None]:
    """The places of the columns with the most usual names of a source and a target, None where none has one.

    >>> end_places(["start", "end", "Source", "Target"]), end_places(["from", "where"])
    ((2, 3), (0, None))
    """
    lower = [str(name).lower() for name in names]

    def place(known: tuple[str, ...]) -> int | None:
        return next((lower.index(name) for name in known if name in lower), None)

    return place(SOURCE), place(TARGET)


def weight_places(names: list[Any], ends: tuple[int | None, ...]) -> list[int]:
    """The places of what may be the weight: columns called weight, weights or w, else all known names."""
    found = {i: str(name).lower() for i, name in enumerate(names) if i not in ends}
    called = [i for i, name in found.items() if name in WEIGHT[:3]]
    return called or [i for i, name in found.items() if name in WEIGHT]


def pick_columns(
    names: list[Any], source: Any = None, target: Any = None, weight: Any = None
) -> tuple[Any, Any, Any]:
    """The columns of source, target and weight (None: none).

    What is not given is found by its usual names (``source src from u ...``, ``target dst to v ...``,
    ``weight w ...``), whatever their case; where neither end is, they are the first two other columns. Where
    the names leave a choice, it is refused.
    """
    for given in (source, target, None if weight is False else weight):
        if given is not None and given not in names:
            known = ", ".join(map(str, names))
            raise UsageError(f"there is no column {plain(given)!r}, expected one of {known}")
    several = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if several:
        raise UsageError(f"column {plain(several[0])!r} occurs several times, expected once")
    if len(names) < 2:
        raise UsageError(f"the table has {len(names)} columns, expected source and target")
    if (source is None) != (target is None):
        raise UsageError("expected both source and target, or none of them")
    if source is None:
        ends = end_places(names)
        weights = weight_places(names, ends)
        rest = [i for i in range(len(names)) if i not in ends and i not in weights]
        if ends == (None, None) and len(rest) > 1:
            ends = (rest[0], rest[1])
        elif None in ends:
            if len(rest) != 1 or ends == (None, None):
                known = ", ".join(map(str, names))
                raise UsageError(f"which of the columns {known} are the ends? expected source= and target=")
            ends = tuple(rest[0] if end is None else end for end in ends)
        source, target = (names[end] for end in ends)
    if weight is None:
        weights = weight_places(names, (names.index(source), names.index(target)))
        if len(weights) > 1:
            either = " or ".join(repr(plain(names[i])) for i in weights)
            raise UsageError(f"is {either} the weight? expected weight= one of them, or False for none")
        weight = names[weights[0]] if weights else None
    return source, target, None if weight is False else weight


def graph_of_columns(
    sources: list[np.ndarray],
    targets: list[np.ndarray],
    weights: list[np.ndarray] | None = None,
    *,
    names: np.ndarray | None = None,
    n: int | None = None,
    duplicates: str = "keep",
    name: str = "",
    progress: bool = False,
) -> Graph:
    """Graph of edges that come in pieces of integer arrays; the lists are emptied, and pieces let go early.

    With ``names`` the integers are places in it. Else they are ids: 0 .. n-1 when ``n`` is given,
    otherwise kept or, when sparse, numbered in ascending order by the rule of text edge lists
    (`gpop.graph.renumber`), with the ids in ``original_ids``.
    """
    check_duplicates(duplicates)
    ends = []
    for i in range(len(sources)):
        ends += [as_ids(sources[i], "source"), as_ids(targets[i], "target")]
    largest = max((int(ids.max()) for ids in ends if len(ids)), default=-1)
    original_ids = names
    if names is not None:
        n = len(names)
    elif n is None:
        n, original_ids = dense_ids(ends, largest, 0)
    elif largest >= as_size(n):
        raise UsageError(f"vertex id {largest} is outside the graph, expected ids in 0..{n - 1}")
    n = as_size(n)
    pieces = [None] * len(sources)
    sources.clear()
    targets.clear()
    if weights is not None:
        pieces = [as_weights(piece, len(ids)) for piece, ids in zip(weights, ends[::2], strict=True)]
        if duplicates == "sum":
            pieces = [
                w.astype({"i": np.int64, "u": np.uint64}.get(w.dtype.kind, w.dtype), copy=False)
                for w in pieces
            ]
        weights.clear()
    arrays = csr_of(n, ends, pieces, weights is not None, progress, duplicates=duplicates)
    return Graph(*arrays, original_ids=original_ids, name=name)


def edge_columns(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(sources, destinations, weights) of all edges with original ids, without a copy where possible."""
    numbers = np.arange(graph.n, dtype=np.uint32) if graph.original_ids is None else graph.original_ids
    target = graph.indices if graph.original_ids is None else numbers[graph.indices]
    return np.repeat(numbers, graph.out_degree), target, graph.weights

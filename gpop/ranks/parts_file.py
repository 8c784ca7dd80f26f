"""A graph in parts on disk: what ``gpop.convert --parts N`` writes and ranks read without a shuffle.

A folder, ``NAME.parts``: ``parts.json`` says how many vertices and edges there are, the bits at whose
borders the parts begin, and of each part the file, its bytes and its range of vertices. ``part-I.npz`` has
the edges into the range, in the order of the whole graph, and the out-degrees of its vertices. Original ids
lie beside the index, as they do beside a graph file (`gpop.io.ids`).

A rank takes neighbouring parts, as many as make about an equal share of the edges; so there may be fewer
ranks than parts, not more; where there are no other ranks, one process reads all. A file that is missing or
of another size is refused before anything is read, one that is damaged when it is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.replacing_folder import replacing_folder
from gpop.graph.graph import Graph
from gpop.io.ids import read_ids, storable, write_ids
from gpop.layout.partition import SMALL_ID_BITS, partition_bits
from gpop.ranks.part import InEdges, cut, in_edges_of, partition_in_edges
from gpop.ranks.part_graph import PartGraph, note_weights
from gpop.ranks.world import World

SUFFIX, INDEX = ".parts", "parts.json"


def write_parts(graph: Graph, folder: Path, parts: int) -> None:
    """Write a graph in so many parts; the folder appears whole or not at all.

    Raises
    ------
    UsageError
        If the folder's name does not end in ``.parts``, there are fewer partitions than parts, or a weight is
        negative: no rank could tell the others.
    GraphFileError
        If the folder cannot be written, or is something else that is not to be replaced.
    """
    if folder.suffix != SUFFIX:
        raise UsageError(f"{folder}: expected a name ending in {SUFFIX}")
    if graph.weights is not None and not (graph.weights >= 0).all():  # true for nan as well
        raise UsageError(f"{graph!r}: expected weights that are not negative, for a graph in parts")
    bits = min(SMALL_ID_BITS, partition_bits(graph.n, parts, edges=graph.m))
    counts, ids = partition_in_edges(graph, bits), storable(graph, folder)
    if not 1 <= parts <= counts.size:
        raise UsageError(f"parts {parts}: expected 1 to {counts.size} for {graph!r}")
    bounds = cut(counts, parts, bits, graph.n)
    with replacing_folder(folder, INDEX) as temporary:
        files = []
        for part, (first, last) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            path, edges = temporary / f"part-{part}.npz", in_edges_of(graph, first, last)
            degrees = graph.out_degree[first:last]
            held = {"sources": edges.sources, "targets": edges.targets, "degrees": degrees}
            if edges.weights is not None:
                held["weights"] = edges.weights
            with open(path, "wb") as file:
                np.savez(file, **held)
            entry = {"file": path.name, "bytes": path.stat().st_size, "first": first, "last": last}
            files.append(entry | {"edges": edges.sources.size})
        said = {"name": graph.name, "vertices": graph.n, "edges": graph.m, "bits": bits, "parts": files}
        write_ids(temporary / INDEX, graph, ids)
        (temporary / INDEX).write_text(json.dumps(said, indent=1) + "\n")


def read_parts(folder: Path, world: World, weighted: bool | None) -> PartGraph:
    """Read a graph in parts on all ranks together.

    Raises
    ------
    GraphFileError
        If a file is missing or not as it was written.
    UsageError
        If there are fewer parts than ranks, or weights are asked for that are not there.
    """
    said = world.first_ones(_checked(folder) if world.rank == 0 else None)
    parts = said["parts"]
    if len(parts) < world.size:
        raise UsageError(
            f"{folder}: {len(parts)} parts for {world.size} ranks: expected at least one for each"
        )
    shares = _shares(np.array([part["edges"] for part in parts]), world.size)
    mine = [parts[i] for i in range(shares[world.rank], shares[world.rank + 1])]
    in_edges, degrees = _read(folder, said, mine, weighted)
    bounds = np.array([*(parts[i]["first"] for i in shares[:-1]), said["vertices"]])
    graph = PartGraph(
        said["vertices"], said["edges"], in_edges, bounds, said["bits"], world.joined(degrees),
        name=said["name"], bytes_read=sum(part["bytes"] for part in mine),
    )  # fmt: skip
    graph.original_ids = read_ids(folder / INDEX, graph)
    if in_edges.weights is not None:
        note_weights(graph, in_edges.weights, world)
    return graph


def read_all_parts(folder: Path, weighted: bool | None) -> Graph:
    """The whole graph, where there are no other ranks; raises what `read_parts` does."""
    said = _checked(folder)
    (_, targets, weights), degrees = _read(folder, said, said["parts"], weighted)
    indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
    graph = Graph(indptr, targets, weights, name=said["name"])
    graph.original_ids = read_ids(folder / INDEX, graph)
    return graph


def _read(folder: Path, said: dict, parts: list[dict], weighted: bool | None) -> tuple[InEdges, np.ndarray]:
    """Edges of neighbouring parts, in the order of the whole graph, and out-degrees of their vertices."""
    held = [_read_part(folder / part["file"], part, said) for part in parts]
    has_weights = all("weights" in part for part in held)
    if weighted and not has_weights:
        raise GraphFileError(f"{folder}: has no weights, expected a weighted graph")
    joined = {name: np.concatenate([part[name] for part in held]) for name in held[0]}
    order = np.argsort(joined["sources"], kind="stable")
    weights = joined["weights"][order] if has_weights and weighted is not False else None
    return InEdges(joined["sources"][order], joined["targets"][order], weights), joined["degrees"]


def _read_part(path: Path, part: dict, said: dict) -> dict[str, np.ndarray]:
    """The arrays of a part, if they are as the index says."""
    try:
        with np.load(path, allow_pickle=False) as file:
            held = {name: file[name] for name in file.files}
        sources, targets, degrees = (held[name] for name in ("sources", "targets", "degrees"))
        sizes = [array.size for name, array in held.items() if name != "degrees"]
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        raise GraphFileError(f"{path}: is damaged, expected a part as it was written") from None
    first, last = part["first"], part["last"]
    if (
        {*sizes} != {part["edges"]}
        or degrees.size != last - first
        or sources.max(initial=0) >= said["vertices"]
        or not (targets.min(initial=first) >= first and targets.max(initial=first) < max(last, 1))
    ):
        raise GraphFileError(
            f"{path}: expected {part['edges']} edges into the vertices {first} to {last - 1}"
        )
    return held


def _checked(folder: Path) -> dict:
    """The index, after a look at all files."""
    path = folder / INDEX
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise GraphFileError(f"{path}: is no file, expected a list of the parts of a graph")
        said = json.loads(path.read_text())
    except OSError as error:
        raise GraphFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise GraphFileError(f"{path}: {error}") from None
    if not _is_index(said):
        raise GraphFileError(f"{path}: is no list of the parts of a graph, or is damaged")
    for part in said["parts"]:
        path = folder / part["file"]
        size = path.stat().st_size if path.is_file() else None
        if size != part["bytes"]:
            found = "is missing" if size is None else f"has {size} bytes"
            raise GraphFileError(f"{path}: {found}, expected {part['bytes']} bytes")
    return said


def _is_index(said: Any) -> bool:
    """Whether parts follow each other, from the first vertex to the last, and have all edges."""
    try:
        parts = said["parts"]
        borders = [0, *(part["last"] for part in parts)]
        return (
            borders == [*(part["first"] for part in parts), said["vertices"]]
            and borders == sorted(borders)
            and sum(part["edges"] for part in parts) == said["edges"]
            and 0 <= said["bits"] <= SMALL_ID_BITS
            and all(border % (1 << said["bits"]) == 0 for border in borders[:-1])
            and all(isinstance(part["file"], str) and part["bytes"] >= 0 for part in parts)
            and isinstance(said["name"], str)
        )
    except (KeyError, TypeError):
        return False


def _shares(edges: np.ndarray, ranks: int) -> list[int]:
    """Which part each rank begins with, and how many there are; each gets one at least.

    Examples
    --------
    >>> _shares(np.array([1, 1, 8, 1]), 2), _shares(np.array([9, 0, 0]), 3)
    ([0, 2, 4], [0, 1, 2, 3])
    """
    below = np.concatenate([[0], np.cumsum(edges)])
    starts = [0]
    for rank in range(1, ranks):
        nearest = int(np.abs(below - below[-1] * rank / ranks).argmin())
        starts.append(min(max(nearest, starts[-1] + 1), edges.size - (ranks - rank)))
    return [*starts, edges.size]

"""``gpop.load_part``: a graph on all ranks of a job, each its part of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.parallel import use_threads
from gpop.graph.edge_pieces import common_type, told_type
from gpop.graph.graph import Graph
from gpop.io import arrow_file, edge_list, edge_list_share, expect_no_pipe, load, module_to_read, options_for
from gpop.io.ids import read_ids
from gpop.io.share import Share
from gpop.ranks.part import InEdges
from gpop.ranks.part_graph import load_parts
from gpop.ranks.parts_file import SUFFIX, read_all_parts, read_parts
from gpop.ranks.spread import spread
from gpop.ranks.world import World, threads_of, world_of

READS_SHARES = {
    edge_list.__name__: edge_list_share.read_share,
    arrow_file.__name__: arrow_file.read_share,
}
"""Formats of which a rank reads a share."""


def load_part(
    path: str | os.PathLike,
    *,
    weighted: bool | None = None,
    threads: int | None = None,
    partition_size: int | None = None,
    transport: str = "auto",
    delimiter: str | None = None,
    columns: Sequence[int | str] | None = None,
    header: bool | None = None,
) -> Graph:
    """Load a graph on all ranks of a job together, each its part; the whole graph where there are no others.

    What needs the whole graph (orders, symmetric copies, reverse) is refused later; a ``.bin`` that fits in
    the memory of every rank may be loaded by `gpop.load` just as well.

    Parameters
    ----------
    path : str or path
        A ``.bin`` file or an edge list, of which each rank reads a slice of the bytes; an edge table
        (``.parquet .arrow .feather``), of which it reads some of the row groups; or a folder that
        ``python -m gpop.convert --parts`` has written, of which it reads its parts. Other formats,
        compressed edge lists and names as ids are read whole by every rank.
    weighted : bool, optional
        As for `gpop.load`.
    threads : int, optional
        Threads of later runs on each rank: parts begin at borders of their partitions.
    partition_size : int, optional
        The largest partitions that later runs are asked for; by default those that they would choose.
    transport : "auto", "alone" or "mpi"
        As for `gpop.run`.
    delimiter : str, optional
        As for `gpop.load`.
    columns : two or three str or int, optional
        As for `gpop.load`.
    header : bool, optional
        As for `gpop.load`.

    Returns
    -------
    Graph

    Raises
    ------
    UsageError
        For an unknown suffix, or fewer parts than ranks.
    GraphFileError
        As `gpop.load`; of a folder also where a part is missing or of the wrong size.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "ring.bin")
    >>> Graph.from_edges([0, 1, 2], [1, 2, 0]).save(path)
    >>> load_part(path)
    Graph(ring: 3 vertices, 3 edges)
    """
    world = world_of(transport)
    path, given = Path(path), {"delimiter": delimiter, "columns": columns, "header": header}
    if path.suffix == SUFFIX:
        for name, value in given.items():
            if value is not None:
                raise UsageError(f"{path}: {name}= is for edge lists and tables")
        return read_all_parts(path, weighted) if world is None else read_parts(path, world, weighted)
    if world is None:
        return load(path, weighted=weighted, **given)
    options = options_for(path, module_to_read(path), **given)
    expect_no_pipe(path)
    sizes = {"threads": use_threads(threads_of(threads, world)), "partition_size": partition_size}
    if path.suffix == ".bin":
        graph = load_parts(path, world, weighted=weighted, **sizes)
        graph.original_ids = read_ids(path, graph)
        return graph
    graph = _spread_file(path, world, weighted, options, sizes)
    return load(path, weighted=weighted, **given) if graph is None else graph


def reads_in_parts(path: Path) -> bool:
    """Whether ranks read a file of this name in parts, as far as the name can tell."""
    return path.suffix in (SUFFIX, ".bin") or _reader(path) is not None


def _reader(path: Path) -> Callable[..., Share | None] | None:
    """What reads a share of a file of this name; None where the format has nothing for that."""
    return READS_SHARES.get(module_to_read(path).__name__)


def _spread_file(
    path: Path, world: World, weighted: bool | None, options: dict[str, Any], sizes: dict[str, Any]
) -> Graph | None:
    """A file that ranks read in shares of whose edges any rank may be the owner; None for other files."""
    read_share = _reader(path)
    if read_share is None:
        return None
    try:
        share = read_share(path, world, weighted=weighted, **options)
    except OSError as error:
        raise GraphFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    if share is None:
        return None
    return spread(
        share.n, [_in_one(share, world)], world, name=path.name.split(".")[0], bytes_read=share.read,
        original_ids=share.original_ids, **sizes,
    )  # fmt: skip


def _in_one(share: Share, world: World) -> InEdges:
    """The pieces of a share in an array for each end, weights in the type that holds those of all ranks."""
    sources, targets = (np.concatenate([np.empty(0, np.uint32), *share.ends[at::2]]) for at in (0, 1))
    weights = None
    if share.weights is not None:
        dtype = common_type(set().union(*world.everyones(set(map(told_type, share.weights)))))
        weights = np.concatenate([np.empty(0, dtype), *share.weights], dtype=dtype, casting="unsafe")
    return InEdges(sources, targets, weights)

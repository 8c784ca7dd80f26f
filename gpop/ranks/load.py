"""``gpop.load_part``: a graph on all ranks of a job, each its part of it."""

from __future__ import annotations

import os
from pathlib import Path

from gpop.common.parallel import use_threads
from gpop.graph.graph import Graph
from gpop.io import load
from gpop.ranks.part_graph import load_parts
from gpop.ranks.parts_file import SUFFIX, read_parts
from gpop.ranks.world import threads_of, world_of


def load_part(
    path: str | os.PathLike,
    *,
    weighted: bool | None = None,
    threads: int | None = None,
    partition_size: int | None = None,
    transport: str = "auto",
) -> Graph:
    """Load a graph on all ranks of a job together, each its part; the whole graph where there are no others.

    What needs the whole graph (orders, symmetric copies, reverse) is refused later; a ``.bin`` that fits in
    the memory of every rank may be loaded by `gpop.load` just as well.

    Parameters
    ----------
    path : str or path
        A ``.bin`` file, of which each rank reads a slice, or a folder that ``python -m gpop.convert --parts``
        has written, of which it reads its parts. Other formats are read whole by every rank.
    weighted : bool, optional
        As for `gpop.load`.
    threads : int, optional
        Threads of later runs on each rank: parts begin at borders of their partitions.
    partition_size : int, optional
        The largest partitions that later runs are asked for; by default those that they would choose.
    transport : "auto", "alone" or "mpi"
        As for `gpop.run`.

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
    if world is not None and Path(path).suffix == SUFFIX:
        return read_parts(Path(path), world, weighted)
    if world is None or Path(path).suffix != ".bin":
        return load(path, weighted=weighted)
    threads = use_threads(threads_of(threads, world))
    return load_parts(path, world, weighted=weighted, threads=threads, partition_size=partition_size)

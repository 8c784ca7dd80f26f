"""Original ids beside a graph file whose format has no place for them: ``<file>.ids.npz``.

`gpop.save` writes it when the graph has original ids, and removes an old one when it has none;
`gpop.load` takes it along. It states the numbers of vertices and edges of its graph, so that ids of
another graph are noticed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.replacing import replacing
from gpop.graph.graph import Graph
from gpop.io.archive import check_archive
from gpop.io.libraries import reading


def ids_path(path: Path) -> Path:
    """Where the ids of the graph file ``path`` are.

    >>> ids_path(Path("road.bin")).name
    'road.bin.ids.npz'
    """
    return path.with_name(path.name + ".ids.npz")


def storable(graph: Graph, path: Path) -> np.ndarray | None:
    """The original ids as an array of integers or text; UsageError when they are neither."""
    ids = graph.original_ids
    if ids is None or ids.dtype.kind in "iuU":
        return ids
    names = ids.tolist()
    if not all(isinstance(name, str) and not name.endswith("\0") for name in names):
        raise UsageError(
            f"{path}: original ids are {type(names[0]).__name__} and the like, expected integers or text "
            "(set graph.original_ids = None to save without them)"
        )
    return np.array(names, str)  # also where there are none


def write_ids(path: Path, graph: Graph, ids: np.ndarray | None) -> None:
    """Write the ids beside the file, or remove those of the graph that was there before."""
    if ids is None:
        ids_path(path).unlink(missing_ok=True)
        return
    with replacing(ids_path(path)) as temporary, open(temporary, "wb") as file:
        np.savez(file, ids=ids, sizes=np.array([graph.n, graph.m]))


def read_ids(path: Path, graph: Graph) -> np.ndarray | None:
    """The ids beside the file, None when there are none; GraphFileError when they are another graph's."""
    beside = ids_path(path)
    if not beside.exists():
        return None
    with reading(beside, "a file of original ids"):
        check_archive(beside)
        with np.load(beside, allow_pickle=False) as archive:
            ids, sizes = archive["ids"], archive["sizes"].tolist()
        if sizes != [graph.n, graph.m] or ids.shape != (graph.n,) or ids.dtype.kind not in "iuU":
            raise GraphFileError(
                f"{beside}: ids of another graph ({sizes}), expected n={graph.n}, m={graph.m}: "
                f"remove it or write {path.name} anew"
            )
    return ids

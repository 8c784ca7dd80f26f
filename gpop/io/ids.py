"""Original ids beside a graph file whose format has no place for them: ``<file>.ids.npz``.

`gpop.save` writes it when the graph has original ids, and removes an old one when it has none;
`gpop.load` takes it along. It states the numbers of vertices and edges of its graph, so that ids of
another graph are noticed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.arguments import plain
from gpop.common.errors import GraphFileError, UsageError
from gpop.common.replacing import replacing
from gpop.graph.edge_pieces import integers_type
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
    names = list(map(plain, ids.tolist()))
    if names and {type(name) for name in names} == {int} and integers_type(min(names), max(names)):
        return np.array(names, integers_type(min(names), max(names)))
    if not all(isinstance(name, str) and not name.endswith("\0") for name in names):
        raise UsageError(
            f"{path}: original ids are {type(names[0]).__name__} and the like, expected integers or text "
            "(set graph.original_ids = None to save without them)"
        )
    return np.array(names, str)  # also where there are none


def distinct(graph: Graph, path: Path) -> np.ndarray | None:
    """`storable` ids for a format that tells vertices by them; UsageError when two vertices have the same."""
    ids = storable(graph, path)
    if ids is None or len(set(ids.tolist()) if ids.dtype.kind == "U" else np.unique(ids)) == graph.n:
        return ids
    found, often = np.unique(ids, return_counts=True)
    raise UsageError(
        f"{path}: {often.max()} vertices are called {found[often.argmax()].item()!r} and would be read as "
        "one, expected a name for each (.bin and .npz keep them apart)"
    )


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

"""Graph files: `load` and `save` by suffix. A new format is one module here and one line in FORMATS.

A format module has ``read(path, weighted=None, progress=False) -> Graph`` and
``write(graph, path)``; it is imported when first used.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from gpop.errors import GraphFileError, UsageError

if TYPE_CHECKING:
    from gpop.graph import Graph

FORMATS = {
    "binary_csr": (".bin",),
    "edge_list": (".txt", ".el", ".wel", ".tsv", ".csv", ".snap"),
}
COMPRESSED = {"edge_list": (".gz", ".xz")}  # further endings that the format's module unpacks itself


def load(
    path: str | os.PathLike,
    *,
    weighted: bool | None = None,
    symmetrize: bool = False,
    progress: bool = False,
) -> Graph:
    """Read a graph from a file; its suffix names the format.

    Parameters
    ----------
    path
        ``.bin`` (binary CSR of the original GPOP) or a text edge list: ``.txt .el .wel .tsv .csv
        .snap``, each also with ``.gz`` or ``.xz``.
    weighted
        None: as the file is. True: an error when it has no weights. False: weights are ignored.
    symmetrize
        Add the opposite of every edge (`Graph.symmetrize`).
    progress
        Show a progress bar when stderr is a terminal.

    Raises
    ------
    GraphFileError
        The file is missing, truncated, inconsistent or malformed; the message says where.
    NotEnoughMemory
        The graph would not fit; found out before anything large is allocated.

    Examples
    --------
    >>> import gpop.io, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "triangle.el")
    >>> _ = path.write_text("0 1\\n1 2\\n2 0\\n")
    >>> gpop.io.load(path)
    Graph(triangle: 3 vertices, 3 edges)
    """
    path = Path(path)
    module = format_module(path)
    try:
        graph = module.read(path, weighted=weighted, progress=progress)
    except OSError as error:
        raise GraphFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    graph.name = path.name.split(".")[0]
    return graph.symmetrize() if symmetrize else graph


def save(graph: Graph, path: str | os.PathLike) -> None:
    """Write a graph to a file in the format that its suffix names; the file appears whole or not at all."""
    path = Path(path)
    format_module(path).write(graph, path)


def format_module(path: str | os.PathLike) -> ModuleType:
    """The module that reads and writes files of this name; UsageError when there is none."""
    name = Path(path).name.lower()
    for module, suffixes in FORMATS.items():
        endings = suffixes + tuple(s + c for s in suffixes for c in COMPRESSED.get(module, ()))
        if name.endswith(endings):
            return importlib.import_module(f"gpop.io.{module}")
    known = " ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
    raise UsageError(
        f"{path}: unknown kind of graph file, expected a name ending in one of {known} (or .gz, .xz)"
    )

"""Graph files: `load` and `save` by suffix. A new format is one module here and one line in FORMATS.

A format module has ``read(path, weighted=None, progress=False) -> Graph`` and
``write(graph, path)``; it is imported when first used. The suffix finds the module, and the module
checks that the content is its format. ``HOLDS_IDS = True`` says that the format itself stores original
ids; for all others they lie beside the file (`gpop.io.ids`). ``ONLY_EDGES = True`` says that a vertex with an
original id and no edges is not in the file; then ``tells_size(graph, ends)`` is whether those without are.
``OPTIONS`` names what ``read`` takes besides, as ``options`` (`gpop.io.sniff.Options`).
"""

from __future__ import annotations

import errno
import importlib
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.spelling import refusing
from gpop.graph.expect import expect_graph
from gpop.graph.graph import Graph
from gpop.io.compressed import ENDINGS

# module: (suffixes, whether it also reads and writes compressed files)
FORMATS = {
    "binary_csr": ((".bin",), False),
    "gap": ((".sg", ".wsg"), False),
    "edge_list": ((".txt", ".el", ".wel", ".tsv", ".csv", ".snap", ".edges", ".edgelist"), True),
    "konect": ((".konect",), True),  # and names that begin with out.
    "ligra": ((".adj",), True),
    "metis": ((".graph", ".metis"), True),
    "dimacs": ((".gr",), True),
    "matrix_market": ((".mtx",), True),
    "scipy_npz": ((".npz",), False),
    "arrow_file": ((".parquet", ".arrow", ".feather"), False),
    "networkx_file": ((".graphml", ".gml"), False),
    "graphalytics": ((".properties",), False),  # with a .v and a .e file beside it
    "mapped": ((".mapped",), False),  # a folder, with layouts; run from disk
}

SEEKING = ("binary_csr", "gap", "scipy_npz", "arrow_file")
"""Formats that are looked at in several places of a file."""


@refusing
def load(
    path: str | os.PathLike,
    *,
    weighted: bool | None = None,
    symmetrize: bool = False,
    layouts: bool | str | os.PathLike = False,
    progress: bool = False,
    delimiter: str | None = None,
    columns: Sequence[int | str] | None = None,
    header: bool | None = None,
) -> Graph:
    """Read a graph from a file; its suffix names the format.

    Parameters
    ----------
    path : str or path
        | ``.bin`` | binary CSR of the original GPOP |
        | ``.sg .wsg`` | GAP Benchmark Suite, serialised |
        | ``.txt .el .wel .tsv .csv .snap .edges .edgelist`` | text edge list, any ids |
        | ``.konect``, ``out.*`` | KONECT |
        | ``.adj`` | Ligra |
        | ``.graph .metis`` | METIS, Chaco |
        | ``.gr`` | DIMACS challenges, PACE |
        | ``.mtx`` | Matrix Market |
        | ``.npz`` | SciPy sparse matrix |
        | ``.parquet .arrow .feather`` | edge table (needs pyarrow) |
        | ``.graphml .gml`` | through NetworkX or igraph |
        | ``.properties`` | data set of LDBC Graphalytics, only read |
        | ``.mapped`` | graph with its layouts, run from disk (``python -m gpop.convert --layout``) |

        Text formats also with ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` (needs zstandard), or from a pipe.
    weighted : bool, optional
        None: as the file is. True: an error when it has no weights. False: weights are ignored.
    symmetrize : bool
        Add the opposite of every edge (`Graph.symmetrize`).
    layouts : bool, str or path
        Keep the layouts that runs build (`gpop.layout.bins_file`): True beside the file, or a directory.
        Those of the file before it changed are deleted.
    progress : bool
        Show a progress bar.
    delimiter : str, optional
        What parts the fields of a text edge list: one character, ``" "`` for any spaces and tabs. By default
        a tab in ``.tsv``, what the lines hold of ``, ; |`` and tabs in ``.csv``, these or blanks in others.
    columns : two or three str or int, optional
        Source, target and, when wanted, weight of an edge list or table: their names, or their places from
        0. By default those that a header names as usual, else the first two or three.
    header : bool, optional
        Whether the first line of a text edge list holds column names. By default it does when these are
        usual names, or words above numbers. What delimiter, columns and header leave open is refused.

    Returns
    -------
    Graph
        Integer ids of an edge list or table are indices, and there are as many vertices as the largest + 1,
        while that is at most 4 * (number of distinct ids) + 1024. Sparser ids are numbered in ascending
        order, names as they first appear, and both are kept in ``original_ids``. Vertex k of a format that
        counts from 1 (``.gr .mtx .graph .metis``, KONECT) has the index k-1, and no original id.

    Raises
    ------
    UsageError
        For an unknown suffix, or an option that the format has no use for.
    GraphFileError
        The file is missing, truncated, inconsistent or malformed; the message says where.
    NotEnoughMemory
        The graph would not fit; found out before anything large is allocated. The edges of ``.bin`` are
        mapped then, if that is enough.

    Examples
    --------
    >>> import gpop.io, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "triangle.el")
    >>> _ = path.write_text("0 1\\n1 2\\n2 0\\n")
    >>> gpop.io.load(path)
    Graph(triangle: 3 vertices, 3 edges)
    """
    from gpop.io.ids import read_ids
    from gpop.layout.orphans import file_state

    path = _as_path(path)
    module = module_to_read(path)
    options = options_for(path, module, delimiter=delimiter, columns=columns, header=header)
    if module.__name__.endswith(SEEKING):
        expect_no_pipe(path)
    try:
        file = file_state(path)
        graph = module.read(path, weighted=weighted, progress=progress, **options)
    except OSError as error:
        raise GraphFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not getattr(module, "HOLDS_IDS", False):
        graph.original_ids = read_ids(path, graph)
    graph.name = path.name.split(".")[0]
    if symmetrize:
        graph = graph.symmetrize()
    graph.facts.file = file
    if layouts:
        graph.facts.layout_directory = path.parent if layouts is True else _as_path(layouts)
    return graph


def save(graph: Graph, path: str | os.PathLike) -> None:
    """Write a graph to a file in the format that its suffix names; the file appears whole or not at all.

    Original ids are stored in the file when the format has room for them, else beside it in
    ``<file>.ids.npz``, where `load` finds them.

    Edge lists, as text (``.txt``, ``.el``, ``.csv`` ...) or tables (``.parquet``, ``.arrow``, ``.feather``),
    hold only edges, between original ids where there are some: vertices with original ids and no edges are
    not in them, nor are those without edges where they are most (more than three of four, and 1,024), which
    a `UserWarning` says, and original ids that are integers are read back as `load` reads
    any edge list: as vertices that are numbered from 0 to the largest id, unless the ids are far apart.

    Parameters
    ----------
    graph : Graph
    path : str or path
        Suffixes as for `load`.

    Raises
    ------
    UsageError
        For an unknown suffix.
    GraphFileError
        If the file cannot be written, or its format has no room for the graph.

    Examples
    --------
    >>> import gpop, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pair.mtx")
    >>> gpop.save(gpop.Graph.from_edges([0], [1]), path)
    >>> gpop.load(path)
    Graph(pair: 2 vertices, 1 edges)
    """
    from gpop.io.ids import storable, write_ids

    expect_graph(graph, "gpop.save")
    path = _as_path(path)
    module = format_module(path)
    if getattr(module, "HOLDS_IDS", False):
        module.write(graph, path)
        if getattr(module, "ONLY_EDGES", False):
            _warn_of_lone_vertices(graph, path, module)
        return
    ids = storable(graph, path)
    module.write(graph, path)
    write_ids(path, graph, ids)


def _as_path(path: Any) -> Path:
    """The path of a file; UsageError for what is none."""
    try:
        return Path(path)
    except TypeError:
        raise UsageError(f"{path!r}: expected the name of a file") from None


def _warn_of_lone_vertices(graph: Graph, path: Path, module: ModuleType) -> None:
    """Say how many vertices of the graph will not be read from this edge list, if some will not."""
    lone = graph.out_degree == 0
    lone[graph.indices] = False
    count = int(lone.sum())
    if count and graph.original_ids is None:
        if module.tells_size(graph, graph.n - count):
            return
        from gpop.graph.renumber import dense_enough

        behind = int(lone[::-1].argmin()) if graph.m else graph.n  # the last ones
        count = behind if dense_enough(graph.n - behind - 1, graph.n - count) else count
    if count:
        warnings.warn_explicit(
            f"{path}: without {count} of {graph.n} vertices, which have no edges: an edge list holds only "
            "edges; .bin, .mtx and .gml hold them",
            UserWarning, "gpop", 0,
        )  # fmt: skip


def options_for(path: Path, module: ModuleType, **given: Any) -> dict[str, Any]:
    """Arguments for the module's reader; UsageError when its format has no use for what was given."""
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in getattr(module, "OPTIONS", ()):
            kind = "edge lists and tables" if name == "columns" else "text edge lists"
            raise UsageError(f"{path}: {name}= is for {kind}")
    if not given:
        return {}
    from gpop.io.sniff import options_of

    return {"options": options_of(**given)}


def expect_no_pipe(path: Path) -> None:
    """GraphFileError for a pipe, where a file is read in several places, or by several processes."""
    if path.is_fifo():
        raise GraphFileError(f"{path}: is a pipe, expected a file: from a pipe one process reads text")


def module_to_read(path: Path) -> ModuleType:
    """The module that reads a file. Of one that is missing that is said, whatever its name.

    Raises
    ------
    UsageError
        For an unknown suffix.
    GraphFileError
        For one where there is no such file either.
    """
    try:
        return format_module(path)
    except UsageError:
        if path.exists():
            raise
    raise GraphFileError(f"{path}: cannot be read: {os.strerror(errno.ENOENT)}")


def module_to_write(path: Path) -> ModuleType:
    """The module that writes a file, for what is made before: a name that cannot be is found out now.

    Raises
    ------
    UsageError
        For an unknown suffix.
    GraphFileError
        If there is no such folder.
    """
    module = format_module(path)
    if not path.parent.is_dir():
        raise GraphFileError(f"{path}: cannot be written: {os.strerror(errno.ENOENT)}")
    return module


def format_module(path: str | os.PathLike) -> ModuleType:
    """The module that reads and writes files of this name; UsageError when there is none."""
    name = Path(path).name.lower()
    for module, (suffixes, compressible) in FORMATS.items():
        endings = suffixes + tuple(s + c for s in suffixes for c in ENDINGS if compressible)
        if name.endswith(endings):
            return importlib.import_module(f"gpop.io.{module}")
    if name.startswith("out."):  # KONECT names its files out.<network>
        return importlib.import_module("gpop.io.konect")
    known = " ".join(suffix for suffixes, _ in FORMATS.values() for suffix in suffixes)
    raise UsageError(
        f"{path}: unknown kind of graph file, expected a name ending in one of {known} "
        f"(text formats also with {' '.join(ENDINGS)})"
    )

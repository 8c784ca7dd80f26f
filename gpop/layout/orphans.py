"""Kept layouts that nobody can use any more: those of what a graph file was before it changed.

The header of a layout names the file that the graph was loaded from (a hash of its path) and the state
it was in (a hash of its size and time of modification). When a new layout is written, those beside it
that name the same file in another state than it is in now are deleted, and so are those of an older
format version under the same name. Layouts of graphs that were never in a file are left alone, and so
is everything when the file changed since the graph was loaded. Processes that have mapped a deleted
layout keep it; where nothing may be deleted, nothing is.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from gpop.common.array_hash import hash_array
from gpop.graph.graph import Graph
from gpop.layout.file_header import VERSION, read_header


def file_state(path: str | os.PathLike) -> tuple[str, int, int]:
    """What identifies a file and the state it is in: path, size, time of modification."""
    found = os.stat(path)
    return os.path.abspath(path), found.st_size, found.st_mtime_ns


def origin(graph: Graph) -> tuple[int, int]:
    """Hashes of the file that the graph was loaded from and of its state; (0, 0) when there is none."""
    if graph.facts.file is None:
        return 0, 0
    path, *state = graph.facts.file
    return hash_array(np.frombuffer(os.fsencode(path), np.uint8)), hash_array(np.array(state, np.int64))


def remove_orphans(graph: Graph, kept: Path) -> None:
    """Delete what the layout ``kept``, just written, makes useless."""
    with suppress(OSError):
        loaded = graph.facts.file
        if loaded is None or file_state(loaded[0]) != loaded:
            return
        file, state = origin(graph)
        for path in kept.parent.glob("*.layout"):
            header = read_header(path)
            if header is None or path == kept:
                continue
            if header["version"] < VERSION:
                stale = path.name.rsplit("-", 2)[0] == kept.name.rsplit("-", 2)[0]  # name-content-q
            else:
                stale = header["file"] == file and header["state"] != state
            if stale:
                path.unlink(missing_ok=True)

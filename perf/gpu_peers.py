"""Other programs to measure beside gpop on a GPU: run in turns, or times that they gave elsewhere.

A peer is a command line in which ``{graph}`` (and ``{weighted}``, the same file) stands for the graph, and
``{source}`` for the vertex where bfs and sssp start; it prints lines ``bfs MS``, ``sssp MS``, ``pagerank MS``
(milliseconds; of one iteration for pagerank). Other lines are not read.
Graph file, little-endian: int64 n, int64 m, int32 offsets[n + 1], int32 columns[m], float32 weights[m].
Times from elsewhere: a JSON object, graph -> app -> milliseconds.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np

import gpop
from gpop.common.errors import UsageError
from gpop.common.write_arrays import write_array

_LINE = re.compile(r"^(bfs|sssp|pagerank)\s+([0-9.eE+-]+)\s*$", re.MULTILINE)
LIMIT_SECONDS = 300


def named(text: str) -> tuple[str, str]:
    """Name and the rest of ``NAME:REST``.

    Examples
    --------
    >>> named("other:program {graph}")
    ('other', 'program {graph}')
    """
    name, colon, rest = text.partition(":")
    if not (name and colon and rest.strip()):
        raise UsageError(f"{text!r}: expected NAME:COMMAND for a peer, NAME:FILE for external times")
    return name, rest


def write_raw(graph: gpop.Graph, path: Path) -> None:
    """Write a weighted graph in the peers' format."""
    if max(graph.n, graph.m) >= 2**31:
        raise UsageError(f"{graph!r} for a peer: expected fewer than 2**31 edges")
    with path.open("wb") as file:
        write_array(np.array([graph.n, graph.m], "<i8"), file)
        write_array(graph.indptr.astype("<i4"), file)
        write_array(graph.indices.astype("<u4", copy=False), file)
        write_array(graph.weights.astype("<f4"), file)


def run_peer(name: str, command: str, graph: Path, source: int) -> dict[str, float]:
    """App -> seconds, of one run of the command."""
    values = {"{graph}": str(graph), "{weighted}": str(graph), "{source}": str(source)}
    words = shlex.split(command)
    for place, value in values.items():
        words = [word.replace(place, value) for word in words]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"peer {name}: {error}") from None
    found = {app: 1e-3 * float(ms) for app, ms in _LINE.findall(done.stdout)}
    if done.returncode or not found:
        last = (done.stderr.strip() or done.stdout.strip() or "it printed nothing").splitlines()[-1]
        raise UsageError(
            f"peer {name}: exit code {done.returncode}: {last}: expected lines such as 'bfs 1.5' (ms)"
        )
    return found


def read_external(name: str, path: Path) -> dict[str, dict[str, float]]:
    """Graph -> app -> seconds, from a file."""
    try:
        told = json.loads(path.read_text())
        return {graph: {app: 1e-3 * float(ms) for app, ms in apps.items()} for graph, apps in told.items()}
    except OSError as error:
        raise UsageError(f"external {name}: {path}: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError):
        raise UsageError(f"external {name}: {path}: expected JSON, graph -> app -> milliseconds") from None

"""What is particular about an app, beside the command line that all of them share (cli.py)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpop
from gpop.execution.asked import TARGETS


@dataclass(frozen=True, kw_only=True)
class App:
    """What is particular about an app.

    ``solve(graph, given, options)`` makes one call, ``headline(graph, result, given)`` says what a person
    wants to know first, ``columns(graph, result)`` is what ``--output`` writes beside the vertices (None
    where there is nothing to say about each), and
    ``verify(graph, result, given)`` is None or a fault. ``given`` are the parsed arguments with ``source``
    as vertices and ``name`` for it in messages. ``edges(graph, result)`` is what edges per second count,
    by default the edges of the frontiers. ``to_the_end``: only a finished run can be verified.
    ``weighted``: whether weights are read, and must be there; an option of that name decides instead.
    ``in_parts``: whether it does without the arrays of the whole graph, where ranks have a part each.
    ``loop``: the kind of the compiled loop (`gpop.cpu.loops`) that it needs whatever the graph, on the CPU.
    ``refuses`` are options of all apps that ``solve`` refuses or that mean nothing to it: no help lists them.
    ``targets``: where it can run.
    """

    name: str
    about: str
    solve: Callable[[gpop.Graph, argparse.Namespace, dict], Any]
    headline: Callable[[gpop.Graph, Any, argparse.Namespace], str]
    columns: Callable[[gpop.Graph, Any], dict[str, np.ndarray]] | None
    verify: Callable[[gpop.Graph, Any, argparse.Namespace], str | None]
    edges: Callable[[gpop.Graph, Any], int] = lambda graph, result: result.trace.column("active_edges").sum()
    arguments: Callable[[argparse.ArgumentParser], None] | None = None
    source: str | None = None
    weighted: bool = False
    to_the_end: bool = False
    refuses: tuple[str, ...] = ()
    targets: tuple[str, ...] = TARGETS
    in_parts: bool = True
    loop: str | None = None

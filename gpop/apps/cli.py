"""The command line that all apps share: ``python -m gpop.apps.NAME graph [options]``.

An app says what is its own (`App`); timing, output and errors are here, the grammar in cli_arguments.py.
Every app times itself the same way: one discarded warm-up, then ``--rounds`` (of one round, which is all that
is done, the time in the loop); loading and preparing are told apart.
Exit codes: 0, 1 when ``--verify`` fails, 2 for bad input (one line on stderr), 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import gpop
from gpop.apps import json_report, report, tables
from gpop.apps.app import App
from gpop.apps.checkpoint_options import checkpoint_of
from gpop.apps.cli_arguments import ROUNDS, parse
from gpop.common.command import exit_code, fail, print_json, reading_options
from gpop.common.errors import UsageError
from gpop.common.launched import launched_ranks
from gpop.common.progress import by_default
from gpop.cpu import loops
from gpop.ranks.world import World, end_all, world_of

SOURCE_SEED = 27491095
_NOT_OF_THE_RUN = (
    "graph", "delimiter", "columns", "header", "layouts", "name",
    "output", "trace", "report", "json", "verify", "progress",
    "checkpoint", "checkpoint_every",
)  # fmt: skip
"""Arguments that say what is read and written, not how it is run."""


def main(argv: list[str] | None, app: App) -> int:
    """Run an app; returns the exit code."""
    return exit_code(lambda: _run(app, parse(argv, app)), end_all if launched_ranks() > 1 else None)


def _run(app: App, given: argparse.Namespace) -> int:
    checkpoint = checkpoint_of(given)
    given.rounds = given.rounds or ROUNDS
    world = world_of(given.transport)
    tells = world is None or world.rank == 0
    progress = (given.progress or by_default()) and tells
    if app.loop and world is None and given.target == "cpu":
        loops.begin(app.loop)  # while the graph is read
    start = time.perf_counter()
    graph = _load(app, given, world, progress)
    load_seconds = time.perf_counter() - start
    if app.source:
        drawn = given.source is None
        given.source, given.name = _source(graph, given.source, app.source == "many")

    names = (
        "threads",
        "mode",
        "ratio",
        "model",
        "interleave",
        "partition_size",
        "target",
        "iterations",
        "reorder",
        "device_memory",
    )
    options = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    options["progress"] = progress
    if given.residency != "auto":
        options["residency"] = given.residency
    if given.transport != "auto":
        options["transport"] = given.transport
    if world is not None:
        options["gather"] = True  # what is printed and written is about the whole graph
    lasting = {} if checkpoint is None else {"checkpoint": checkpoint}
    start = time.perf_counter()
    result = app.solve(graph, given, options | lasting)
    prepare_seconds = time.perf_counter() - start - result.run.seconds
    bins_seconds = result.run.prepare_seconds
    seconds = [result.run.seconds] if given.rounds == 1 else []
    for _ in range(given.rounds if given.rounds > 1 else 0):
        result = None  # the arrays of one result at a time
        result = app.solve(graph, given, dict(options))
        seconds.append(result.run.seconds)

    edges = int(app.edges(graph, result))
    try:
        files = _write(app, given, graph, result, world)  # before a reader of the text may go away
    finally:  # and where there is no room for a file, the answer is told
        if tells and not given.json:
            print(app.headline(graph, result, given))
            if app.source and drawn:
                print(f"source      {given.name} was drawn at random; choose one with --source")
            print(report.timing(seconds, edges), end="\n\n")
            print(report.details(graph, result, load_seconds, prepare_seconds, bins_seconds))
            if given.layouts:
                print(report.layouts(graph))
    if not tells:
        return 0
    fault = app.verify(graph, result, given) if given.verify else None
    if given.json:
        took = {"load": load_seconds, "prepare": prepare_seconds, "layout": bins_seconds, "rounds": seconds}
        told = json_report.told(graph, result, took, edges) | {"options": _asked(given, options)}
        told |= {"files": files, "verified": None if not given.verify else fault is None}
        print_json(app.name, told)
    elif files:
        print("\n".join(f"{name:12}{said}" for name, said in files.items()))
    if fault:
        return fail(f"verification failed: {fault}", 1)
    if given.verify and not given.json:
        print("verified    by a serial method of another kind")
    return 0


def _load(app: App, given: argparse.Namespace, world: World | None, progress: bool) -> gpop.Graph:
    """The graph; on several ranks each its part, where the file and the options allow that."""
    weighted, reading = getattr(given, "weighted", app.weighted), reading_options(given)
    if world is not None and app.in_parts and not _whole(given):
        from gpop.ranks.load import load_part, reads_in_parts

        if reads_in_parts(given.graph):
            sizes = {"threads": given.threads, "partition_size": given.partition_size}
            return load_part(given.graph, weighted=weighted, transport=given.transport, **sizes, **reading)
    if given.graph.suffix == ".parts" and not given.layouts:  # each rank by itself, which has all of it then
        graph = gpop.load_part(given.graph, weighted=weighted, transport="alone", **reading)
        return graph.symmetrize() if given.symmetrize else graph
    return gpop.load(
        given.graph,
        weighted=weighted,
        symmetrize=given.symmetrize,
        layouts=given.layouts,
        progress=progress,
        **reading,
    )


def _whole(given: argparse.Namespace) -> bool:
    """Whether an option needs the whole graph in one place."""
    weighted = getattr(given, "weighted", False)  # sums of the weights of out-edges
    return weighted or given.symmetrize or given.layouts or given.verify or given.reorder != "none"


def _write(
    app: App, given: argparse.Namespace, graph: gpop.Graph, result: Any, world: World | None
) -> dict[str, str]:
    """Write the files that are asked for, the table by all ranks; what they are called, what is in them."""
    files = {}
    if given.output:
        vertices = getattr(result, "vertices", None)
        rows = np.arange(graph.n) if vertices is None else vertices
        missing = {name: column.missing for name, column in tables.columns(result).items()}
        columns = {"vertex": report.ids(graph, rows), **app.columns(graph, result)}
        report.save_table(given.output, columns, missing, world)
        files["output"] = str(given.output) if given.json else f"{given.output}: {rows.size:,} rows"
    if given.trace and (world is None or world.rank == 0):
        result.trace.save(given.trace)
        files["trace"] = str(given.trace)
    if given.report and (world is None or world.rank == 0):
        gpop.report(result, given.report)
        files["report"] = str(given.report)
    return files


def _asked(given: argparse.Namespace, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the run, and those that only this app has."""
    shared = {*options, *_NOT_OF_THE_RUN}
    own = {name: value for name, value in vars(given).items() if name not in shared}
    return {name: value for name, value in options.items() if name != "progress"} | own


def _source(graph: gpop.Graph, text: str | None, several: bool) -> tuple[Any, str]:
    """Vertices for what was given as original ids, and how to call them; or a random one with out-edges."""
    if graph.n == 0:
        raise UsageError(f"{graph.name} has no vertices: there is nothing to start from")
    if text is None:
        candidates = np.flatnonzero(graph.out_degree)
        vertex = int(np.random.default_rng(SOURCE_SEED).choice(candidates)) if candidates.size else 0
        name = report.ids(graph, np.array([vertex]))[0]
        return vertex, f"vertex {name}"
    names = [name.strip() for name in text.split(",")] if several else [text]
    vertices = [graph.vertex_of(original_id(graph, name)) for name in names]
    return (
        vertices if several else vertices[0]
    ), f"vert{'ex' if len(names) == 1 else 'ices'} {', '.join(names)}"


def original_id(graph: gpop.Graph, text: str) -> int | str:
    """Ids are numbers unless the graph's are names and this is one of them."""
    numeric = graph.original_ids is None or graph.original_ids.dtype.kind in "iu"
    if numeric or text not in graph.original_ids:
        try:
            return int(text)
        except ValueError:
            return text
    return text

"""The command line that all apps share: ``python -m gpop.apps.NAME graph [options]``.

An app says what is its own (`App`); the grammar, timing, output and errors are here. Every app times
itself the same way: one discarded warm-up, then ``--rounds`` (of one round, which is all that is done, the
time in the loop); loading and preparing are told apart.
Exit codes: 0, 1 when ``--verify`` fails, 2 for bad input (one line on stderr), 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop.apps import json_report, report, tables
from gpop.apps.checkpoint_options import add_checkpoint_options, checkpoint_of
from gpop.common.command import (
    Parser,
    add_json_option,
    add_reading_options,
    exit_code,
    fail,
    print_json,
    prog,
    reading_options,
)
from gpop.common.errors import UsageError
from gpop.common.launched import launched_ranks
from gpop.common.parallel import MOST_THREADS
from gpop.common.progress import by_default
from gpop.execution.run import RESIDENCIES, TARGETS
from gpop.graph.transform import ORDERS
from gpop.model.choosers import MODEL_NAMES, MODELS
from gpop.model.strategies import ASKED, check_asked, described
from gpop.ranks.world import TRANSPORTS, World, end_all, world_of

ROUNDS = 3
TRACE_SUFFIXES = (".json", ".csv", ".png", ".svg", ".pdf")
SOURCE_SEED = 27491095
_NOT_OF_THE_RUN = (
    "graph", "delimiter", "columns", "header", "layouts", "name",
    "output", "trace", "report", "json", "verify", "progress",
    "checkpoint", "checkpoint_every",
)  # fmt: skip
"""Arguments that say what is read and written, not how it is run."""


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
    ``refuses`` are options of all apps that ``solve`` refuses or that mean nothing to it: no help lists them.
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
    in_parts: bool = True


def main(argv: list[str] | None, app: App) -> int:
    """Run an app; returns the exit code."""
    return exit_code(lambda: _run(app, _parse(argv, app)), end_all if launched_ranks() > 1 else None)


def _parse(argv: list[str] | None, app: App) -> argparse.Namespace:
    parser = Parser(
        prog=prog(f"gpop.apps.{app.name}"),
        description=app.about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "graph", type=Path, help="graph file (.bin .txt .el .mtx .graph .gr .sg ...: see gpop.load)"
    )
    add_reading_options(parser)
    parser.add_argument("--symmetrize", action="store_true", help="add the opposite of every edge")
    parser.add_argument(
        "--layouts",
        action="store_true",
        help="keep the bins (not the in-edges of pull) beside the graph and find them there next time",
    )
    if app.source:
        several = "; several are separated by commas" if app.source == "many" else ""
        parser.add_argument(
            "--source", metavar="ID", help=f"original id of a vertex; default: a random one{several}"
        )
    if app.arguments:
        app.arguments(parser)
    parser.add_argument("--threads", type=_number(1, MOST_THREADS), metavar="T", help="default: all cores")
    parser.add_argument(
        "--mode", action=_Mode, metavar="MODE", default="auto",
        help=f"how messages travel: {', '.join(ASKED)}; list: what each does",
    )  # fmt: skip
    parser.add_argument(
        "--ratio", type=float, help="bandwidth of PC over SC in the model (2; measured on a GPU)"
    )
    parser.add_argument(
        "--model",
        choices=MODEL_NAMES,
        default=MODEL_NAMES[0],
        help="what auto goes by; " + "; ".join(f"{model.name}: {model.about}" for model in MODELS),
    )
    parser.add_argument("--interleave", action=argparse.BooleanOptionalAction, help="gather while scattering")
    parser.add_argument(
        "--partition-size", type=_number(1), metavar="Q", help="vertices per partition, a power of 2"
    )
    parser.add_argument(
        "--reorder", choices=("none", *ORDERS), default="none", help="run with the vertices in another order"
    )
    parser.add_argument("--target", choices=TARGETS, default="cpu", help="where to run; python: plain, slow")
    parser.add_argument(
        "--residency", choices=tuple(dict.fromkeys(sum(RESIDENCIES.values(), ()))), default="auto",
        help="where edges are: of a .mapped folder read first or left on disk; of a GPU all there, or "
        "what does not fit in the host's memory",
    )  # fmt: skip
    parser.add_argument(
        "--device-memory", metavar="BYTES", help="most that a run may take of a GPU, such as 4GB"
    )
    parser.add_argument(
        "--transport", choices=TRANSPORTS, default="auto", help="whether the ranks of mpiexec run it together"
    )
    parser.add_argument("--iterations", type=_number(1), metavar="N", help="at most so many")
    parser.add_argument(
        "--rounds", type=_number(1), metavar="R", help=f"timed runs after the warm-up ({ROUNDS})"
    )
    add_checkpoint_options(parser)
    parser.add_argument(
        "--output",
        type=_file(report.TABLE_SUFFIXES),
        metavar="FILE",
        help=".csv or .tsv (empty where there is no value) or .npy",
    )
    parser.add_argument(
        "--trace", type=_file(TRACE_SUFFIXES), metavar="FILE", help=".json, .csv, .png, .svg or .pdf"
    )
    parser.add_argument(
        "--report", type=_file((".html",)), metavar="FILE", help=".html: the run as a page for a browser"
    )
    add_json_option(parser)
    parser.add_argument(
        "--verify", action="store_true", help="check the result by a serial method of another kind"
    )
    parser.add_argument("--progress", action="store_true", help="show progress even if stderr is no terminal")
    defaults = {action.dest: action.default for action in parser._actions}
    for action in parser._actions:
        if action.dest in app.refuses or (action.dest == "output" and app.columns is None):
            action.help = argparse.SUPPRESS  # known, so that it is refused by name
    given = parser.parse_args(argv)
    if given.output and app.columns is None:
        parser.error(f"--output is for values of vertices: {app.name} has none")
    if given.verify and app.to_the_end and given.iterations != defaults["iterations"]:
        parser.error("--verify needs a finished run: leave out --iterations")
    return given


class _Mode(argparse.Action):
    """``--mode``; ``list`` prints all there are and ends."""

    @staticmethod
    def completer(prefix: str, **_: Any) -> list[str]:
        """What a shell offers: parameters make more modes than a list of choices could hold."""
        return [name for name in (*ASKED, "list") if name.startswith(prefix)]

    def __call__(self, parser: argparse.ArgumentParser, given: Any, value: Any, option: Any = None) -> None:
        if value == "list":
            print(described())
            parser.exit()
        try:
            check_asked("argument --mode:", value)
        except UsageError as error:
            parser.error(str(error))
        setattr(given, self.dest, value)


def _number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Type of an option: a whole number in a range."""

    def convert(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            limit = f"from {least} on" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number {limit}")
        return int(text)

    return convert


def _file(suffixes: tuple[str, ...]) -> Callable[[str], Path]:
    """Type of an option: a file that can be written, known before the work is done."""

    def convert(text: str) -> Path:
        path = Path(text)
        if path.suffix not in suffixes:
            raise argparse.ArgumentTypeError(f"{text!r}: expected a name ending in {', '.join(suffixes)}")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text!r}: there is no directory {path.parent}")
        return path

    return convert


def _run(app: App, given: argparse.Namespace) -> int:
    checkpoint = checkpoint_of(given)
    given.rounds = given.rounds or ROUNDS
    world = world_of(given.transport)
    tells = world is None or world.rank == 0
    progress = (given.progress or by_default()) and tells
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
    if tells and not given.json:
        print(app.headline(graph, result, given))
        if app.source and drawn:
            print(f"source      {given.name} was drawn at random; choose one with --source")
        print(report.timing(seconds, edges), end="\n\n")
        print(report.details(graph, result, load_seconds, prepare_seconds, bins_seconds))
        if given.layouts:
            print(report.layouts(graph))
    files = _write(app, given, graph, result, world)
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

"""The arguments of an app's command line: those that all apps share, and the app's own."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpop.apps import report
from gpop.apps.app import App
from gpop.apps.checkpoint_options import add_checkpoint_options
from gpop.common.command import PICTURES, Parser, add_json_option, add_reading_options, file_to_write, prog
from gpop.common.errors import UsageError
from gpop.common.parallel import MOST_THREADS
from gpop.execution.asked import RESIDENCIES
from gpop.graph.transform import ORDERS
from gpop.model.asked import ASKED, check_asked
from gpop.model.models import MODEL_NAMES, MODELS
from gpop.model.strategies import described
from gpop.ranks.world import TRANSPORTS

ROUNDS = 3
TRACE_SUFFIXES = (".json", ".csv", *PICTURES)


def parse(argv: list[str] | None, app: App) -> argparse.Namespace:
    """The arguments of an app; what does not fit ends the process with exit code 2."""
    parser = Parser(prog=prog(f"gpop.apps.{app.name}"), description=app.about)
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
            "--source", metavar="ID",
            help="id of a vertex in the file, counted from 0 also where that counts from 1 (.gr .mtx .graph "
            f"KONECT); default: a random one with edges, always the same{several}",
        )  # fmt: skip
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
    slow = "; python: plain, slow" if "python" in app.targets else ""
    parser.add_argument("--target", choices=app.targets, default="cpu", help=f"where to run{slow}")
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
        type=file_to_write(report.TABLE_SUFFIXES),
        metavar="FILE",
        help=".csv or .tsv (empty where there is no value) or .npy",
    )
    parser.add_argument(
        "--trace", type=file_to_write(TRACE_SUFFIXES), metavar="FILE", help=".json, .csv, .png, .svg or .pdf"
    )
    parser.add_argument(
        "--report",
        type=file_to_write((".html",)),
        metavar="FILE",
        help=".html: the run as a page for a browser",
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
    _check_files(parser, given)
    return given


def _check_files(parser: Parser, given: argparse.Namespace) -> None:
    """No file is written over by another one, however it is called."""
    taken = {os.path.realpath(given.graph): "graph"}
    for name in ("output", "trace", "report"):
        path = getattr(given, name)
        if path is None:
            continue
        other = taken.setdefault(os.path.realpath(path), name)
        if other == "graph":
            parser.error(f"--{name} {path}: is the file of the graph, expected another one")
        if other != name:
            parser.error(f"--{name} {path}: is the file of --{other}, expected another one")


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

"""What command lines share: errors in one line on stderr, and exit codes.

0, 2 for bad input and output that cannot be written (a full device), 130 after Ctrl-C. A reader of our
output that goes away (``| head``) is told nothing, and the code is the usual one, 141 (128 + SIGPIPE).
Arguments are parsed inside `exit_code`, too: ``--help`` writes as well.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import json
import math
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, TextIO

from gpop.common import starting
from gpop.common.errors import GpopError, UsageError
from gpop.common.interrupts import dropped_come_again, raised_at_work

CLOSED_PIPE = 141
PICTURES = (".png", ".svg", ".pdf")

called_as: str | None = None
"""What a command was called by, where not as ``python -m`` its module: ``gpop bfs``."""


def prog(module: str) -> str:
    """How the command of this module is called, for its help.

    >>> prog("gpop.info")
    'python -m gpop.info'
    """
    return called_as or f"python -m {module}"


class Parser(argparse.ArgumentParser):
    """Of every command: options have their whole names, and a banner that is its help keeps its lines.

    It says what is wrong in one line, and completes words where a shell asks for that (argcomplete).
    """

    def __init__(self, **named: Any) -> None:
        lines = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
        super().__init__(**lines | named)

    def parse_args(self, *given: Any, **named: Any) -> Any:
        if "_ARGCOMPLETE" in os.environ:
            from argcomplete import autocomplete

            autocomplete(self)
        return super().parse_args(*given, **named)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def file_to_write(suffixes: tuple[str, ...] = ()) -> Callable[[str], Path]:
    """Type of an option: a file that can be written, known before the work is done; by default of any name.

    >>> file_to_write((".csv", ".png"))("ranks.csv").name
    'ranks.csv'
    """

    def convert(text: str) -> Path:
        path = Path(text)
        if suffixes and path.suffix not in suffixes:
            raise argparse.ArgumentTypeError(f"{text!r}: expected a name ending in {', '.join(suffixes)}")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text!r}: there is no directory {path.parent}")
        if path.suffix in PICTURES and find_spec("matplotlib") is None:
            raise argparse.ArgumentTypeError(f"{text!r}: a plot needs matplotlib (pip install matplotlib)")
        return path

    return convert


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """How a text edge list is read, where its lines leave that open (see `gpop.load`)."""
    parser.add_argument(
        "--delimiter",
        type=_delimiter,
        metavar="C",
        help="what parts the fields of a text edge list: one character, tab or blank (default: found out)",
    )
    parser.add_argument(
        "--columns",
        type=_columns,
        metavar="S,T[,W]",
        help="names, or places from 0, of source, target and weight (default: found out)",
    )
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line holds column names (default: found out)",
    )


def reading_options(given: argparse.Namespace) -> dict[str, Any]:
    """Arguments for `gpop.load` from parsed options."""
    return {name: getattr(given, name) for name in ("delimiter", "columns", "header")}


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """``--json``, as all commands have it."""
    parser.add_argument("--json", action="store_true", help="print one JSON object (schema: gpop/schemas/)")


def print_json(command: str, told: dict[str, Any]) -> None:
    """Print what a command has to say as one object, with the version and the command's name first."""
    version = sys.modules["gpop"].__version__
    print(json.dumps(_plain({"gpop": version, "command": command, **told}), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    """What JSON can say: numbers of NumPy as Python's, those that are not finite as null, others as text.

    >>> _plain({"a": (1, float("inf")), 2: None})
    {'a': [1, None], '2': None}
    """
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _delimiter(text: str) -> str:
    return {"tab": "\t", "\\t": "\t", "blank": " "}.get(text, text)


def _columns(text: str) -> tuple[int | str, ...]:
    names = text.split(",")
    return tuple(map(int, names)) if all(name.isdecimal() for name in names) else tuple(names)


def exit_code(work: Callable[[], int | None], failed: Callable[[str, int], int] | None = None) -> int:
    """Do the work; print its error, if any, and return the exit code (the work's own, if it has one).

    ``failed`` gets the error and its code in place of `fail`.
    """
    failed = failed or fail
    atexit.register(gc.freeze)  # else who has compiled looks through millions of objects at its end
    _escape_on_output()
    try:
        try:
            with dropped_come_again(), raised_at_work():
                return work() or 0
        except KeyboardInterrupt:
            return failed("interrupted", starting.INTERRUPTED)
        except GpopError as error:
            return failed(str(error), 2)
        except MemoryError as error:
            return failed(f"not enough memory: {error}".removesuffix(": "), 2)  # Python's own says nothing
        finally:
            if sys.stdout:  # None where the shell has closed it
                sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
        return CLOSED_PIPE
    except OSError as error:
        if error.filename is None:  # it may be the output's; a file of that name has nothing to do with it
            _discard(sys.stdout)
        return failed(f"{error.filename or 'the output'}: {error.strerror or error}", 2)


def _escape_on_output() -> None:
    """Names that the encoding of the output does not have are printed with escapes, as errors are."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard(stream: TextIO) -> None:
    """What is left in the buffer goes nowhere, so that Python does not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def fail(message: str, code: int) -> int:
    """Print one line; return the exit code."""
    if sys.stderr:  # None where the shell has closed it
        try:
            sys.stderr.write(f"gpop: {' '.join(message.split())}\n")
        except OSError:  # nobody is left to be told
            _discard(sys.stderr)
    return code

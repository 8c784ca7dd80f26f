"""The command-line parser that all commands of perf share: the module's banner is its help."""

from __future__ import annotations

from pathlib import Path

from gpop.common.command import Parser, file_to_write
from perf.store import DEFAULT_PATH


def documented(command: str, about: str | None) -> Parser:
    """Parser of ``python -m perf COMMAND``."""
    return Parser(prog=f"python -m perf {command}", description=about)


def with_out(command: str, about: str | None) -> Parser:
    """The same with ``--out``, where `perf.provenance.written` copies what is printed to."""
    parser = documented(command, about)
    parser.add_argument("--out", type=file_to_write(), metavar="FILE", help="write the output there too")
    return parser


def with_store(command: str, about: str | None) -> Parser:
    """The first with ``--store``."""
    parser = documented(command, about)
    parser.add_argument("--store", type=Path, default=DEFAULT_PATH, help="default: %(default)s")
    return parser

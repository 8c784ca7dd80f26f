"""``python -m gpop`` and ``gpop``: every command by its name, and the list of them.

The commands are the modules of the package that can be run: ``gpop bfs graph.bin`` is ``python -m
gpop.apps.bfs graph.bin``. A module is imported when its command is called, and says what it does in its first
line. Completion of names and options in a shell is argcomplete's: ``eval "$(gpop completion bash)"``.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import gpop
from gpop.common import command, starting
from gpop.common.command import Parser, exit_code
from gpop.common.errors import UsageError
from gpop.common.spelling import refuse_word

PACKAGE = Path(__file__).parent
SHELLS = ("bash", "zsh", "fish")


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and purpose of every module and package in a folder that can be run, from their first lines."""
    for path in sorted([*folder.glob("*.py"), *folder.glob("*/__main__.py")]):
        source = path.read_text(encoding="utf-8")
        if 'if __name__ == "__main__":' in source and path != PACKAGE / "__main__.py":
            first = ast.get_docstring(ast.parse(source)).splitlines()[0]
            name = path.parent.name if path.stem == "__main__" else path.stem
            yield name, first.rpartition("``: ")[2]


def modules() -> dict[str, str]:
    """Command -> the module whose ``main`` it is.

    Examples
    --------
    >>> modules()["bfs"], modules()["generate"]
    ('gpop.apps.bfs', 'gpop.generate.__main__')
    """
    found = {name: f"gpop.apps.{name}" for name, _ in commands(PACKAGE / "apps")}
    for name, _ in commands(PACKAGE):
        found[name] = f"gpop.{name}" + (".__main__" if (PACKAGE / name).is_dir() else "")
    return found


def _list() -> None:
    print(
        "Graph processing over partitions. Every app: gpop NAME graph [--help], or python -m gpop.apps.NAME\n"
    )
    apps = list(commands(PACKAGE / "apps"))
    width = max(len(name) for name, _ in apps)
    for name, about in apps:
        print(f"  {name:{width}} {about}")
    print("\nOther commands, each with --help (or python -m gpop.NAME):\n")
    for name, about in commands(PACKAGE):
        print(f"  gpop {name:11} {about}")
    print(f"\n  gpop completion SHELL  what a shell ({', '.join(SHELLS)}) evaluates to complete all of this")
    print("  gpop --version")


def _completion(words: list[str]) -> None:
    parser = Parser(
        prog="gpop completion", description='Print what a shell evaluates: eval "$(gpop completion bash)"'
    )
    parser.add_argument("shell", choices=SHELLS)
    shell = parser.parse_args(words).shell
    try:
        import argcomplete
    except ImportError:
        raise UsageError("completion needs argcomplete (pip install argcomplete)") from None
    print(argcomplete.shellcode(["gpop"], shell=shell))


def _complete() -> None:
    """What argcomplete's part in the shell asks for: words of a command, by its parser, or its name."""
    from argcomplete import autocomplete, split_line

    _, _, _, words, _ = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))
    known = modules()
    if len(words) > 1 and words[1] in known:
        os.environ["_ARGCOMPLETE"] = "2"  # the line begins with two words, not one
        import_module(known[words[1]]).main([])  # its parser completes and ends the process
    parser = Parser(prog="gpop")
    parser.add_argument("command", choices=[*known, "completion"])
    parser.add_argument("--version", action="store_true")
    autocomplete(parser)


def _run(argv: list[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    if not argv or argv[0] in ("-h", "--help"):
        _list()
        return 0
    if argv[0] in ("-V", "--version"):
        print(f"gpop {gpop.__version__}")
        return 0
    if argv[0] == "completion":
        _completion(argv[1:])
        return 0
    known = modules()
    if argv[0] not in known:
        refuse_word(argv[0], [*known, "completion"], "gpop", "command")
    command.called_as = f"gpop {argv[0]}"
    try:
        starting.begin()
        return import_module(known[argv[0]]).main(argv[1:])
    finally:
        starting.over()
        command.called_as = None


def main(argv: list[str] | None = None) -> int:
    """Run a command, or list them; returns the exit code."""
    return exit_code(lambda: _run(sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    raise SystemExit(main())

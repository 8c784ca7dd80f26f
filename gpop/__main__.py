"""``python -m gpop``: what can be run from the shell."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from gpop.common.command import exit_code
from gpop.common.errors import UsageError

PACKAGE = Path(__file__).parent


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and purpose of every module and package in a folder that can be run, from their first lines."""
    for path in sorted([*folder.glob("*.py"), *folder.glob("*/__main__.py")]):
        source = path.read_text(encoding="utf-8")
        if 'if __name__ == "__main__":' in source and path != PACKAGE / "__main__.py":
            first = ast.get_docstring(ast.parse(source)).splitlines()[0]
            name = path.parent.name if path.stem == "__main__" else path.stem
            yield name, first.rpartition("``: ")[2]


def _list(argv: list[str]) -> None:
    if argv and argv[0] not in ("-h", "--help"):
        raise UsageError(f"nothing is run as python -m gpop {argv[0]}: run python -m gpop.apps.NAME")
    print("Graph processing over partitions. Every app: python -m gpop.apps.NAME graph [--help]\n")
    for name, about in commands(PACKAGE / "apps"):
        print(f"  {name:16} {about}")
    print("\nOther commands, each with --help:\n")
    for name, about in commands(PACKAGE):
        print(f"  python -m gpop.{name:9} {about}")


def main(argv: list[str] | None = None) -> int:
    """List the apps and other commands; returns the exit code."""
    return exit_code(lambda: _list(sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    raise SystemExit(main())

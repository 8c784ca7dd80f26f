"""``python -m gpop``: what can be run from the shell."""

from __future__ import annotations

import ast
import sys
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """List the apps and other commands; returns the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] not in ("-h", "--help"):
        print(
            f"gpop: nothing is run as python -m gpop {argv[0]}: run python -m gpop.apps.NAME", file=sys.stderr
        )
        return 2
    package = Path(__file__).parent
    print("Graph processing over partitions. Every app: python -m gpop.apps.NAME graph [--help]\n")
    for path in sorted((package / "apps").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "def main(" in source and path.stem != "cli":
            print(f"  {path.stem:16} {ast.get_docstring(ast.parse(source)).splitlines()[0]}")
    print("\npython -m gpop.generate --help   makes graphs (RMAT, grids ...) from a seed")
    print("python -m gpop.convert --help    converts, symmetrises, relabels, weights graph files")
    print("python -m gpop.info --help       sizes, degrees, components, layout and memory of a graph")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""``python -m gpop.generate KIND [sizes] FILE``: a graph file, made from a seed.

    python -m gpop.generate rmat --scale 20 --degree 16 --seed 1 out.bin

Every kind has its own sizes: python -m gpop.generate KIND --help
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from pathlib import Path
from typing import Any

from gpop.common.command import Parser, add_json_option, exit_code, print_json, prog
from gpop.common.launched import launched_rank
from gpop.common.progress import by_default
from gpop.generate import GENERATORS, SAID, generate, remark
from gpop.generate.lattices import LATTICES
from gpop.io import module_to_write


def _weight_range(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not LOW:HIGH, two integers such as 1:255") from None


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of numbers such as 0.57,0.19,0.19"
        ) from None


_TYPES = {int: (int, "N"), float: (float, "X"), tuple: (_numbers, "X,X,X"), str: (str, "NAME")}


def _about(kind: str) -> str:
    """What a generator makes: a lattice's line, or the first one of a file, which is not imported for it."""
    if kind in LATTICES:
        return LATTICES[kind].about
    source = Path(__file__).with_name(f"{kind}.py").read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(source)).splitlines()[0].rstrip(":").replace("%", "%%")


class _KindParser(Parser):
    """Of the words after KIND: it says itself which of them it does not know, as its own help has all."""

    def parse_known_args(self, *given: Any, **named: Any) -> Any:
        found, left = super().parse_known_args(*given, **named)
        if left:  # the value of an unknown option was taken for the file, and the file is left
            options = [word for word in left if word.startswith("-")]
            self.error(f"unrecognized arguments: {' '.join(options or left)}")
        return found, left


def _parser() -> Parser:
    parser = Parser(prog=prog("gpop.generate"), description=__doc__)
    kinds = parser.add_subparsers(
        dest="kind", required=True, metavar="KIND", title="kinds", parser_class=_KindParser
    )
    for kind, sizes in GENERATORS.items():
        about = _about(kind)
        options = kinds.add_parser(
            kind,
            help=about,
            description=about,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        for size, default in sizes.items():
            convert, metavar = _TYPES[type(default)]
            shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
            told = f"{SAID[size]}; default: %(default)s" if size in SAID else "default: %(default)s"
            options.add_argument(f"--{size}", type=convert, default=shown, metavar=metavar, help=told)
        options.add_argument("--seed", type=int, default=1, help="chooses the graph")
        options.add_argument("--symmetrize", action="store_true", help="both directions, each edge once")
        options.add_argument(
            "--weights", type=_weight_range, metavar="LOW:HIGH", help="random integer weights"
        )
        options.add_argument("--permute", action="store_true", help="shuffle the vertex ids")
        options.add_argument("file", help="graph file to write; its suffix names the format")
        add_json_option(options)
    return parser


def _generate(arguments: list[str] | None) -> None:
    options = vars(_parser().parse_args(arguments))
    path, as_json = options.pop("file"), options.pop("json")
    start = time.perf_counter()
    module_to_write(Path(path))
    graph = generate(**options, progress=by_default())
    graph.save(path)
    seconds = time.perf_counter() - start
    made = {name: options[name] for name in GENERATORS[options["kind"]]}
    remarked = None if options["symmetrize"] else remark(graph, options["kind"], **made)
    if as_json:
        weights = None if graph.weights is None else str(graph.weights.dtype)
        sizes = {"name": graph.name, "vertices": graph.n, "edges": graph.m, "weights": weights}
        told = {"options": options, "graph": sizes, "remark": remarked, "output": path, "seconds": seconds}
        print_json("generate", told)
        return
    weights = "" if graph.weights is None else ", weighted"
    print(
        f"{graph.name}: {graph.n} vertices, {graph.m} edges{weights}, seed {options['seed']}; "
        f"{path} written in {seconds:.1f} s"
    )
    if remarked:
        print(remarked)


def main(arguments: list[str] | None = None) -> int:
    """Generate, save, and print what was made; returns the exit code. Of several ranks the first does it."""
    if launched_rank():
        return 0
    return exit_code(lambda: _generate(arguments))


if __name__ == "__main__":
    sys.exit(main())

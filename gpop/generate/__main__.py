"""``python -m gpop.generate rmat --scale 20 --degree 16 --seed 1 out.bin``"""

from __future__ import annotations

import argparse
import sys
import time

from gpop.common.errors import GpopError
from gpop.generate import GENERATORS, generate
from gpop.io import format_module


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


_TYPES = {int: (int, "N"), float: (float, "X"), tuple: (_numbers, "X,X,X")}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpop.generate", description="Generate a graph file.")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="kind")
    for kind, sizes in GENERATORS.items():
        options = kinds.add_parser(kind, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        for size, default in sizes.items():
            convert, metavar = _TYPES[type(default)]
            shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
            options.add_argument(
                f"--{size}", type=convert, default=shown, metavar=metavar, help="default: %(default)s"
            )
        options.add_argument("--seed", type=int, default=1, help="chooses the graph")
        options.add_argument("--symmetrize", action="store_true", help="both directions, each edge once")
        options.add_argument(
            "--weights", type=_weight_range, metavar="LOW:HIGH", help="random integer weights"
        )
        options.add_argument("--permute", action="store_true", help="shuffle the vertex ids")
        options.add_argument("file", help="graph file to write; its suffix names the format")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Generate, save, and print what was made; 2 after an error."""
    options = vars(_parser().parse_args(arguments))
    path = options.pop("file")
    start = time.perf_counter()
    try:
        format_module(path)  # a wrong suffix is found out before the work
        graph = generate(**options, progress=True)
        graph.save(path)
    except GpopError as error:
        print(f"gpop: {error}", file=sys.stderr)
        return 2
    seconds = time.perf_counter() - start
    weights = "" if graph.weights is None else ", weighted"
    print(
        f"{graph.name}: {graph.n} vertices, {graph.m} edges{weights}, seed {options['seed']}; "
        f"{path} written in {seconds:.1f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""``--sources`` and ``--samples`` of the apps that start from all vertices, from some, or from a sample."""

from __future__ import annotations

import argparse
from typing import Any

import gpop
from gpop.apps.cli import original_id
from gpop.apps.inputs import SAMPLE_SEED

SAMPLES = 4
"""Sources by default, as in the GAP benchmark: all of them take as many searches as there are vertices."""


def sources_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--sources", metavar="ID,...", help="original ids of the vertices to search from")
    which.add_argument(
        "--samples", type=_samples, default=SAMPLES, metavar="K", help=f"so many at random, or all; {SAMPLES}"
    )
    parser.add_argument("--seed", type=int, default=SAMPLE_SEED, metavar="S", help="of the draw")


def _samples(text: str) -> int | None:
    if text != "all" and not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of vertices, or all")
    return None if text == "all" else int(text)


def sources_of(graph: gpop.Graph, given: argparse.Namespace) -> Any:
    """What was asked for, as the argument ``sources`` of the function."""
    if given.sources is not None:
        return [graph.vertex_of(original_id(graph, name.strip())) for name in given.sources.split(",")]
    return None if given.samples is None or graph.n <= given.samples else given.samples

"""``python -m gpop.compare graph``: the same apps in several communication modes and on every target.

One table: median seconds, iterations, edges per second, bytes that the analytical model counts, the
bandwidth they make, its share of what a copy reaches there, and whether the results agree. Whole
numbers (levels, distances, labels) must be equal; ranks and probabilities may differ by the order of
float32 sums: by 1e-5 of the largest value. Combinations take turns, so that a busy moment hits all.
``--program FILE.py:CLASS`` compares a program of your own; a method ``start(source)`` of it sets its fields
and returns its frontier.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpop
from gpop.apps.cli import original_id
from gpop.apps.with_messages import APPS, app_of
from gpop.common.command import (
    Parser,
    add_json_option,
    add_reading_options,
    exit_code,
    file_to_write,
    print_json,
    prog,
    reading_options,
)
from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.common.progress import by_default
from gpop.common.replacing import replacing
from gpop.copy_bandwidth import copy_bandwidth
from gpop.execution.asked import COMPILED_TARGETS
from gpop.execution.given import program_named
from gpop.graph.graph import Graph
from gpop.model.asked import asked_on, check_asked, split

TOLERANCE = 1e-5
MODES = ("sc", "pc", "auto")
"""Those that are compared where none are named; `pull` has more to build, and is of use to few apps."""


_limit = cache(copy_bandwidth)
"""Measured once for all apps, or their shares could not be compared."""


class Row(NamedTuple):
    """One line of the table; ``equal`` compares with the first combination of the app."""

    app: str
    target: str
    mode: str
    seconds: float
    iterations: int
    edges_per_second: float
    bytes: float
    bytes_per_second: float
    share: float
    equal: bool


def differs(answer: np.ndarray, reference: np.ndarray) -> bool:
    """Whether two answers are not the same, floating point up to `TOLERANCE` of the largest value.

    Examples
    --------
    >>> differs(np.array([1, 2]), np.array([1, 3])), differs(np.array([1.0, 2.0]), np.array([1.0, 2.00001]))
    (True, False)
    """
    if reference.dtype.kind != "f":
        return not np.array_equal(answer, reference)
    finite = np.isfinite(reference)
    if not np.array_equal(finite, np.isfinite(answer)):
        return True
    if not finite.any():
        return False
    scale = float(np.abs(reference[finite]).max())
    return bool(np.abs(answer[finite] - reference[finite]).max() > TOLERANCE * scale)


def usable_targets(targets: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The targets that this machine has, and why it has not the others."""
    usable, missing = [], {}
    for target in targets:
        try:
            if target == "gpu":
                from gpop.gpu.device import cupy

                cupy()
            usable.append(target)
        except UsageError as error:
            missing[target] = str(error)
    return usable, missing


def compare(
    graph: Graph,
    apps: Iterable[str] = tuple(APPS),
    modes: Iterable[str] = MODES,
    targets: Iterable[str] = ("cpu",),
    *,
    source: int | None = None,
    rounds: int = 5,
    threads: int | None = None,
    programs: Iterable[type[gpop.Program]] = (),
) -> list[Row]:
    """Run apps in every mode on every target that has it.

    Parameters
    ----------
    graph : Graph
        Weighted, if ``sssp`` is among the apps.
    apps, modes, targets : names
    source : int, optional
        Where those start that have a source; the vertex with most out-edges when not given.
    rounds : int
        Timed runs of every combination, after one that is not counted.
    threads : int, optional
        CPU threads.
    programs : classes of programs, optional
        Of one's own: see `gpop.execution.given`.

    Examples
    --------
    >>> ring = gpop.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> [(row.mode, row.iterations, row.equal) for row in compare(ring, ["bfs"], rounds=1)]
    [('sc', 4, True), ('pc', 4, True), ('auto', 4, True)]
    """
    if source is None:
        source = int(np.argmax(graph.out_degree)) if graph.n else 0
    ways = [(target, mode) for target in targets for mode in modes if split(mode)[0] in asked_on(target)]
    if not ways:
        raise UsageError(f"none of the modes {', '.join(modes)} is one of target {', '.join(targets)}")
    limits = {target: _limit(target, threads) for target, _ in ways}
    rows = []
    known = APPS | {program.__name__: app_of(program) for program in programs}
    for name in (*apps, *(program.__name__ for program in programs)):
        app, runs, answers = known[name], {}, {}
        for _ in range(rounds + 1):
            for target, mode in ways:
                options = {"mode": mode, "target": target, "threads": threads}
                result = app.solve(graph, source, options)
                answers[target, mode] = app.answer(graph, result)
                runs.setdefault((target, mode), []).append(result.run)
        reference = next(iter(answers.values()))
        for (target, mode), found in runs.items():
            trace = found[-1].trace
            seconds = statistics.median(run.seconds for run in found[1:])
            moved = float(trace.column("bytes").sum()) if len(trace) else 0.0
            edges = float(trace.column("active_edges").sum()) if len(trace) else 0.0
            pace = 1 / max(seconds, 1e-9)
            equal = not differs(answers[target, mode], reference)
            share = moved * pace / limits[target]
            rows.append(
                Row(name, target, mode, seconds, len(trace), edges * pace, moved, moved * pace, share, equal)
            )
    return rows


def table(rows: list[Row]) -> str:
    """The rows as text."""
    head = ("app", "target", "mode", "ms", "iterations", "Medges/s", "MB moved", "GB/s", "% of copy", "equal")
    lines = [head]
    for row in rows:
        lines.append(
            (
                row.app, row.target, row.mode, f"{1e3 * row.seconds:.3f}", f"{row.iterations}",
                f"{1e-6 * row.edges_per_second:.1f}", f"{1e-6 * row.bytes:.1f}",
                f"{1e-9 * row.bytes_per_second:.1f}", f"{100 * row.share:.1f}", "yes" if row.equal else "NO",
            )
        )  # fmt: skip
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.compare graph [--apps ...] [--modes ...] [--targets ...]``"""
    return exit_code(lambda: _run(_parse(argv)))


def _names(choices: Iterable[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",")]
        for name in names:
            if name not in choices:
                raise argparse.ArgumentTypeError(f"{name!r}: expected some of {','.join(choices)}")
        return names

    return parse


def _modes(text: str) -> list[str]:
    modes = [mode.strip() for mode in text.split(",")]
    for mode in modes:
        try:
            check_asked("", mode)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error).strip()) from None
    return modes


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog=prog("gpop.compare"), description=__doc__)
    parser.add_argument("graph", type=Path, help="graph file (see gpop.load)")
    add_reading_options(parser)
    parser.add_argument(
        "--apps", type=_names(APPS), help=f"default: {','.join(APPS)}; none where there is a program"
    )
    parser.add_argument(
        "--program", action="append", default=[], metavar="FILE.py:CLASS", help="of your own; several times"
    )
    parser.add_argument("--modes", type=_modes, default=list(MODES), help=f"default: {','.join(MODES)}")
    parser.add_argument(
        "--targets",
        type=_names(COMPILED_TARGETS),
        default=list(COMPILED_TARGETS),
        help=f"default: those that are here of {','.join(COMPILED_TARGETS)}",
    )
    parser.add_argument("--symmetrize", action="store_true", help="add the opposite of every edge")
    parser.add_argument("--source", metavar="ID", help="original id; default: the vertex with most out-edges")
    parser.add_argument("--rounds", type=int, default=5, help="timed runs of each (default %(default)s)")
    parser.add_argument("--threads", type=int, help="CPU threads; default: all cores")
    parser.add_argument(
        "--output", type=file_to_write(), metavar="FILE", help="write the rows there too, as JSON"
    )
    add_json_option(parser)
    return parser.parse_args(argv)


def _run(given: argparse.Namespace) -> int:
    if given.rounds < 1:
        raise UsageError(f"--rounds {given.rounds}: expected 1 or more")
    targets, missing = usable_targets(given.targets)
    left_out = {target: reason for target, reason in missing.items()}
    if not targets:
        raise UsageError(f"none of the targets is here: {'; '.join(missing.values())}")
    graph = gpop.load(
        given.graph, symmetrize=given.symmetrize, progress=by_default(), **reading_options(given)
    )
    source = None if given.source is None else graph.vertex_of(original_id(graph, given.source))
    rows: list[Row] = []
    programs: dict[str, type[gpop.Program]] = {}
    for text in given.program:
        program = program_named(text)
        if program.__name__ in APPS or programs.setdefault(program.__name__, program) is not program:
            raise UsageError(f"--program {text}: another is called {program.__name__}: expected another name")
    apps = given.apps or ([] if programs else list(APPS))
    for name in (*apps, *programs):
        mine = [programs[name]] if name in programs else []
        if (app_of(mine[0]) if mine else APPS[name]).weighted and graph.weights is None:
            left_out[name] = f"{given.graph} has no weights"
            continue
        try:
            rows += compare(
                graph, [] if mine else [name], given.modes, targets, source=source, rounds=given.rounds,
                threads=given.threads, programs=mine,
            )  # fmt: skip
        except NotEnoughMemory as error:
            left_out[name] = str(error)
    try:
        if given.output:  # before a reader of the table may go away
            with replacing(given.output) as temporary:
                temporary.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    finally:
        _tell(given, graph, rows, left_out)
    return 0 if all(row.equal for row in rows) else 1


def _tell(given: argparse.Namespace, graph: Graph, rows: list[Row], left_out: dict[str, str]) -> None:
    if given.json:
        sizes = {"name": graph.name, "vertices": graph.n, "edges": graph.m}
        told = {"graph": sizes, "rows": [row._asdict() for row in rows], "not_compared": left_out}
        print_json("compare", told | {"threads": given.threads, "rounds": given.rounds})
    else:
        for name, reason in left_out.items():
            print(f"not compared: {name} ({reason})")
        print(table(rows))


if __name__ == "__main__":
    sys.exit(main())

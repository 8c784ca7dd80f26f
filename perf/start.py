"""``python -m perf start GRAPH ...``: what who starts an app's command waits for, the first time and later.

    python -m perf start data/karate.bin rmat:scale=18,symmetrize --out FILE
    python -m perf start data/road.bin --apps bfs,sssp --rounds 9

Every number is of a process of its own, from its start to its end: ``python -m gpop.apps.NAME`` on a file, as
it is but for what `EXTRA` adds. ``first``: with no kernel kept, so that all it needs is compiled;
``processor`` is the time of all cores then, other processes that it begins among it. ``later``: median of the
runs after it. ``loop``: the median time that a later one tells of its own loop; a command runs
it four times. Bytecode of Python's modules is there, as pip or the first import leaves it, whatever this
process was told. Apps that need weights get random ones where the graph has none.

Bars: `FIRST_BAR` seconds for a first run; the last line says which are above.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from gpop.common.command import exit_code
from gpop.common.errors import GpopError
from gpop.warm import apps
from perf.graphs import name_of, normal, open_graph, with_weights
from perf.parser import with_out
from perf.provenance import perf_command, written

FIRST_BAR = 5.0

SAMPLED = ("--samples", "16")
EXTRA = {"katz": ("--alpha", "0.001"), "betweenness": SAMPLED, "closeness": SAMPLED}
"""Arguments of commands that need one, or would take all vertices as sources."""

WEIGHTED = ("sssp", "spanning_forest")

CACHES = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
"""What says where kernels and constants are kept."""


class Run(NamedTuple):
    """Seconds of a process: all in all, of all cores, and of its loop."""

    wall: float
    processor: float
    loop: float


def run(app: str, file: Path, kept: Path) -> Run:
    """Run an app's command; what it compiles is kept in this folder.

    Raises
    ------
    GpopError
        With what the command says, if it fails.
    """
    told = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    told |= dict.fromkeys(CACHES, str(kept))
    command = [sys.executable, "-m", apps()[app], str(file), *EXTRA.get(app, ()), "--json"]
    before, begin = _processor(), time.perf_counter()
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=False)
    wall, processor = time.perf_counter() - begin, _processor() - before
    if done.returncode:
        raise GpopError(f"{app}: {done.stderr.strip()}")
    return Run(wall, processor, statistics.median(json.loads(done.stdout)["seconds"]["rounds"]))


def _processor() -> float:
    """Seconds of all processes that this one has waited for, and of those that these have."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def started(app: str, file: Path, rounds: int) -> tuple[Run, list[Run]]:
    """The first run of an app, and so many later ones."""
    with tempfile.TemporaryDirectory() as folder:
        first, *later = (run(app, file, Path(folder)) for _ in range(rounds + 1))
    return first, later


HEADER = f"{'app':24}{'first s':>9}{'processor':>11}{'later s':>9}{'loop ms':>10}"


def row(app: str, first: Run, later: list[Run]) -> str:
    """A line of the table, without its graph.

    Examples
    --------
    >>> row("bfs", Run(2, 3, 0.1), [Run(0.5, 0.6, 0.01)])
    'bfs                         2.00       3.00    0.500     10.00'
    """
    wall, loop = (statistics.median(each) for each in ([r.wall for r in later], [r.loop for r in later]))
    return f"{app:24}{first.wall:9.2f}{first.processor:11.2f}{wall:9.3f}{1e3 * loop:10.2f}"


def _files(spec: str, names: list[str], folder: Path) -> tuple[Path, Path]:
    """The graph as a file without, and with, weights; those that no app asks for are not written."""
    graph, files = open_graph(spec), (folder / "plain.bin", folder / "weighted.bin")
    for file, weighted in zip(files, (False, True), strict=True):
        if any((name in WEIGHTED) == weighted for name in names):
            (with_weights(graph) if weighted else graph).save(file)
    return files


def _table(specs: list[str], names: list[str], rounds: int) -> None:
    width = max(map(len, map(name_of, specs))) + 2
    print(f"first: one run; later: median of {rounds}\n{'graph':{width}}{HEADER}")
    above = []
    for spec in specs:
        with tempfile.TemporaryDirectory() as folder:
            files = _files(spec, names, Path(folder))
            for name in names:
                first, later = started(name, files[name in WEIGHTED], rounds)
                print(f"{name_of(spec):{width}}{row(name, first, later)}", flush=True)
                if first.wall > FIRST_BAR:
                    above.append(f"{name} on {name_of(spec)}")
    print(f"first runs above {FIRST_BAR:g} s: {', '.join(above) or 'none'}")


def _names(text: str) -> list[str]:
    for name in text.split(","):
        if name not in apps():
            raise argparse.ArgumentTypeError(f"{name!r}: expected some of {','.join(apps())}")
    return text.split(",")


def _run(argv: list[str]) -> None:
    parser = with_out("start", __doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="a file, or KIND:SIZE=VALUE,...")
    parser.add_argument("--apps", type=_names, default=list(apps()), help="default: all")
    parser.add_argument("--rounds", type=int, default=5, metavar="R", help="later runs; default: 5")
    given: argparse.Namespace = parser.parse_args(argv)
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: expected 1 or more")
    with written(given.out, perf_command("start", argv)):
        _table([normal(spec) for spec in given.graphs], given.apps, given.rounds)


def main(argv: list[str]) -> int:
    """Measure and print the table."""
    return exit_code(lambda: _run(argv))

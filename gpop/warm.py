"""``python -m gpop.warm``: compile the kernels of all apps now, so that no first run has to wait for them.

Each app is run as a command of its own on a small graph, several at a time, so that what is compiled is what
commands and one-call functions look for. Kernels depend on types and ways of running: the graph has weights
of one byte and a hub (`gpop.cpu.sums`); apps in which all vertices are active are run with messages and with
pull (`RUNS`). Some that threads share are for larger graphs only (`SIZES`). The first run is alone; it
compiles what all share. Kernels that are there already are only loaded.

Last, what ``--mode auto`` chooses by is measured on this machine (`gpop.cpu.constants`), if it was not yet.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gpop.__main__ import modules
from gpop.common.command import Parser, add_json_option, exit_code, print_json, prog
from gpop.common.errors import GpopError
from gpop.common.kernel_folder import require_folder
from gpop.common.parallel import for_each, worker_count
from gpop.common.progress import by_default, progress_bar
from gpop.common.spelling import refuse_word
from gpop.cpu import filling
from gpop.cpu.constants import constants, why_not_kept
from gpop.cpu.engine import CpuEngine
from gpop.direct.calendar_owned import Owners
from gpop.generate import generate
from gpop.io import save
from gpop.model.sharing import MANY_THREADS

FIRST = "bfs"
"""The app that is run before the others."""

TEXT, BINARY, ROAD, NEAR = "graph.wel", "graph.bin", "road.bin", "near.bin"
"""Two forms of a small graph with a hub; and larger ones whose neighbours are near each other, few and not
so few, which threads search together."""

SIZES = {
    ROAD: ("grid", {"width": 600, "height": 600}),
    NEAR: ("small_world", {"vertices": 150_000, "degree": 8}),
}

LONG_IDS = ["--partition-size", "65536"]
"""As in the one partition of a graph of more than 32,768 vertices and few edges."""

MESSAGES = ["--partition-size", "1024"]
"""Where a small graph is otherwise done without."""

RUNS = {
    FIRST: ([TEXT, "--method", "messages"], [TEXT], [BINARY], [BINARY, "--method", "messages"],
            [BINARY, *LONG_IDS], [ROAD], [NEAR, "--method", "direct"]),
    "pagerank": ([BINARY], [BINARY, "--mode", "pull"], [BINARY, "--iterations", "2"],
                 [BINARY, "--iterations", "2", "--mode", "pull"], [ROAD]),
    "heat_kernel": ([BINARY], [ROAD]),
    "nibble": ([BINARY], [ROAD]),
    "pagerank_nibble": ([BINARY], [ROAD]),
    "personalized_pagerank": ([BINARY], [BINARY, "--mode", "pull"]),
    "katz": ([BINARY, "--alpha", "0.001"], [BINARY, "--alpha", "0.001", "--mode", "pull"]),
    "hits": ([BINARY], [BINARY, *MESSAGES], [BINARY, "--mode", "pull"]),
    "sssp": ([BINARY, "--interleave"], [BINARY, "--interleave", *LONG_IDS], [BINARY, "--no-interleave"],
             [BINARY, "--method", "lists"], [BINARY], [NEAR]),
    "cc": ([BINARY], [BINARY, "--method", "labels"]),
}  # fmt: skip
"""Arguments of the apps for which once is not enough; a text file has them compile what reads it."""


def apps() -> dict[str, str]:
    """Name of every app, and its module.

    Examples
    --------
    >>> apps()["bfs"]
    'gpop.apps.bfs'
    """
    return {name: module for name, module in modules().items() if module.startswith("gpop.apps.")}


def runs_of(names: list[str]) -> list[tuple[str, list[str]]]:
    """Module and arguments of every run, those of `FIRST` at the head.

    Examples
    --------
    >>> runs_of(["nibble", "bfs"])[0]
    ('gpop.apps.bfs', ['graph.wel', '--method', 'messages'])
    """
    known = apps()
    ordered = sorted(names, key=lambda name: name != FIRST)
    return [(known[name], arguments) for name in ordered for arguments in RUNS.get(name, ([BINARY],))]


def make_graphs(folder: Path) -> None:
    """The files that runs are given."""
    graph = generate("rmat", scale=10, symmetrize=True, weights=(1, 255))
    for name in (TEXT, BINARY):
        save(graph, folder / name)
    for name, (kind, sizes) in SIZES.items():
        save(generate(kind, weights=(1, 255), **sizes), folder / name)


def warm(names: list[str], processes: int, progress: bool = False) -> int:
    """Compile what these apps run, in so many processes; the number of runs.

    Raises
    ------
    GpopError
        With what the first of them says that fails.
    """
    runs = runs_of(names)
    with (
        tempfile.TemporaryDirectory() as folder,
        progress_bar(len(runs), "compiling", "run", progress) as bar,
    ):
        make_graphs(Path(folder))

        def run(i: int) -> None:
            module, arguments = runs[i]
            command = [sys.executable, "-m", module, *arguments, "--rounds", "1", "--json"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
                raise GpopError(f"{module} {' '.join(arguments)}: {said[-1]}")
            bar.update()

        run(0)
        for_each(len(runs) - 1, lambda i: run(i + 1), processes)
        filling.entry()  # which only a second run in a process needs
        if "sssp" in names and worker_count() >= MANY_THREADS:
            Owners(1, 1)  # what large roads need, without one
    return len(runs)


def _run(given: argparse.Namespace) -> int:
    known = apps()
    for name in given.apps:
        if name not in known:
            refuse_word(name, known, "gpop", "app")
    require_folder(__file__)
    start, names = time.perf_counter(), given.apps or list(known)
    runs = warm(names, given.processes or worker_count(), by_default())
    found, fault = constants(CpuEngine), why_not_kept(CpuEngine)
    seconds = time.perf_counter() - start
    if given.json:
        told = {"apps": names, "runs": runs, "seconds": seconds, "constants": found.told()}
        print_json("warm", told | {"constants_not_kept": fault})
    else:
        print(f"{runs} runs of {len(names)} apps are compiled, in {seconds:.3g} s")
        if fault is not None:
            print(f"what auto chooses by is not kept: {fault}")
    return 0


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog=prog("gpop.warm"), description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("apps", nargs="*", metavar="APP", help="only these apps")
    parser.add_argument("--processes", type=int, metavar="P", help="how many at a time; default: all cores")
    add_json_option(parser)
    given = parser.parse_args(argv)
    if given.processes is not None and given.processes < 1:
        parser.error(f"--processes {given.processes}: expected 1 or more")
    return given


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.warm [APP ...]``; returns the exit code."""
    return exit_code(lambda: _run(_parse(argv)))


if __name__ == "__main__":
    raise SystemExit(main())

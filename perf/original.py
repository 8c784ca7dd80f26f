"""Programs of GPOP's authors as peers: the original GPOP (souravpati/GPOP) and PCPM (kartiklakhotia/pcpm).

They are given by path, as their makefiles leave them, and read the graph from a binary CSR
(`gpop.io.binary_csr`). A trial is a process of its own, since they take one source; the original does two
rounds in it, of which the second counts, and PCPM one. The time is what they print: of their loop, without
loading, preprocessing and setting up fields. PageRank does as many iterations as gpop's, since they do not
look whether it has converged.
Papers: K. Lakhotia et al., "GPOP", TOPC 2020; "Accelerating PageRank using partition-centric processing",
USENIX ATC 2018.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpop.common.errors import GpopError, UsageError
from gpop.graph.graph import Graph

FOLDERS = {"bfs": "bfs/bfs", "cc": "cc/cc", "nibble": "appr/nibble", "pr": "pr/pr", "sssp": "sssp/sssp"}
"""Programs of the original, by what apps and kernels are called here."""

BOTH_WAYS = ("cc",)
"""Those that are right for symmetric graphs only."""

ROUNDS = 2
STEPS = 10
"""Of nibble, on both sides."""


@dataclass(frozen=True)
class Peer:
    """Programs by app; ``words(file, source, iterations)`` are their arguments."""

    name: str
    programs: dict[str, Path]
    words: Callable[[Path, int, int], Sequence[str]]
    pattern: str

    def has(self, app: str, graph: Graph) -> bool:
        """Whether it has a program for that, and for such a graph."""
        return app in self.programs and (app not in BOTH_WAYS or graph.is_symmetric())

    def seconds(self, app: str, file: Path, source: int, iterations: int) -> float:
        """Time of a trial.

        Raises
        ------
        GpopError
            If the program fails, or says no time.
        """
        command = [self.programs[app], *self.words(file, source, iterations)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=file.parent)
        found = re.findall(self.pattern, done.stdout, re.MULTILINE)
        if done.returncode or not found:
            said = (done.stderr or done.stdout).strip()[-200:]
            raise GpopError(f"{command[0]}: exit code {done.returncode}, {said or 'nothing said'}")
        return float(found[-1])


def _require(option: str, programs: dict[str, Path]) -> dict[str, Path]:
    for program in programs.values():
        if not os.access(program, os.X_OK) or program.is_dir():
            raise UsageError(f"{option}: there is no program {program}")
    return programs


def original(folder: Path, threads: int) -> Peer:
    """The original GPOP in its folder."""
    programs = {app: (folder / program).resolve() for app, program in FOLDERS.items()}
    of_all = "-t", str(threads), "-rounds", str(ROUNDS)
    return Peer(
        "original",
        _require("--original", programs),
        lambda file, source, iterations: [file.name, "-s", str(source), "-iter", str(iterations), *of_all],
        r"^\w+, \d+, .*, ([\d.]+)$",
    )


def pcpm(program: Path, threads: int) -> Peer:
    """PCPM's program."""
    return Peer(
        "PCPM",
        _require("--pcpm", {"pr": program.resolve()}),
        lambda file, source, iterations: [file.name, str(threads), str(iterations)],
        r"^[^,\n]+, ([\d.]+)$",
    )

"""Run under mpiexec: a run with checkpoints that may be killed. Arguments: folder, rank, iteration of that.

Without the last two it runs to the end and writes the answer beside the folder, from rank 0.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np

import gpop
from gpop.ranks.world import world_of
from tests import programs
from tests.ranks.agreement import masses


def main(folder: Path, rank: int, iteration: int) -> None:
    """Twenty iterations, a checkpoint after every third."""
    program, world = programs.Drift(programs.random_graph(5, 301, 1500)), world_of("mpi")
    frontier = masses(program)

    def callback(record: dict) -> None:
        if (world.rank, record["iteration"]) == (rank, iteration):
            os.kill(os.getpid(), signal.SIGKILL)

    gpop.run(
        program, frontier, iterations=20, mode="sc", partition_size=8, threads=1, transport="mpi",
        gather=True, callback=callback, checkpoint=gpop.Checkpoint(folder, iterations=3),
    )  # fmt: skip
    if world.rank == 0:
        np.save(folder.with_suffix(".npy"), program.mass)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(map(int, sys.argv[2:]) if len(sys.argv) > 2 else (-1, -1)))

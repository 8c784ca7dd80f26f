"""What a launcher of several processes (``mpiexec``, ``srun``) has said to each in its environment.

No MPI is needed to know it: who does not talk to the others, such as a command that rank 0 does for all,
leaves MPI alone.
"""

from __future__ import annotations

import os
from functools import cache

LAUNCHED = {
    "OMPI_COMM_WORLD_SIZE": "OMPI_COMM_WORLD_RANK",
    "PMI_SIZE": "PMI_RANK",
    "MV2_COMM_WORLD_SIZE": "MV2_COMM_WORLD_RANK",
}
"""Where launchers say how many ranks there are, and which one this is: Open MPI's, those of MPICH and Intel,
MVAPICH's."""

SLURM = "SLURM_NTASKS", "PMIX_RANK"
"""The same of ``srun``, whose first is also set where it has launched nothing."""


@cache
def launched_ranks() -> int:
    """How many ranks the launcher has started; 1 where there is none.

    Examples
    --------
    >>> launched_ranks()
    1
    """
    return _said()[0]


@cache
def launched_rank() -> int:
    """Which of them this process is; 0 where there is no launcher.

    Examples
    --------
    >>> launched_rank()
    0
    """
    return _said()[1]


def _said() -> tuple[int, int]:
    names = [*LAUNCHED.items()] + ([SLURM] if SLURM[1] in os.environ else [])
    for size, rank in names:
        if os.environ.get(size, "").isdigit():
            return int(os.environ[size]), int(os.environ.get(rank, "0"))
    return 1, 0

"""Start a command on several ranks, as a user would; tests that need this are skipped where MPI is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.versions import ROOT

SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_osc": "^ucx",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PYTHONPATH": str(ROOT),
}
"""For a container: Open MPI refuses root and more ranks than cores unless it is told."""


def launcher() -> str:
    """``mpiexec``, of the environment's own wheel or of the system."""
    if find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    folders = Path(find_spec("mpi4py").origin).parents[4:5]
    beside = [str(folder / "bin" / "mpiexec") for folder in folders if (folder / "bin" / "mpiexec").is_file()]
    found = beside[0] if beside else shutil.which("mpiexec")
    if found is None:
        pytest.skip("there is no mpiexec")
    return found


def mpiexec(ranks: int, *command: str, cwd: Path = ROOT, seconds: int = 240) -> subprocess.CompletedProcess:
    """Run ``python command`` on so many ranks and wait for it."""
    return subprocess.run(
        [launcher(), "-n", str(ranks), "--oversubscribe", sys.executable, *command],
        cwd=cwd, env=os.environ | SETTINGS, capture_output=True, text=True, check=False, timeout=seconds,
        errors="replace",
    )  # fmt: skip


def said_by_us(done: subprocess.CompletedProcess) -> list[str]:
    """The lines of stderr that are gpop's, not the launcher's."""
    return [line for line in done.stderr.splitlines() if line.startswith("gpop:")]

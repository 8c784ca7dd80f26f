"""Who is in a job, from the environment alone; what is refused where there is no MPI."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

import gpop
from gpop.common.errors import UsageError
from gpop.ranks.killed import Word, gone
from gpop.ranks.world import LAUNCHED, launched_ranks, world_of


@pytest.fixture(autouse=True)
def not_launched(monkeypatch):
    for name in (*LAUNCHED, "PMIX_RANK", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)


def test_ranks_are_known_from_the_environment(monkeypatch):
    launched = launched_ranks.__wrapped__  # a process asks once
    assert launched() == launched_ranks() == 1 and world_of("auto") is None
    monkeypatch.setenv("PMI_SIZE", "4")
    assert launched() == 4 and world_of("alone") is None
    monkeypatch.delenv("PMI_SIZE")
    monkeypatch.setenv("SLURM_NTASKS", "8")
    assert launched() == 1  # a job step of one process each
    monkeypatch.setenv("PMIX_RANK", "3")
    assert launched() == 8


def test_unknown_transport():
    graph = gpop.Graph.from_edges([0], [1])
    with pytest.raises(UsageError, match="transport 'tcp': expected one of auto, alone, mpi"):
        gpop.bfs(graph, 0, transport="tcp")


def test_without_mpi4py_there_is_one_line():
    code = "import sys; sys.modules['mpi4py'] = None\nfrom gpop.ranks.world import world_of\nworld_of('mpi')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "expected pip install 'gpop[mpi]', or transport='alone'" in done.stderr.splitlines()[-1]


def test_nothing_imports_mpi4py_unasked():
    code = "import sys, gpop, gpop.apps.cli, gpop.ranks.world\nassert 'mpi4py' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_one_process_speaks():
    with tempfile.NamedTemporaryFile() as file:
        first, second = Word(file.name), Word(file.name)
    assert first.is_mine() and not second.is_mine() and not first.is_mine()


def test_processes_that_are_gone():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert gone([os.getpid(), child.pid]) == [1]

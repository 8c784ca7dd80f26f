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
from tests.common.test_launched import without_launcher


@pytest.fixture(autouse=True)
def not_launched(monkeypatch):
    without_launcher(monkeypatch)


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

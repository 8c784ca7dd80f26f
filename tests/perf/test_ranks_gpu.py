"""perf ranks-gpu: what it refuses, and what it measures on the emulator of two GPUs (slow)."""

from __future__ import annotations

import re

import pytest

from perf import ranks_gpu
from tests.ranks.mpi import mpiexec

EMULATED = """
import sys
from types import SimpleNamespace
from gpop.gpu.engine import calibrate
from perf import provenance, ranks_gpu
from tests.gpu.emulator import emulated
calibrate.device_ratio = lambda engine: 1.0
provenance.device = lambda: "emulated"
with emulated():
    sys.exit(ranks_gpu.main(["rmat:scale=13,degree=128,permute", "--rounds", "1", "--budget"]))
"""


@pytest.mark.parametrize(
    "words, said",
    [
        (["rmat:scale=5"], "expected mpiexec -n 2 python -m perf ranks-gpu"),
        (["rmat:scale=5", "--apps", "sssp"], "--apps: 'sssp': expected some of pagerank,bfs"),
    ],
)
def test_what_is_refused(words, said, capsys):
    assert ranks_gpu.main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_one_gpu_and_two_are_told_side_by_side():
    done = mpiexec(2, "-c", EMULATED)
    assert done.returncode == 0, done.stdout + done.stderr
    for app in ranks_gpu.APPS:
        assert re.search(rf"^{app} .* host$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^\d+ MB a GPU: one GPU: PageRank on .* are given; 2: [\d.]+ ms$", done.stdout, re.M)

"""perf ranks-cpu: what it refuses, and that two ranks are told beside one process (slow)."""

from __future__ import annotations

import re

import pytest

from perf import ranks_cpu
from tests.ranks.mpi import mpiexec


@pytest.mark.parametrize(
    "words, said",
    [
        (["rmat:scale=5"], "expected mpiexec -n 2 python -m perf ranks-cpu"),
        (["rmat:scale=5", "--cases", "bfs"], "--cases: 'bfs': expected some of bfs:auto,"),
        (["rmat:scale=5", "--rounds", "0"], "--rounds 0: expected 1 or more"),
    ],
)
def test_what_is_refused(words, said, capsys):
    assert ranks_cpu.main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_ranks_are_told_beside_one_process():
    words = "rmat:scale=10,symmetrize,permute", "--rounds", "2", "--cases", "bfs:auto,pagerank:pc"
    done = mpiexec(2, "-m", "perf", "ranks-cpu", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 ranks x 1 threads" in done.stdout and "WRONG" not in done.stdout
    for case in ("bfs:auto", "pagerank:pc"):
        _, rounds, one, summed, times, _, wall, _, _, waits, level = re.search(
            rf"^({case}) +" + r" +".join([r"([\d.]+)"] * 10) + "$", done.stdout, re.MULTILINE
        ).groups()
        assert int(rounds) > 1 and min(float(one), float(summed), float(wall), float(level)) > 0
        assert 0 < float(waits) < float(wall)
        assert float(summed) / float(one) == pytest.approx(float(times), rel=0.2, abs=0.1)

"""Programs on several ranks: one job for every commit; all programs, modes and ranks in slow tests."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import gpop
from tests.conftest import SEED
from tests.ranks.mpi import mpiexec, said_by_us


def test_three_ranks_agree_with_a_run_alone(tmp_path):
    done = mpiexec(3, "-m", "tests.ranks.job", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "16 runs agree on 3 ranks" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("job", ["pull", "programs", "exchanges"])
def test_three_ranks_that_do_something_else_agree_with_a_run_alone(job, tmp_path):
    done = mpiexec(3, "-m", "tests.ranks.job", str(tmp_path), job)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 runs agree on 3 ranks" in done.stdout


def test_only_rank_0_prints_and_all_write(tmp_path):
    graph, path = gpop.load("data/road.bin"), tmp_path / "labels.csv"
    graph.original_ids = 7 * np.arange(graph.n) * graph.n  # sparse: they are kept, and parts are numbered
    with pytest.warns(UserWarning, match="which have no edges"):
        graph.save(tmp_path / "road.el")
    options = ("--rounds", "1", "--json", "--output", str(path))
    done = mpiexec(3, "-m", "gpop.apps.cc", str(tmp_path / "road.el"), *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == {"output": str(path)}
    rows = np.loadtxt(path, np.int64, delimiter=",", skiprows=1)
    there = np.flatnonzero(graph.out_degree)  # an edge list has no place for others
    expected = np.column_stack([there, gpop.connected_components(graph).label[there]])
    assert np.array_equal(rows, graph.original_ids[expected])


def test_an_error_of_all_ranks_is_one_line(tmp_path):
    done = mpiexec(3, "-m", "gpop.apps.bfs", str(tmp_path / "missing.bin"))
    assert done.returncode != 0
    assert [line.split(": ", 2)[1] for line in said_by_us(done)] == ["rank 0 of 3"]
    assert "missing.bin" in said_by_us(done)[0]


@pytest.mark.parametrize(
    ("leaves", "said"),
    [
        ("raise gpop.UsageError('rank 1 only') if W.rank == 1 else W.barrier()", "rank 1 only"),
        pytest.param("sys.exit(3) if W.rank == 1 else W.barrier()", "sys.exit(3)", marks=pytest.mark.slow),
    ],
)
def test_an_error_of_one_rank_ends_the_job(leaves, said):
    line = f"import sys\n{leaves}"
    code = f"import gpop\nfrom gpop.ranks.world import world_of\nW = world_of('mpi')\n{line}"
    done = mpiexec(2, "-c", code, seconds=60)
    assert done.returncode != 0
    assert said_by_us(done) == [f"gpop: rank 1 of 2: {said}"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_all_programs_in_all_modes(ranks):
    done = mpiexec(ranks, "-m", "tests.ranks.agreement", seconds=3500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"runs agree on {ranks} ranks" in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("ranks", [2, 3])
def test_all_apps(ranks):
    done = mpiexec(ranks, "-m", "tests.ranks.apps_agree", seconds=3500)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_kills_end_with_the_right_bits(tmp_path):
    whole = mpiexec(1, "-m", "tests.ranks.killed_job", str(tmp_path / "whole"))
    assert whole.returncode == 0, whole.stderr
    expected = np.load(tmp_path / "whole.npy")
    rng = np.random.default_rng(SEED)
    for turn in range(20):
        folder, ranks, others = tmp_path / str(turn), *rng.integers(2, 5, 2).tolist()
        rank, iteration = int(rng.integers(ranks)), int(rng.integers(20))
        kill = mpiexec(ranks, "-m", "tests.ranks.killed_job", str(folder), str(rank), str(iteration))
        assert kill.returncode != 0
        (line,) = said_by_us(kill)
        named = re.fullmatch(r"gpop: ((?:rank \d(?:, )?)+) of (\d) ha(?:s|ve) ended.*", line)
        assert f"rank {rank}" in named[1].split(", ") and int(named[2]) == ranks
        assert ("goes on from the checkpoint" in line) == (iteration >= 3)
        again = mpiexec(others, "-m", "tests.ranks.killed_job", str(folder))
        assert again.returncode == 0, again.stderr
        assert np.array_equal(np.load(f"{folder}.npy"), expected)

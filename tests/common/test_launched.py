"""Who is in a job, from the environment alone; what one rank does for all."""

from __future__ import annotations

import pytest

from gpop import convert
from gpop.common import launched
from gpop.common.launched import LAUNCHED, SLURM, launched_rank, launched_ranks
from gpop.generate import __main__ as generate
from gpop.ranks.world import world_of


def without_launcher(patch: pytest.MonkeyPatch) -> None:
    for name in (*LAUNCHED, *LAUNCHED.values(), *SLURM):
        patch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def not_launched(monkeypatch):
    without_launcher(monkeypatch)


def test_ranks_are_known_from_the_environment(monkeypatch):
    said = launched._said  # a process asks once
    assert said() == (launched_ranks(), launched_rank()) == (1, 0) and world_of("auto") is None
    monkeypatch.setenv("PMI_SIZE", "4")
    monkeypatch.setenv("PMI_RANK", "2")
    assert said() == (4, 2) and world_of("alone") is None
    monkeypatch.delenv("PMI_SIZE")
    monkeypatch.setenv("SLURM_NTASKS", "8")
    assert said() == (1, 0)  # a job step of one process each
    monkeypatch.setenv("PMIX_RANK", "3")
    assert said() == (8, 3)


@pytest.mark.parametrize("rank", [0, 1])
def test_one_rank_converts_and_generates_for_all(rank, monkeypatch, tmp_path, capsys):
    for module in (convert, generate):
        monkeypatch.setattr(module, "launched_rank", lambda: rank)
    made = tmp_path / "made.bin"
    assert generate.main(["chain", "--vertices", "5", str(made)]) == 0
    assert convert.main(["data/karate.bin", str(tmp_path / "karate.el")]) == 0
    assert len([*tmp_path.iterdir()]) == (0 if rank else 2)
    assert bool(capsys.readouterr().out) == (rank == 0)

"""``python -m perf mapped``: both tables, on small graphs, and answers that are those of runs in memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from perf import paced_disk
from perf.mapped import main, room_of


def test_tables(tmp_path, capsys):
    words = ["--graph", "uniform:scale=12", "--road", "road:width=64,height=64", "--folder", str(tmp_path)]
    assert main([*words, "--rounds", "1", "--iterations", "2", "--share", "0.3"]) == 0
    said = capsys.readouterr().out
    assert "O_DIRECT, 2 threads" in said
    assert "PageRank, 65,536 edges, 2 iterations" in said
    assert "BFS, 4,096 vertices" in said
    assert said.count("True") == 5  # one run of PageRank, four searches
    assert "False" not in said


def test_room_ends(monkeypatch):
    monkeypatch.setenv("GPOP_MEMORY", "7GB")
    with room_of(5):
        assert os.environ["GPOP_MEMORY"] == "5"
    assert os.environ["GPOP_MEMORY"] == "7GB"


def test_a_group_has_the_limit_and_the_process_while_it_is_open(tmp_path, monkeypatch):
    monkeypatch.setattr(paced_disk, "ROOT", tmp_path)
    monkeypatch.setattr(paced_disk, "group_of", lambda lines: "/")
    group = tmp_path / f"gpop-{os.getpid()}"
    monkeypatch.setattr(Path, "rmdir", lambda self: None)  # files of a true group go with it
    with paced_disk.paced(tmp_path, 5000):
        numbers, speed = (group / "blkio.throttle.read_bps_device").read_text().split()
        assert numbers == paced_disk.disk_of(tmp_path)
        assert (speed, (group / "cgroup.procs").read_text()) == ("5000", str(os.getpid()))
    assert (tmp_path / "cgroup.procs").read_text() == str(os.getpid())


def test_no_such_group_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(paced_disk.UsageError, match="no control group"):
        paced_disk.group_of("0::/")
    monkeypatch.setattr(paced_disk, "ROOT", tmp_path / "missing")
    monkeypatch.setattr(paced_disk, "group_of", lambda lines: "/")
    with pytest.raises(paced_disk.UsageError, match="--pace"), paced_disk.paced(tmp_path, 5000):
        pass

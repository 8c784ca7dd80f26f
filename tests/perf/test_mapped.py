"""``python -m perf mapped``: both tables, on small graphs, and answers that are those of runs in memory."""

from __future__ import annotations

import os

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

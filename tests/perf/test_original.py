"""Programs of GPOP's authors beside gpop: what they are asked, which time counts, who is the peer."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpop
from gpop.common.errors import GpopError, UsageError
from perf.__main__ import main
from perf.gap import Measured
from perf.gap_kernels import TOLERANCE
from perf.graphs import open_graph
from perf.original import FOLDERS, original, pcpm

GRAPH = "rmat:scale=6,degree=4"


def write(program: Path, text: str) -> Path:
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def folder(tmp_path):
    """Programs that take five seconds in the first round and two in the second; they note what they get."""
    for name in FOLDERS.values():
        write(
            tmp_path / name,
            f'echo "{name} $@" >> {tmp_path}/asked\ntest -s "$1" || exit 3\n'
            'echo "number of partitions 2, size of partitions 8"\n'
            'echo "app, 2, $1, 5.000000"; echo "app, 2, $1, 2.000000"; echo',
        )
    return tmp_path


def test_the_second_round_counts(folder, tmp_path):
    (tmp_path / "graph.bin").write_text("edges")
    peer = original(folder, threads=3)
    assert peer.seconds("sssp", tmp_path / "graph.bin", source=7, iterations=0) == 2
    assert (tmp_path / "asked").read_text() == "sssp/sssp graph.bin -s 7 -iter 0 -t 3 -rounds 2\n"
    graph = gpop.Graph.from_edges([0], [1])
    assert [peer.has(app, graph) for app in ("bfs", "cc", "bc")] == [True, False, False]
    assert peer.has("cc", graph.symmetrize())


def test_pcpm_says_file_and_time(tmp_path):
    program = write(tmp_path / "pr", 'echo "scatter Time = 9.0"\necho "$1, 0.25"\necho "$@" > asked')
    peer = pcpm(program, threads=2)
    assert peer.seconds("pr", tmp_path / "graph.bin", source=0, iterations=13) == 0.25
    assert (tmp_path / "asked").read_text() == "graph.bin 2 13\n"


def test_what_fails_is_said_in_a_line(folder, tmp_path):
    peer = original(folder, threads=1)
    with pytest.raises(GpopError, match=r"bfs/bfs: exit code 3, nothing said"):
        peer.seconds("bfs", tmp_path / "none.bin", 0, 0)
    silent = pcpm(write(tmp_path / "pcpm", "echo nothing"), 1)
    with pytest.raises(GpopError, match=r"pcpm: exit code 0, nothing$"):
        silent.seconds("pr", tmp_path / "none.bin", 0, 0)
    (folder / "bfs/bfs").unlink()
    with pytest.raises(UsageError, match=r"--original: there is no program .*/bfs/bfs"):
        original(folder, threads=1)
    with pytest.raises(UsageError, match=r"--pcpm: there is no program"):
        pcpm(tmp_path, threads=1)


def test_the_fastest_is_the_peer():
    found = Measured("pr", "g", [1.0], [3.0, 5.0], 0.0, others={"slow": [9.0], "fast": [1.0, 2.0, 9.0]})
    found.take_best()
    assert (found.theirs, found.note) == ([1.0, 2.0, 9.0], "peer: fast")
    found = Measured("pr", "g", [1.0], [1.5], 0.0, "as it is", others={"fast": [2.0]})
    found.take_best()
    assert (found.theirs, found.note) == ([1.5], "as it is")


def test_the_table(folder, capsys):
    """As many iterations as gpop's, the same sources; components of a directed graph have no peer."""
    program = write(folder / "pcpm", 'echo "$1, 1.0"; echo "pcpm $@" >> ' + str(folder / "asked"))
    words = ["--apps", "pr,nibble,cc,coloring", "--original", str(folder), "--pcpm", str(program)]
    assert (
        main(["calls", "rmat:scale=6,degree=4", *words, "--trials", "2", "--rounds", "2", "--threads", "2"])
        == 0
    )
    rows = {row.split()[1]: row.split() for row in capsys.readouterr().out.splitlines() if row[:5] == "rmat-"}
    assert rows["pr"][-2:] == ["peer:", "PCPM"] and rows["nibble"][-2:] == ["peer:", "original"]
    assert rows["nibble"][-4] == "2000.000" and len(rows["cc"]) == len(rows["coloring"]) == 7
    asked = [line.split() for line in (folder / "asked").read_text().splitlines()]
    assert [line[0] for line in asked] == ["pr/pr", "pr/pr", "pcpm", "pcpm"] * 2 + ["appr/nibble"] * 4
    iterations = {line[line.index("-iter") + 1] for line in asked if line[0] == "pr/pr"}
    assert iterations == {line[-1] for line in asked if line[0] == "pcpm"}
    assert iterations == {str(gpop.pagerank(open_graph(GRAPH), tolerance=TOLERANCE).iterations)}
    nibbles = [line[2:6] for line in asked if line[0] == "appr/nibble"]
    assert nibbles[:2] == nibbles[2:] and nibbles[0] != nibbles[1] and nibbles[0][2:] == ["-iter", "10"]

"""``perf gpu``: tables and bars from made-up numbers, peers, files of times, and errors in one line."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.common.errors import UsageError
from gpop.generate import generate
from gpop.gpu.device import is_available
from perf.__main__ import main
from perf.gpu import _entry, cases
from perf.gpu_contenders import TOLERANCE, Outcome, contenders, deviation
from perf.gpu_peers import named, read_external, run_peer, write_raw
from perf.gpu_table import Entry, Result, bars, table, wrong
from tests.apps.reference import smallest_labels
from tests.direct.test_triangles import dense_count
from tests.gpu.emulator import emulated

COPY = 4e12


def rmat(pagerank_ms: float, megabytes: float, bfs_ms: float, sssp_ms: float) -> Result:
    entries = [
        Entry("pagerank", "gpop pc", [pagerank_ms * 1e-3], 20, megabytes * 1e6, True, 2e-6),
        Entry("pagerank", "spmv", [1e-3]),
        Entry("bfs", "gpop pc", [1.0], 7, 0, True),
        Entry("bfs", "gpop auto", [bfs_ms * 1e-3], 7, 0, True),
        Entry("bfs", "edge", [8e-3], 7, 0, False),
        Entry("bfs", "other", [5e-3]),
        Entry("sssp", "gpop auto", [sssp_ms * 1e-3], 9, 0, True),
        Entry("sssp", "other", [10e-3]),
    ]
    return Result("rmat-22", "rmat", "about", COPY, entries, ["other"])


def grid(ms: float, levels: int) -> Result:
    return Result("grid", "grid", "about", COPY, [Entry("bfs", "gpop auto", [ms * 1e-3], levels)], [])


def test_bars_are_met_or_missed_by_the_numbers():
    # 0.7 of 1 ms; 0.4 * 4e12 B/s * 0.7 ms = 1120 MB; 0.6 of 5 ms; 0.8 of 10 ms; 25 us * 4000 levels
    at = bars([rmat(0.7, 1121, 3.0, 8.0), grid(100, 4000)])
    assert [line.split()[0] for line in at] == ["met"] * 6
    assert at[0] == "met     rmat-22 pagerank pc / SpMV: 0.7 (at most 0.7)"
    assert "grid bfs auto per level: 25 us (at most 25 us)" in at[-1]
    over = bars([rmat(0.71, 1119, 3.1, 8.1), grid(101, 4000)])
    assert [line.split()[0] for line in over] == ["MISSED", "MISSED", "MISSED", "met", "MISSED", "MISSED"]
    assert over[1].endswith("of copy bandwidth: 39.4 % (at least 40 %)")


def test_the_best_is_held_to_the_better_baseline_and_auto_to_every_peer():
    """On any graph; what a peer does not have is not told."""
    times = {"gpop pc": 2.0, "gpop sc": 3.0, "gpop auto": 3.0, "edge": 4.0, "vertex": 1.9, "other": 2.5}
    entries = [Entry("cc", name, [taken]) for name, taken in times.items()]
    entries += [Entry("triangles", "gpop auto", [1.0])]
    assert bars([Result("road", "road", "about", COPY, entries, ["other", "third"])]) == [
        "MISSED  road cc auto / other: 1.2 (at most 1)",
        "MISSED  road cc best / baseline: 1.05 (at most 1)",
    ]


def test_bars_of_what_was_not_measured_are_not_told():
    none = rmat(0.7, 1121, 3.0, 8.0)._replace(entries=[Entry("bfs", "gpop pc", [1.0])])
    assert bars([none, none._replace(kind="file"), grid(1, 10)._replace(kind="file")]) == []


def test_table():
    rounds = [4e-3, 1e-3, 2e-3, 3e-3, 5e-3]
    result = rmat(0.5, 1000, 3.0, 8.0)
    result.entries.append(Entry("sssp", "vertex", rounds, 30, 0, True))
    title, head, *lines = table(result).splitlines()
    assert title == "rmat-22: about; copy 4000 GB/s"
    assert head.split() == [
        "app", "by", "ms", "quartiles", "/spmv", "/edge", "/vertex", "/other", "MB", "%", "of", "copy",
        "iterations", "us/level", "equal",
    ]  # fmt: skip
    cells = [line.split() for line in lines]
    assert cells[0][1:4] == ["gpop", "pc", "0.500"]
    assert " ".join(cells[0][4:]) == "0.500..0.500 0.50 - - - 1000.0 50.0 20 - yes (2e-06)"
    assert cells[3][3:] == ["3.000", "3.000..3.000", "-", "0.38", "-", "0.60", "-", "-", "7", "428.57", "yes"]
    assert cells[4][-1] == "NO" and cells[5][-1] == "-"
    assert cells[-1][2:4] == ["3.000", "2.000..4.000"] and cells[-1][-2:] == ["100.00", "yes"]


def test_wrong_answers_are_named():
    assert wrong([rmat(1, 1, 1, 1), grid(1, 1)]) == ["WRONG   rmat-22 bfs by edge"]


def test_an_entry_is_right_within_the_tolerance():
    found = [Outcome(3.0, 30, 300), Outcome(1.0, 10, 100), Outcome(2.0, 20, 200)]
    entry = _entry(("pagerank", "x"), found, TOLERANCE)
    assert (entry.median, entry.iterations, entry.bytes, entry.right) == (2.0, 20, 200, True)
    assert _entry(("pagerank", "x"), found, 1.1 * TOLERANCE).right is False
    assert _entry(("pagerank", "x"), found, None).right is None


def test_every_rank_counts_not_only_large_ones():
    reference = np.array([1.0, 1e-9])
    assert deviation(np.array([1.0, 1.1e-9]), reference) == pytest.approx(0.1)
    assert deviation(np.array([1.0, np.nan]), reference) == np.inf
    assert deviation(np.array([1, 2, 3]), np.array([1, 2])) == np.inf


PEER = """
import sys
import numpy as np
data = open(sys.argv[1], "rb").read()
n, m = np.frombuffer(data, "<i8", 2)
offsets = np.frombuffer(data, "<i4", n + 1, 16)
columns = np.frombuffer(data, "<i4", m, 16 + 4 * (n + 1))
weights = np.frombuffer(data, "<f4", m, 16 + 4 * (n + 1 + m))
assert len(data) == 16 + 4 * (n + 1 + 2 * m)
print("read", n, m)
print("bfs", offsets[-1] + columns[-1])
print("sssp", weights.sum())
print("pagerank", sys.argv[2])
"""


def test_a_peer_reads_the_graph_and_its_lines_are_taken(tmp_path):
    graph = gpop.Graph.from_edges([0, 0, 1], [1, 2, 2], np.array([3, 4, 5], np.uint32))
    raw, program = tmp_path / "a graph.raw", tmp_path / "peer.py"
    write_raw(graph, raw)
    program.write_text(PEER)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(program))} {{weighted}} {{source}}"
    found = run_peer("other", command, raw, 7)
    assert found == pytest.approx({"bfs": 5e-3, "sssp": 12e-3, "pagerank": 7e-3})


def test_a_graph_that_does_not_fit_the_disk_is_told():
    graph = gpop.Graph.from_edges([0], [1], np.array([3], np.uint32))
    with pytest.raises(OSError, match="No space left"):
        write_raw(graph, Path("/dev/full"))


@pytest.mark.parametrize("code, said", [
    ("print('bfs fast')", "peer other: exit code 0: bfs fast: expected lines"),
    ("print('bfs 1'); raise SystemExit('no device')", "peer other: exit code 1: no device"),
])  # fmt: skip
def test_a_peer_that_fails_is_named(tmp_path, code, said):
    with pytest.raises(UsageError, match=said):
        run_peer("other", f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}", tmp_path / "x", 0)
    with pytest.raises(UsageError, match=r"peer other: .*no-such-program"):
        run_peer("other", "./no-such-program {graph}", tmp_path / "x", 0)


def test_external_times(tmp_path):
    path = tmp_path / "times.json"
    path.write_text(json.dumps({"rmat-22": {"bfs": 5.5}}))
    assert read_external("other", path) == {"rmat-22": {"bfs": 5.5e-3}}
    for content in ("{", "[1]", '{"rmat-22": {"bfs": "fast"}}'):
        path.write_text(content)
        with pytest.raises(UsageError, match="external other: .*expected JSON"):
            read_external("other", path)
    with pytest.raises(UsageError, match="No such file"):
        read_external("other", tmp_path / "none.json")
    with pytest.raises(UsageError, match="expected NAME:"):
        named("times.json")


@pytest.mark.parametrize("argv, said", [
    (["--apps", "bfs,dfs"], "--apps: 'dfs': expected some of pagerank,bfs,sssp"),
    (["--scales", "22,x"], "--scales: 'x': expected numbers up to 25"),
    (["--scales", "26"], "--scales: '26': expected numbers up to 25"),
    (["--graphs", "none.bin"], "graph none.bin: no such file, nor one of grid, road, road-8m"),
    (["--rounds", "0"], "--rounds 0: expected 1 or more"),
    (["--peer", "program"], "'program': expected NAME:COMMAND"),
    (["--external", "other:none.json"], "external other: none.json: No such file"),
])  # fmt: skip
def test_errors_are_one_line(tmp_path, monkeypatch, capsys, argv, said):
    monkeypatch.chdir(tmp_path)
    assert main(["gpu", *argv]) == 2
    err = capsys.readouterr().err
    assert said in err and err.startswith("gpop: ") and err.count("\n") == 1


@pytest.mark.skipif(is_available(), reason="there is a GPU")
def test_without_a_gpu_one_line_says_so(capsys):
    assert main(["gpu"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("gpop: target 'gpu'") and captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.gpu
def test_everything_in_one_run(tmp_path, monkeypatch, capsys):
    """A small RMAT graph and a file, with a peer; the output goes to a file as well."""
    monkeypatch.chdir(tmp_path)
    gpop.Graph.from_edges(np.arange(99), np.arange(1, 100)).save("chain.bin")
    code = "print('bfs 1000'); print('sssp 1000')"
    peer = f"other:{shlex.quote(sys.executable)} -c {shlex.quote(code)}"
    argv = ["gpu", "--scales", "10", "--graphs", "chain.bin", "--rounds", "2", "--peer", peer]
    assert main([*argv, "--out", "out.txt"]) == 0
    out = capsys.readouterr().out
    assert (tmp_path / "out.txt").read_text() == out
    assert "rmat-10: 1,024 vertices" in out and "chain: 100 vertices" in out and "NO" not in out
    assert "rmat-10 bfs auto / other" in out and "met     rmat-10 sssp auto / other" in out


def test_components_and_triangles_are_measured_too():
    graph = generate("rmat", scale=6, degree=8, seed=1, symmetrize=True)
    answers = {"cc": smallest_labels(graph), "triangles": np.array([dense_count(graph)])}
    names = {"cc": ["gpop pc", "gpop sc", "gpop auto"], "triangles": ["gpop auto"]}
    for app, answer in answers.items():
        runs = contenders(graph, app, 0, baselines=None)
        assert [*runs] == names[app]
        with emulated():
            outcome = runs["gpop auto"]()
        assert outcome.iterations == 0  # phases are no levels
        assert deviation(outcome.values, answer) == 0


def test_a_larger_graph_is_made_by_the_same_generator():
    case = cases([], ["uniform-24"])[0]
    assert (case.name, case.make.args, case.make.keywords["scale"]) == ("uniform-24", ("uniform",), 24)

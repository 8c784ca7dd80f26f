"""One line and exit code 2 for every bad input."""

from __future__ import annotations

import re
import sys

import pytest

import gpop
from gpop.generate import generate
from tests.cli.commands import run_app

BAD = {
    "checkpoint of rounds": (
        "bfs",
        ["ROAD", "--checkpoint", "x", "--rounds", "2"],
        "--checkpoint is for one run: expected --rounds 1",
    ),
    "how often without where": ("bfs", ["ROAD", "--checkpoint-every", "2"], "needs --checkpoint DIR"),
    "checkpoint of no messages": (
        "triangles",
        ["ROAD", "--checkpoint", "x"],
        "checkpoint means nothing to triangles",
    ),
    "checkpoint of two runs": ("hits", ["ROAD", "--checkpoint", "x"], "checkpoint means nothing to hits"),
    "checkpoint never": ("bfs", ["ROAD", "--checkpoint-every", "0s"], "'0s': expected iterations, such as 5"),
    "missing file": ("bfs", ["nowhere.bin"], "nowhere.bin"),
    "missing file of no known kind": ("bfs", ["nowhere"], "nowhere: cannot be read: No such file"),
    "wrong suffix": ("bfs", ["PICTURE"], "unknown kind of graph file"),
    "no graph": ("bfs", [], "the following arguments are required: graph"),
    "source out of range": (
        "bfs",
        ["ROAD", "--source", "180"],
        "vertex 180 is not in graph road; its ids: 0..179",
    ),
    "source that is no id": ("bfs", ["ROAD", "--source", "x"], "vertex 'x' is not in graph road"),
    "negative source": ("sssp", ["ROAD", "--source=-1"], "vertex -1 is not in graph road"),
    "unknown original id": ("bfs", ["NAMED", "--source", "8"], "vertex 8 is not in graph named"),
    "one of several seeds": ("nibble", ["ROAD", "--source", "3,999"], "vertex 999 is not in graph road"),
    "no vertices": ("bfs", ["EMPTY"], "empty has no vertices"),
    "no weights": ("sssp", ["PLAIN"], "weights"),
    "negative weights": (
        "sssp",
        ["NEGATIVE"],
        "sssp needs weights that are not negative: edge 1 -> 0 has -3",
    ),
    "truncated file": ("bfs", ["CUT"], "cut.bin"),
    "unknown mode": (
        "bfs",
        ["ROAD", "--mode", "fast"],
        "argument --mode: 'fast': expected one of auto, sc, pc, pull",
    ),
    "no threads": (
        "bfs",
        ["ROAD", "--threads", "0"],
        "argument --threads: '0': expected a whole number from 1 to",
    ),
    "too many threads": ("bfs", ["ROAD", "--threads", "99999"], "argument --threads: '99999'"),
    "negative rounds": ("bfs", ["ROAD", "--rounds", "-1"], "argument --rounds"),
    "no iterations": ("pagerank", ["ROAD", "--iterations", "0"], "argument --iterations"),
    "partition size": ("bfs", ["ROAD", "--partition-size", "33"], "33"),
    "ratio": ("bfs", ["ROAD", "--ratio", "-1"], "ratio = -1.0: expected a number from 0 on"),
    "interleaved BFS": ("bfs", ["ROAD", "--interleave"], "bfs cannot be interleaved"),
    "interleaved PageRank": ("pagerank", ["ROAD", "--interleave"], "interleave"),
    "damping": ("pagerank", ["ROAD", "--damping", "2"], "damping 2.0: expected a number from 0 to 1"),
    "threshold": ("nibble", ["ROAD", "--threshold", "0"], "threshold 0.0: expected a number above 0"),
    "output suffix": (
        "bfs",
        ["ROAD", "--output", "x.xls"],
        "'x.xls': expected a name ending in .npy, .csv, .tsv",
    ),
    "output directory": ("bfs", ["ROAD", "--output", "no/x.csv"], "'no/x.csv': there is no directory no"),
    "trace suffix": ("bfs", ["ROAD", "--trace", "x.txt"], "'x.txt': expected a name ending in .json"),
    "trace over the output": (
        "bfs",
        ["ROAD", "--output", "x.csv", "--trace", "./x.csv"],
        "--trace x.csv: is the file of --output, expected another one",
    ),
    "output over the graph": ("bfs", ["x.csv", "--output", "./x.csv"], "x.csv: is the file of the graph"),
    "verify half a series": (
        "heat_kernel",
        ["ROAD", "--verify", "--iterations", "2"],
        "--verify needs a finished run",
    ),
    "verify half a run": ("bfs", ["ROAD", "--verify", "--iterations", "2"], "--verify needs a finished run"),
    "messages for afforest": (
        "cc",
        ["ROAD", "--method", "afforest", "--mode", "pc"],
        "mode means nothing to afforest",
    ),
    "messages for triangles": (
        "triangles",
        ["ROAD", "--interleave"],
        "interleave means nothing to triangles",
    ),
    "triangles of vertices": ("triangles", ["ROAD", "--output", "x.csv"], "triangles has none"),
    "unknown option": ("bfs", ["ROAD", "--thread", "2"], "unrecognized arguments: --thread 2"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory, road, named):
    """Graphs by the words that stand for them in `BAD`."""
    folder = tmp_path_factory.mktemp("bad")
    paths = {word: folder / name for word, name in (("PLAIN", "plain.bin"), ("EMPTY", "empty.bin"))}
    generate("grid", width=4, height=4).save(paths["PLAIN"])
    gpop.Graph.from_edges([], [], n=0).save(paths["EMPTY"])
    paths["NEGATIVE"] = folder / "negative.wel"
    paths["NEGATIVE"].write_text("0 1 5\n1 0 -3\n")
    paths["CUT"] = folder / "cut.bin"
    paths["CUT"].write_bytes(road.read_bytes()[:-6])
    paths["PICTURE"] = folder / "road.png"
    paths["PICTURE"].write_bytes(b"")
    return {**paths, "ROAD": road, "NAMED": named}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_code_2(case, files, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app, arguments, message = BAD[case]
    assert run_app(app, *(files.get(argument, argument) for argument in arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gpop: ")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_unwritable_output_is_one_line(road, tmp_path, capsys):
    (tmp_path / "taken.csv").mkdir()
    assert run_app("bfs", road, "--rounds", 1, "--output", tmp_path / "taken.csv") == 2
    told = capsys.readouterr()
    assert re.fullmatch(r"gpop: .*taken\.csv: cannot be written: .*\n", told.err)
    assert "vertices" in told.out.splitlines()[0] and "rows" not in told.out  # the answer is not lost


def test_a_file_over_another_that_a_link_points_to(road, tmp_path, capsys):
    (tmp_path / "page.html").symlink_to(tmp_path / "t.json")
    files = ("--trace", tmp_path / "t.json", "--report", tmp_path / "page.html")
    assert run_app("bfs", road, *files) == 2
    assert "page.html: is the file of --trace, expected another one" in capsys.readouterr().err


def test_a_plot_without_matplotlib_is_refused_before_the_run(road, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run_app("bfs", road, "--trace", tmp_path / "t.png") == 2
    told = capsys.readouterr()
    assert "t.png': a plot needs matplotlib (pip install matplotlib)" in told.err and not told.out


def test_target_without_a_device(road, capsys):
    assert run_app("bfs", road, "--target", "gpu") in (0, 2)
    err = capsys.readouterr().err
    assert err == "" or re.fullmatch("gpop: .*\n", err)

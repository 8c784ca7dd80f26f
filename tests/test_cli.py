"""The command line of the apps: good runs, files written, one line and exit code 2 for every bad input."""

from __future__ import annotations

import csv
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop import __main__ as listing
from gpop.generate import generate

APPS = (
    "betweenness",
    "bfs",
    "cc",
    "closeness",
    "clustering",
    "coloring",
    "core_number",
    "heat_kernel",
    "hits",
    "independent_set",
    "katz",
    "label_propagation",
    "nibble",
    "pagerank",
    "pagerank_nibble",
    "personalized_pagerank",
    "spanning_forest",
    "sssp",
    "strong_components",
    "triangles",
)
WITHOUT_SOURCE = (
    "betweenness",
    "cc",
    "closeness",
    "clustering",
    "coloring",
    "core_number",
    "hits",
    "independent_set",
    "katz",
    "label_propagation",
    "pagerank",
    "spanning_forest",
    "strong_components",
    "triangles",
)
WITHOUT_MESSAGES = (
    "betweenness",
    "closeness",
    "clustering",
    "coloring",
    "core_number",
    "label_propagation",
    "spanning_forest",
    "strong_components",
    "triangles",
)


def run_app(name, *arguments):
    """Exit code of an app that runs in this process."""
    return importlib.import_module(f"gpop.apps.{name}").main([str(argument) for argument in arguments])


def start(*arguments, **options):
    """``python -m`` in a process of its own."""
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs") / "road.bin"
    generate("road", width=15, height=12, seed=3).save(path)
    return path


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A text file with ids that are neither dense nor sorted."""
    path = tmp_path_factory.mktemp("graphs") / "named.wel"
    path.write_text("70000 30 4\n30 9 1\n9 30 2\n")
    return path


@pytest.mark.parametrize("app", APPS)
def test_good_run(app, road, capsys):
    assert run_app(app, road, "--threads", 2, "--rounds", 2, "--verify") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert re.search(r"time +[\d.]+ ms, the median of 2 rounds \([\d.]+, [\d.]+ ms\), [\d.,]+ M edges/s", out)
    for line in ("graph       road: 180 vertices", "loaded ", "prepared ", "2 threads", "verified "):
        assert line in out


def test_the_answer_comes_first(road, capsys):
    graph = gpop.load(road)
    first = {}
    for app in APPS:
        source = () if app in WITHOUT_SOURCE else ("--source", 7)
        assert run_app(app, road, *source, "--rounds", 1) == 0
        first[app] = capsys.readouterr().out.splitlines()[0]
    reached = gpop.sssp(graph, 7)
    assert first["sssp"].startswith(f"{reached.reached.sum()} of 180 vertices")
    assert f"vertex 7, the farthest at distance {reached.distance[reached.reached].max():,}" in first["sssp"]
    assert first["bfs"].endswith(f"reached from vertex 7, depth {gpop.bfs(graph, 7).level.max()}")
    assert first["cc"].startswith(f"{gpop.connected_components(graph).count} components, the largest with")
    assert re.match(r"\d+ iterations, converged; highest ranks", first["pagerank"])
    assert first["triangles"] == f"{gpop.triangle_count(graph).count} triangles"
    assert first["clustering"].startswith(f"average coefficient {gpop.clustering(graph).average:.6g}, trans")
    assert first["coloring"].startswith(f"{gpop.coloring(graph).count} colors, the most frequent for ")
    assert first["independent_set"].startswith(f"{gpop.independent_set(graph).count} of 180 vertices")
    assert first["spanning_forest"].startswith(f"{180 - gpop.spanning_forest(graph).trees} edges of weight ")
    assert first["label_propagation"].startswith(f"{gpop.label_propagation(graph).count} communities after")
    assert "reached from vertex 7; most probable" in first["nibble"]


def test_edges_per_second_count_every_reached_edge(named, road, capsys):
    for app, arguments, edges in (
        ("bfs", (named, "--source", 30), 2),
        ("sssp", (named, "--source", 70000), 3),
        ("cc", (road,), gpop.load(road).m),
        ("pagerank", (road, "--iterations", 10), 10 * gpop.load(road).m),
    ):
        assert run_app(app, *arguments, "--rounds", 1) == 0
        time, rate = re.search(r"([\d.]+) ms, .*, ([\d,.]+) M edges/s", capsys.readouterr().out).groups()
        assert float(rate.replace(",", "")) == pytest.approx(edges / float(time) / 1e3, rel=0.01, abs=0.06), (
            app
        )


def test_top_ranks_have_original_ids(named, capsys):
    assert run_app("pagerank", named, "--iterations", 20, "--rounds", 1) == 0
    graph = gpop.load(named)
    rank = gpop.pagerank(graph, iterations=20).rank
    names = [int(line.split()[0]) for line in capsys.readouterr().out.splitlines()[1:4]]
    assert names == [int(graph.original_ids[v]) for v in np.argsort(-rank)]


def test_a_directed_graph_is_reported_as_made_symmetric(named, capsys):
    assert run_app("cc", named, "--rounds", 1) == 0
    assert "note: the graph is directed; its edges were taken both ways" in capsys.readouterr().out


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t"), (".npy", None)])
def test_output_has_original_ids(named, tmp_path, suffix, delimiter):
    path = tmp_path / f"out{suffix}"
    assert run_app("sssp", named, "--source", 70000, "--rounds", 1, "--output", path) == 0
    if delimiter:
        rows = list(csv.reader(path.read_text().splitlines(), delimiter=delimiter))
        assert rows[0] == ["vertex", "distance", "reached"]
        assert {row[0]: row[1] for row in rows[1:]} == {"70000": "0", "30": "4", "9": "5"}
    else:
        table = np.load(path)
        assert dict(zip(table["vertex"].tolist(), table["distance"].tolist(), strict=True)) == {
            70000: 0,
            30: 4,
            9: 5,
        }
    assert list(tmp_path.iterdir()) == [path]


def test_output_of_parents_and_of_sparse_results(named, tmp_path):
    path = tmp_path / "out.csv"
    assert run_app("bfs", named, "--source", 30, "--rounds", 1, "--output", path) == 0
    rows = {
        row["vertex"]: (row["parent"], row["level"]) for row in csv.DictReader(path.read_text().splitlines())
    }
    assert rows == {"30": ("30", "0"), "9": ("30", "1"), "70000": ("", "")}
    assert (
        run_app("nibble", named, "--source", "30,9", "--iterations", 1, "--rounds", 1, "--output", path) == 0
    )
    assert path.read_text().splitlines() == ["vertex,probability", "9,0.5", "30,0.5"]


def test_names_that_are_text(tmp_path):
    from gpop.apps.cli import _source, original_id
    from gpop.apps.report import ids

    graph = gpop.Graph.from_networkx(nx.path_graph(["anna", "bo", "7"]))
    assert _source(graph, "bo", False) == (1, "vertex bo")
    assert _source(graph, "bo, 7", True) == ([1, 2], "vertices bo, 7")
    assert original_id(graph, "7") == "7"
    assert ids(graph, np.array([2, -1, 0])).tolist() == ["7", "", "anna"]


@pytest.mark.parametrize("suffix", [".json", ".csv", ".svg"])
def test_trace_file(road, tmp_path, suffix):
    if suffix == ".svg":
        pytest.importorskip("matplotlib")
    path = tmp_path / f"trace{suffix}"
    assert run_app("bfs", road, "--source", 0, "--rounds", 1, "--trace", path) == 0
    trace = gpop.bfs(gpop.load(road), 0).trace
    if suffix == ".json":
        records = json.loads(path.read_text())["iterations"]
        assert [record["frontier"] for record in records] == trace.column("frontier").tolist()
    elif suffix == ".csv":
        assert [
            int(row["frontier"]) for row in csv.DictReader(path.read_text().splitlines())
        ] == trace.column("frontier").tolist()
    else:
        assert "<svg" in path.read_text()


def test_options_reach_the_engine(road, capsys):
    arguments = ("--threads", 1, "--mode", "sc", "--partition-size", 32, "--no-interleave", "--rounds", 1)
    assert run_app("sssp", road, *arguments) == 0
    out = capsys.readouterr().out
    assert "6 of 32 vertices" in out
    assert "1 threads, mode sc\n" in out
    assert re.search(r"scatter +sc in 0-\d+\n", out)
    assert run_app("sssp", road, "--mode", "pc", "--interleave", "--rounds", 1) == 0
    out = capsys.readouterr().out
    assert re.search(r"mode pc, interleaved\n", out)
    assert re.search(r"scatter +pc in 0-\d+\n", out)
    assert run_app("bfs", road, "--iterations", 2, "--rounds", 1) == 0
    assert "\nrun         2 iterations" in capsys.readouterr().out


def test_components_say_how_they_were_found(road, capsys):
    assert run_app("cc", road, "--threads", 1, "--rounds", 1) == 0
    out = capsys.readouterr().out
    assert re.search(r"method +afforest: no option speaks of messages; \d+ of 256 sampled", out)
    assert re.search(r"run +1 threads\ntarget +cpu\nphases +hook [\d.e-]+ ms for \d+ edges, ", out)
    assert run_app("cc", road, "--method", "labels", "--rounds", 1) == 0
    out = capsys.readouterr().out
    assert "method      labels: as asked\n" in out
    assert re.search(r"run +\d+ iterations, ", out)


def test_reorder_reports_its_cost_and_keeps_the_ids(named, tmp_path, capsys):
    rows = {}
    for order in ("none", "degree"):
        path = tmp_path / f"{order}.csv"
        arguments = ("--source", 30, "--rounds", 1, "--verify", "--reorder", order, "--output", path)
        assert run_app("bfs", named, *arguments) == 0
        rows[order] = path.read_text()
    assert rows["none"] == rows["degree"]
    assert re.search(
        r"reordered +by degree in [\d.e-]+ s, messages per edge [\d.]+ -> [\d.]+\n", capsys.readouterr().out
    )


def test_symmetrize(named, capsys):
    assert run_app("bfs", named, "--source", 9, "--rounds", 1) == 0
    assert capsys.readouterr().out.startswith("2 of 3")
    assert run_app("bfs", named, "--source", 9, "--rounds", 1, "--symmetrize") == 0
    assert capsys.readouterr().out.startswith("3 of 3")


def test_the_default_source_is_always_the_same_and_has_edges(tmp_path, capsys):
    path = tmp_path / "two.el"
    gpop.Graph.from_edges([90], [3], n=100).save(path)
    for _ in range(2):
        assert run_app("bfs", path, "--rounds", 1) == 0
        out = capsys.readouterr().out
        assert out.startswith("2 of ")
        assert "vertex 90 was drawn at random" in out


def test_verification_that_fails(road, capsys, monkeypatch):
    monkeypatch.setattr("gpop.apps.cc.verify", lambda graph, result: "a label is\nwrong")
    assert run_app("cc", road, "--rounds", 1, "--verify") == 1
    assert capsys.readouterr().err == "gpop: verification failed: a label is wrong\n"


def test_a_run_goes_on_from_its_checkpoint(road, tmp_path, capsys):
    """An app leaves what a run needs, and the same command goes on with that."""
    folder, whole, rest = tmp_path / "left", tmp_path / "whole.npy", tmp_path / "rest.npy"
    arguments = (road, "--iterations", 10, "--mode", "pc")
    assert run_app("pagerank", *arguments, "--rounds", 1, "--output", whole) == 0

    def end_at_7(record):
        if record["iteration"] == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gpop.pagerank(
            gpop.load(road), iterations=10, mode="pc", callback=end_at_7,
            checkpoint=gpop.Checkpoint(folder, iterations=6),
        )  # fmt: skip
    trace = tmp_path / "trace.json"
    every = ("--checkpoint", folder, "--checkpoint-every", 6)
    assert run_app("pagerank", *arguments, *every, "--output", rest, "--trace", trace) == 0
    assert "the median of 1 rounds" in capsys.readouterr().out
    assert np.array_equal(np.load(rest), np.load(whole))
    assert len(json.loads(trace.read_text())["iterations"]) == 4
    assert not (folder / "checkpoint.json").exists()


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
    "wrong suffix": ("bfs", ["road.png"], "unknown kind of graph file"),
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
    assert re.fullmatch(r"gpop: .*taken\.csv: cannot be written: .*\n", capsys.readouterr().err)


def test_target_without_a_device(road, capsys):
    assert run_app("bfs", road, "--target", "gpu") in (0, 2)
    err = capsys.readouterr().err
    assert err == "" or re.fullmatch("gpop: .*\n", err)


def test_a_process_of_its_own(road, tmp_path):
    good = start("gpop.apps.sssp", road, "--source", 0, "--output", tmp_path / "d.npy")
    assert (good.returncode, good.stderr) == (0, "")
    assert np.load(tmp_path / "d.npy")["distance"][0] == 0
    bad = start("gpop.apps.sssp", road, "--source", 5000)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert re.fullmatch(r"gpop: vertex 5000 is not in graph road; its ids: 0\.\.179\n", bad.stderr)


def test_more_threads_than_cores(road):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    threads = (os.cpu_count() or 1) + 3
    done = start("gpop.apps.bfs", road, "--threads", threads, "--verify", env=environment)
    assert done.returncode == 0, done.stderr
    assert f"{threads} threads" in done.stdout


STARTED = """
import sys
from numba.core import event
from gpop.apps import sssp
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
code = sssp.main(sys.argv[1:])
print("compiled", len(compiled.buffer))
print("loaded", *sys.modules)
sys.exit(code)
"""
"""An app that reports what its start has cost: what was compiled, and which modules were imported."""

SLOW_MODULES = {
    "cupy",
    "igraph",
    "matplotlib",
    "networkit",
    "networkx",
    "pandas",
    "polars",
    "pyarrow",
    "tqdm",
}


def test_second_run_of_an_app_compiles_nothing_and_imports_little(road, tmp_path):
    def run():
        done = subprocess.run(
            [sys.executable, "-c", STARTED, road], capture_output=True, text=True, timeout=300, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        )  # fmt: skip
        compiled, loaded = done.stdout.splitlines()[-2:]
        return int(compiled.split()[1]), set(loaded.split()[1:])

    assert run()[0] > 0  # the listener hears of what is compiled
    compiled, loaded = run()
    assert compiled == 0
    assert loaded & SLOW_MODULES == set()
    assert not any(name.startswith("gpop.gpu") for name in loaded)


@pytest.mark.slow
def test_the_kernels_of_the_app_and_of_the_function_are_the_same(road, tmp_path):
    """The app run as a script finds what a call from Python has compiled, and the other way round."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    assert start("gpop.apps.bfs", road, env=environment).returncode == 0
    compiled = sorted(tmp_path.rglob("*.nbc"))
    call = f"import gpop; gpop.bfs(gpop.load({str(road)!r}, weighted=False), 0)"
    subprocess.run([sys.executable, "-c", call], env=environment, check=True, timeout=300)
    assert sorted(tmp_path.rglob("*.nbc")) == compiled


def test_ctrl_c_is_one_line_and_exit_code_130(tmp_path):
    path = tmp_path / "long.bin"
    generate("chain", vertices=2_000_000).save(path)
    command = [sys.executable, "-m", "gpop.apps.bfs", path, "--source", "0", "--rounds", "1000", "--layouts"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("*.layout")):  # it is kept right before the first round
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "gpop: interrupted\n")


def test_output_into_a_closed_pipe(road):
    command = f"{sys.executable} -m gpop.apps.pagerank {road} --rounds 1 | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""


def test_list_of_apps(capsys):
    assert listing.main([]) == 0
    out = capsys.readouterr().out
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert [name for name in listed if name != "gpop"] == list(APPS)
    assert listing.main(["bfs"]) == 2
    assert capsys.readouterr().err.startswith("gpop: ")


@pytest.mark.parametrize("app", APPS)
def test_help(app, capsys):
    with pytest.raises(SystemExit) as leave:
        run_app(app, "--help")
    assert leave.value.code == 0
    out = capsys.readouterr().out
    for option in ("--threads", "--rounds", "--verify", "--trace", "--progress"):
        assert option in out
    assert ("--mode" in out) == (app not in WITHOUT_MESSAGES)
    assert ("--output" in out) == (app != "triangles")


@pytest.mark.parametrize("app", APPS)
def test_help_lists_what_is_accepted(app, road, tmp_path, capsys):
    """Every option that is listed can be given, and what all apps share and one refuses is not listed."""
    values = {
        "--mode": ["pc"], "--ratio": ["2"], "--interleave": [], "--partition-size": ["16"],
        "--target": ["cpu"], "--iterations": ["3"], "--layouts": [], "--output": [str(tmp_path / "x.csv")],
        "--model": ["paper"],
        "--reorder": ["degree"], "--symmetrize": [], "--threads": ["2"], "--progress": [],
    }  # fmt: skip
    with pytest.raises(SystemExit):
        run_app(app, "--help")
    listed = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    for option, value in values.items():
        code = run_app(app, road, "--rounds", 1, option, *value)
        assert code == 0 or option not in listed, (option, capsys.readouterr().err)
        if code == 0 and option not in listed:
            assert app in WITHOUT_MESSAGES
            assert option in ("--target", "--layouts")  # harmless, and said nowhere


def test_layouts_say_what_became_of_them(tmp_path, capsys):
    path = tmp_path / "road.bin"
    generate("road", width=15, height=12, seed=3).save(path)

    def told(app, *arguments):
        assert run_app(app, path, "--layouts", "--rounds", 1, *arguments) == 0
        return re.search(r"^layouts +(.*)$", capsys.readouterr().out, re.MULTILINE)[1]

    assert re.fullmatch(rf"built, and kept in {tmp_path}/road-.*-q\d+\.layout", told("bfs"))
    assert re.fullmatch(rf"mapped from {tmp_path}/road-.*-q\d+\.layout", told("bfs"))
    assert told("cc") == "none: the run needed no bins"
    assert told("cc", "--method", "labels").startswith("built, ")  # a search of roads has fewer partitions
    assert told("cc", "--method", "labels").startswith("mapped from ")

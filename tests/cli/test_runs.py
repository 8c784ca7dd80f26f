"""Good runs of the apps: what they print, write and go on from."""

from __future__ import annotations

import csv
import json
import re

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.generate import generate
from tests.cli.commands import APPS, WITHOUT_SOURCE, run_app


@pytest.mark.parametrize("app", APPS)
def test_good_run(app, road, capsys):
    assert run_app(app, road, "--threads", 2, "--rounds", 2, "--verify") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert re.search(r"time +[\d.]+ ms, the median of 2 rounds \([\d.]+, [\d.]+ ms\), [\d.,]+ M edges/s", out)
    threads = "1 threads" if app in ("bfs", "sssp", "hits") else "2 threads"  # on a small graph
    for line in ("graph       road: 180 vertices", "loaded ", "prepared ", threads, "verified "):
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


def test_layouts_say_what_became_of_them(tmp_path, capsys):
    path = tmp_path / "road.bin"
    generate("road", width=15, height=12, seed=3).save(path)

    def told(app, *arguments):
        assert run_app(app, path, "--layouts", "--rounds", 1, *arguments) == 0
        return re.search(r"^layouts +(.*)$", capsys.readouterr().out, re.MULTILINE)[1]

    assert re.fullmatch(rf"built, and kept in {tmp_path}/road-.*-q\d+\.layout", told("bfs", "--mode", "sc"))
    assert re.fullmatch(rf"mapped from {tmp_path}/road-.*-q\d+\.layout", told("bfs", "--mode", "sc"))
    assert told("bfs") == "none: the run needed no bins"
    assert told("cc") == "none: the run needed no bins"
    assert told("cc", "--method", "labels").startswith("built, ")  # a search of roads has fewer partitions
    assert told("cc", "--method", "labels").startswith("mapped from ")

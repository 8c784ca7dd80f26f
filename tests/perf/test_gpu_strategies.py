"""The implementations of the papers by name: each answers rightly; the command stores what it measures."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.model.asked import check_asked, policies
from perf import gpu_strategies, series
from perf.__main__ import main
from perf.algorithms import ALGORITHMS
from perf.answers import compare
from perf.implementations import family_module
from perf.paper import COUNTED, NAMED, PAPER, SIZES, TOLERANCE
from perf.paper_pagerank import PROGRAMS, ranks
from perf.store import Store
from tests.gpu.emulator import emulated
from tests.perf.near import NearWorker
from tests.quick import quick

FEW = [("bfs", "vertex-push-warp-8-32-blockreduce"), ("pagerank", "vertex-pull-nodiv")]


def adversaries() -> dict[str, gpop.Graph]:
    """Small graphs with what goes wrong first."""
    edges = {
        "star": ([0] * 40, range(1, 41), 41),
        "star inwards": (range(1, 41), [0] * 40, 41),
        "chain": (range(32), range(1, 33), 33),
        "ring and isolated vertices": (range(20), [*range(1, 20), 0], 70),
        "self-loops": ([0, 1, 1, 2, 2], [0, 1, 2, 2, 3], 4),
        "duplicates": ([0, 0, 0, 1, 1, 2], [1, 1, 1, 2, 2, 0], 3),
        "one vertex": ([0], [0], 1),
        "fewer than a warp": ([0, 3, 5, 5], [3, 5, 1, 6], 7),
        "32 vertices": (range(31), range(1, 32), 32),
        "all to all": (np.repeat(np.arange(9), 9), np.tile(np.arange(9), 9), 9),
        "two parts": ([*range(5), *range(6, 11)], [*range(1, 6), *range(7, 12)], 12),
        "a hub beyond HEAVY": ([0] * 300, range(1, 301), 301),
    }
    graphs = {name: gpop.Graph.from_edges(list(t), list(h), n=n) for name, (t, h, n) in edges.items()}
    sizes = {"rmat": {"scale": 6}, "grid": {"width": 9, "height": 5}, "uniform": {"scale": 5}}
    graphs |= {kind: generate(kind, **size) for kind, size in sizes.items()}
    for kind, size in sizes.items():
        graphs[f"{kind} shuffled"] = generate(kind, permute=True, seed=4, **size)
    return graphs | {"chain of 65": generate("chain", vertices=65), "small": generate("rmat", scale=3)}


def test_there_are_as_many_as_in_the_papers():
    assert {algorithm: len(named) for algorithm, named in PAPER.items()} == {"pagerank": 19, "bfs": 56}
    assert len(adversaries()) == 20
    for algorithm, named in (*PAPER.items(), *NAMED.items()):
        modes = [(flags["mode"], flags.get("program")) for flags in named.values()]
        assert len(set(modes)) == len(modes), algorithm
        for mode, _ in modes:
            check_asked("mode", mode)
    assert all(policies(flags["mode"])[0] for flags in PAPER["bfs"].values())
    assert {f"vertex-push-warp-16-64{end}" for end in COUNTED} <= set(PAPER["bfs"])
    assert {f"vertex-pull-warp-nodiv-{size}" for size in SIZES} <= set(PAPER["pagerank"])


EVERY = [(algorithm, name) for algorithm, named in PAPER.items() for name in named]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm, name", EVERY)
def test_each_is_right_on_graphs_that_go_wrong(algorithm, name):
    known = ALGORITHMS[algorithm]
    (variant,) = known.variants.values()
    with emulated():
        for kind, graph in adversaries().items():
            flags = dict(PAPER[algorithm][name])
            prepared = family_module(flags.pop("family")).prepare(algorithm, graph, variant, flags, 1)
            found = compare(prepared.answer(prepared.call()), known.right(graph, variant), TOLERANCE)
            assert found["fault"] is None, kind


@pytest.mark.parametrize("name", quick(PROGRAMS, "Dividing"))
def test_ranks_after_any_number_of_iterations(name):
    """The last iteration leaves ranks, whichever it is."""
    graph = generate("rmat", scale=7)
    for iterations in (1, 2, 5):
        found, _ = ranks(PROGRAMS[name], graph, 0.85, iterations, mode="sc")
        right = ALGORITHMS["pagerank"].right(graph, {"damping": 0.85, "iterations": iterations})
        assert compare(found, right, TOLERANCE)["fault"] is None


@pytest.mark.parametrize("app, name", [FEW[0], pytest.param(*FEW[1], marks=pytest.mark.slow)])
def test_the_command_checks_and_stores_every_level(app, name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(series, "WorkerProcess", NearWorker)
    monkeypatch.setattr(gpu_strategies, "_platform", lambda needs_none: "emulator")
    store = str(tmp_path / "gpu.db")
    words = ["gpu-strategies", "--paper", "--store", store, "--apps", app, "--only", name, "--repeats", "2"]
    with emulated():
        assert main([*words, "grid:width=9,height=5"]) == 0
    said = capsys.readouterr().out
    assert f"{app} on grid-width9-height5: 1 of 1\n  {name} " in said
    assert said.endswith("1 run stored\n")
    with Store(store) as opened:
        levels = opened.rows("SELECT stepId, samples FROM StepTimer WHERE name = 'iteration' ORDER BY stepId")
        assert opened.rows("SELECT count(*) FROM Run WHERE validated")[0][0] == 1
        told = opened.rows("SELECT version FROM Run")[0]["version"]
        assert "emulator, 1 multiprocessors, CUDA runtime 0, driver " in told
    grid = generate("grid", width=9, height=5)
    variant = next(iter(ALGORITHMS[app].variants.values()))
    iterations = ALGORITHMS[app].call(grid, variant, {}).run.iterations
    assert [tuple(row) for row in levels] == [(step, 2) for step in range(iterations)]


@pytest.mark.slow
def test_describing_needs_no_device(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(series, "WorkerProcess", NearWorker)
    store, name = str(tmp_path / "gpu.db"), "edge-list-bulk"
    words = ["gpu-strategies", "--paper", "--store", store, "--apps", "bfs", "--only", name, "--roots", "1"]
    assert main([*words, "--describe", "grid:width=9,height=5"]) == 0
    assert capsys.readouterr().out == "2 runs to do, described\n"
    with Store(store) as opened:
        assert opened.rows("SELECT count(*) FROM Variant WHERE propsStored AND result IS NOT NULL")[0][0] == 2
        assert opened.rows("SELECT count(*) FROM Run")[0][0] == 0


def test_parts_are_all_graphs_once(tmp_path, monkeypatch, capsys):
    """Two commands of which each describes its part of three graphs in one store."""
    monkeypatch.setattr(series, "WorkerProcess", NearWorker)
    words = ["gpu-strategies", "--paper", "--store", str(tmp_path / "gpu.db"), "--describe", "--apps", "bfs"]
    words += ["--only", "edge-list-bulk", *(f"chain:vertices={n}" for n in (5, 6, 7))]
    described = "SELECT name FROM Graph g WHERE id IN (SELECT graphId FROM Variant WHERE propsStored)"
    for part, runs, names in (("2/2", 1, "6"), ("1/2", 2, "567")):
        assert main([*words, "--part", part]) == 0
        assert capsys.readouterr().out == f"{runs} run{'s' * (runs != 1)} to do, described\n"
        with Store(tmp_path / "gpu.db") as opened:
            assert {row["name"] for row in opened.rows(described)} == {f"chain-vertices{n}" for n in names}


@pytest.mark.parametrize(
    "words, said",
    [
        (["--part", "3/2"], "'3/2': expected I/N, I from 1 to N"),
        (["--apps", "sssp"], "gpu-strategies 'sssp': expected some of pagerank, bfs"),
        (["--paper", "--only", "gunrock"], "gpu-strategies 'gunrock': expected some of edge-list"),
        (["--repeats", "0"], "--repeats 0: expected at least 1"),
        (["--limit", "0"], "expected --roots from 0 on and --limit above 0"),
        (["--paper", "--orders"], "--orders: expected some graphs"),
        (["--real", "nowhere"], "--real: goes with --paper, without other graphs"),
        (["--paper", "--real", "nowhere", "--describe"], "--real nowhere: expected a folder of edge lists"),
    ],
)
def test_what_cannot_be_run(words, said, capsys, tmp_path):
    assert main(["gpu-strategies", "--store", str(tmp_path / "gpu.db"), *words]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())

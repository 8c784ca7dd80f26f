"""``perf figures``: everything is measured, drawn and named in the index; a rerun measures nothing."""

from __future__ import annotations

import importlib
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from gpop.common.errors import UsageError
from perf import figures, implementations, l2_simulator, own, run_benchmarks
from perf.__main__ import main
from perf.graphs import open_graph, vertex
from perf.hardware import team_sizes
from perf.l2_workload import Workload
from perf.pictures import PICTURES, ablation, mode_times, study, table_misses, traffic_split
from perf.pictures.plan import DEFAULT, DUAL, REAL, Plan, estimate, real_graphs
from perf.store import Store
from tests.perf.near import NearWorker


def use_near_workers(patch):
    """gpop only, measured in this process."""
    own = {"gpop": implementations.FAMILIES["gpop"]}
    for module in (implementations, run_benchmarks, figures):
        patch.setattr(module, "FAMILIES", own)
    patch.setattr(run_benchmarks, "WorkerProcess", NearWorker)
    NearWorker.asked = []


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A folder that the command has filled."""
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        use_near_workers(patch)
        assert main(["figures", "--quick", "--threads", "2", "--folder", str(folder)]) == 0
    return folder


@pytest.fixture
def folder(drawn, tmp_path, monkeypatch):
    """A copy of it, to change."""
    use_near_workers(monkeypatch)
    return shutil.copytree(drawn, tmp_path / "copy")


@pytest.mark.slow
def test_every_file_is_there_and_named_in_the_index(drawn):
    from matplotlib.image import imread

    index = (drawn / "index.md").read_text()
    named = set(re.findall(r"\]\(([^)]+)\)", index))
    assert named == {
        path.name for path in drawn.iterdir() if path.suffix in (".png", ".csv", ".md", ".tex")
    } - {"index.md"}
    assert {name.rsplit(".", 1)[0] for name in named} == set(PICTURES)
    for name in named:
        if name.endswith(".png"):
            colours = np.unique(imread(drawn / name)[..., :3].reshape(-1, 3), axis=0)
            assert len(colours) > 50  # axes, text and data
        else:
            assert len((drawn / name).read_text().splitlines()) > 1
    assert "- threads: 1, 2; 2 where nothing else is said" in index and "numba" in index
    assert "- command   python -m perf figures --quick --threads 2 --folder " in index
    assert index.count("**The paper:**") == index.count("**Here:**\n\n- ") == len(PICTURES)


@pytest.mark.slow
def test_a_rerun_draws_the_same_without_measuring(folder, monkeypatch, capsys):
    def fail(*arguments):
        raise AssertionError("measured again")

    monkeypatch.setattr(traffic_split, "lines_fetched", fail)
    monkeypatch.setattr(table_misses, "misses", fail)
    before = (folder / "figure1-traffic.png").read_bytes(), (folder / "index.md").read_text()
    (folder / "figure1-traffic.png").unlink()
    assert main(["figures", "--quick", "--threads", "2", "--folder", str(folder)]) == 0
    assert NearWorker.asked == [] and "0 runs stored" in capsys.readouterr().out
    drop_date = re.compile("- (date|command) .*|, cores [0-9]+ ns apart")  # what is of this moment
    assert (folder / "figure1-traffic.png").read_bytes() == before[0]
    assert drop_date.sub("", (folder / "index.md").read_text()) == drop_date.sub("", before[1])


@pytest.mark.slow
def test_wrong_answers_are_not_drawn(folder, monkeypatch, capsys):
    """Breaks the comparison on purpose: runs of another graph size are stored as wrong and stay out."""
    monkeypatch.setattr("perf.worker.compare", lambda *_: {"hash": None, "error": None, "fault": "broken"})
    shutil.rmtree(folder / "measured")
    os.remove(folder / "perf.db")
    assert main(["figures", "--quick", "--threads", "1", "--folder", str(folder)]) == 1
    captured = capsys.readouterr()
    assert "of them WRONG" in captured.out and "WRONG: bfs" in captured.err
    assert (folder / "table3-times.csv").read_text().splitlines() == ["app,implementation,threads"]


def test_the_split_has_the_lines_that_the_kernel_itself_fetches():
    """The stream of Fig. 1 is that of the pull baseline."""
    spec = "rmat:scale=9"
    graph = open_graph(spec)
    work = Workload("pagerank", graph, vertex(graph, "max-degree"), graph.n)
    l1, l2 = traffic_split.caches_for(graph.n)
    whole = l2_simulator.misses_of(work, "baseline-pull", 2, l1, l2)[1]
    assert sum(traffic_split.lines_fetched(spec)) == pytest.approx(whole, rel=0.01)


def test_computed_sentences():
    text = mode_times._sentence("bfs", {"SC": [2.0, 1.0], "PC": [1.0, 3.0], "dual": [1.05, 1.2]})
    assert "in 1 of 2 iterations" in text and "SC takes 1.33x and PC 1.78x" in text
    base = {"runId": 1, "avgTime": 2.0, "stdDev": 0.2, "repeats": 4}
    ratio, half = ablation.relative({**base, "runId": 2, "avgTime": 1.0, "stdDev": 0.1}, base)
    assert ratio == 0.5 and half == pytest.approx(3.1824 * 0.5 * 0.05 * np.sqrt(2), rel=1e-3)


@pytest.mark.parametrize("values", [(3.1, 3.9), (1.2, 1.5), (0.8, 30), (4, 90), (1, 5000), (0.02, 0.03)])
def test_an_axis_has_ticks_that_can_be_read(values):
    """At least three, labelled as plain numbers, also where a logarithmic axis spans little."""
    figure, ((panel,),) = study.panels(1)
    panel.loglog([1, 2], values, marker="o")
    study.plain_log(panel.yaxis)
    figure.draw_without_rendering()
    low, high = panel.get_ylim()
    labels = [
        label.get_text()
        for label, at in zip(panel.get_yticklabels(), panel.get_yticks(), strict=True)
        if low <= at <= high
    ]
    assert len(labels) >= study.LEAST_TICKS
    assert all(float(label) > 0 for label in labels)
    assert len(set(labels)) == len(labels)


@pytest.mark.slow
def test_every_picture_says_what_it_is_of(folder, monkeypatch):
    """Title and graph are in the picture itself, powers are set as such."""
    texts = {}

    def save(self, figure, graphs=""):
        SAVE(self, figure, graphs)
        figure.draw_without_rendering()
        words = [figure.get_suptitle()]
        for axes in figure.axes:
            labels = [*axes.get_xticklabels(), *axes.get_yticklabels(), axes.xaxis.label]
            words += [label.get_text() for label in labels]
        for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
            words += [text.get_text() for text in legend.get_texts()] if legend else []
        texts[self.name] = words

    SAVE = study.Study.save
    monkeypatch.setattr(study.Study, "save", save)
    assert main(["figures", "--quick", "--threads", "2", "--folder", str(folder)]) == 0
    assert set(texts) == {name for name in PICTURES if not name.startswith("table")}
    for name, words in texts.items():
        assert importlib.import_module(PICTURES[name]).TITLE in words[0]
        said = " ".join(words)
        assert "rmat" in said.lower() or "all graphs" in said, name
        assert "2^" not in said.replace("$2^{", ""), name


@pytest.mark.parametrize(
    "argv",
    [["--scales", "3"], ["--scales", "9", "--real", "none"], ["--threads", "0"], ["--folder", "file/below"]],
)
def test_errors_are_one_line(tmp_path, monkeypatch, capsys, argv):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert main(["figures", *argv]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_what_does_not_fit_the_budget_is_left_and_drawn_without(folder, monkeypatch, capsys):
    """The store is gone: nothing begins, and the pictures are drawn all the same; later calls go on."""
    os.remove(folder / "perf.db")
    NearWorker.asked = []
    argv = ["figures", "--quick", "--threads", "2", "--folder", str(folder)]
    assert main([*argv, "--budget", "0"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"about \d+ minutes of measuring", out)
    assert re.search(r"0 runs stored, \d+ left for the next call", out)
    assert NearWorker.asked == []
    assert (folder / "figure3-strong-scaling.png").exists()


def test_right_answers_are_found_once_per_graph(tmp_path, monkeypatch):
    """One worker serves all numbers of threads of a graph."""
    started = []
    monkeypatch.setattr(run_benchmarks, "WorkerProcess", lambda *given: started.append(given) or 1 / 0)
    plan = Plan((8,), (1, 2), 2, True)
    with Store(tmp_path / "perf.db") as store:
        plan.register(store)
        with pytest.raises(ZeroDivisionError):
            run_benchmarks.run_missing(store, only=["gpop"], datasets=["figures scaling"])
    assert [(graph, threads) for graph, _, threads in started] == [("rmat:scale=8", 2)]


def test_the_plan_is_what_is_asked(tmp_path):
    """RMAT of every scale, the real graphs where they lie, all numbers of threads in one picture."""
    for name in REAL:
        (tmp_path / f"{name}.txt.xz").write_bytes(b"x" * 100)
    plan = Plan((20, 22), team_sizes(16), 3, False, real_graphs(tmp_path))
    graphs = plan.graphs
    assert graphs["figures"][:2] == ["rmat:scale=20,degree=16", "rmat:scale=22,degree=16"]
    real = [f"{name}.txt.xz{way}" for name, way in REAL.items()]
    assert [Path(path).name for path in graphs["figures"][2:]] == real
    assert plan.teams("figures scaling") == (1, 2, 4, 8, 16) and plan.teams("figures") == (16,)
    assert plan.teams("figures weak 4 threads") == (4,)
    assert graphs["figures weak 16 threads"] == ["rmat:scale=20,seed=1"]
    assert plan.implementations["figures scaling"] == ["gpop"] == plan.implementations["figures degrees"]
    assert plan.main == "rmat-scale22-degree16"
    (first, own), *others, (last, peers) = plan.turns  # each implementation once, the slow ones at the end
    assert (first, last) == ("figures", "figures") and {name for name, _ in others} == {*graphs} - {"figures"}
    assert {"gpop", "gpop-auto"} <= {*own} and "scipy" in peers and not {*own} & {*peers}
    gone = list(REAL)[1]
    (tmp_path / f"{gone}.txt.xz").unlink()
    with pytest.raises(UsageError, match=f"has no {gone}.txt.xz"):
        real_graphs(tmp_path)


def test_the_estimate_counts_what_is_missing(tmp_path):
    plan = Plan((8,), (1, 2), 2, True)
    with Store(tmp_path / "perf.db") as store:
        plan.register(store)
        small = estimate(store, plan)
        twice = plan._replace(repeats=20)
        assert 0 < small < 600
    with Store(tmp_path / "more.db") as store:
        twice.register(store)
        assert estimate(store, twice) > small
    with Store(tmp_path / "empty.db") as store:
        assert estimate(store, plan) == 0


def test_components_are_measured_as_the_product_finds_them():
    graph = open_graph("rmat:scale=8")
    methods = {}
    for name in (DEFAULT, DUAL + "-interleaved"):
        flags = {
            key: value for key, value in implementations.registered("cc")[name].items() if key != "family"
        }
        prepared = own.prepare("cc", graph, {}, flags, 1)
        methods[name] = prepared.run(prepared.call()).trace.summary["method"]
    assert methods == {DEFAULT: "afforest", DUAL + "-interleaved": "labels"}


def test_a_curve_has_bars_from_the_fastest_to_the_slowest():
    ((panel,),) = study.panels(1)[1]
    study.curve(panel, [1, 2], [{"medianTime": 2e-3, "minTime": 1e-3, "maxTime": 5e-3}] * 2, label="a")
    _, _, (bars,) = panel.containers[0]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[1, 5], [1, 5]]

"""Programs of one's own, ``FILE.py:CLASS``: compared, benchmarked, profiled and drawn like the apps."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gpop
from gpop import compare
from gpop.execution.given import full_name, program_named, run_program, uses_weights
from gpop.generate import generate
from perf import bench, l2, l2_simulator
from perf.__main__ import main
from perf.algorithms import BENCHED, digest, of_program
from perf.cache_simulator import Geometry
from tests.cli.commands import APPS, WITHOUT_MESSAGES
from tests.versions import ROOT

WIDEST = f"{ROOT}/apps/widest_path.py:WidestPath"
KARATE = str(ROOT / "data/karate.bin")
OTHERS = """
import numpy as np
import gpop

class Sum(gpop.Program):
    total = gpop.VertexField(np.float32, 1)
    all_active = True

    def scatterFunc(self, node):
        return self.total[node]

    def gatherFunc(self, value, node):
        self.total[node] += value
        return True
"""


@pytest.fixture
def others(tmp_path):
    path = tmp_path / "others.py"
    path.write_text(OTHERS)
    return f"{path}:Sum"


@pytest.fixture(scope="module")
def graph():
    return generate("rmat", scale=7, degree=4, seed=3, weights=(1, 20))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("widest.py", "expected FILE.py:CLASS"),
        ("none.py:Path", "there is no file none.py"),
        (f"{ROOT}/apps/widest_path.py:Widest", "expected one of WidestPath"),
        (f"{ROOT}/tests/versions.py:ROOT", "no class of gpop.Program"),
    ],
)
def test_what_names_no_program(text, message):
    with pytest.raises(gpop.UsageError, match=message):
        program_named(text)


def test_a_file_that_cannot_be_run(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import numpy\n1 / 0\n")
    with pytest.raises(gpop.UsageError, match="ZeroDivisionError: division by zero"):
        program_named(f"{path}:X")


def test_a_program_begins_as_its_class_says(graph, others):
    cls = program_named(WIDEST)
    assert program_named(WIDEST) is cls and uses_weights(cls)
    ran = run_program(cls, graph, 3, target="python")
    assert ran.answer[3] == 2**32 - 1 and ran.run.converged
    cls = program_named(others)
    assert not uses_weights(cls) and run_program(cls, graph, 0, target="python").run.iterations == 10
    assert run_program(cls, graph, 0, target="python", iterations=2).run.iterations == 2


@pytest.mark.slow
def test_compare(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(compare, "_limit", lambda target, threads: 1e9)
    path = tmp_path / "weighted.bin"
    generate("rmat", scale=6, degree=4, seed=3, weights=(1, 9)).save(path)
    given = ["--program", WIDEST, "--modes", "sc,pc", "--targets", "cpu", "--rounds", "1", "--json"]
    assert compare.main([str(path), *given]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["app"], row["mode"], row["equal"]) for row in rows] == [
        ("WidestPath", "sc", True), ("WidestPath", "pc", True),
    ]  # fmt: skip
    assert compare.main([KARATE, *given]) == 0
    assert "has no weights" in json.loads(capsys.readouterr().out)["not_compared"]["WidestPath"]


def test_every_app_with_messages_is_compared_benchmarked_and_profiled():
    assert {*compare.APPS} == {*BENCHED} == {*l2.PROGRAMS}
    assert {*compare.APPS} == {*APPS} - {*WITHOUT_MESSAGES}
    classes = {cls.__name__ for cls in l2.PROGRAMS.values()}
    assert {"BFS", "Nibble", "HeatKernel", "PageRankNibble"} <= classes


@pytest.mark.parametrize("app", ["nibble", "heat_kernel", "pagerank_nibble"])
def test_local_apps_as_workloads(graph, app):
    work = l2.workload(app, graph, "max-degree", Geometry(1 << 14, 8), 32)
    done, answer = work.run("auto", None)
    expected = compare.APPS[app].solve(graph, work.source, {})
    assert done == expected.run.iterations and np.allclose(answer, expected.probability, rtol=1e-4, atol=1e-9)
    assert work.run("auto", 2)[0] == 2


@pytest.mark.slow
def test_profile(capsys):
    given = [
        "l2",
        "--program",
        WIDEST,
        "--graph",
        KARATE,
        "--backend",
        "simulator",
        "--l1",
        "512,8",
        "--l2",
        "1K,8",
    ]
    assert main([*given, "--modes", "sc", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["app"], found["back_end"].split()[0]) == ("WidestPath", "simulator")
    (record,) = found["modes"]
    work = l2.workload("", l2.open_graph(KARATE), "max-degree", Geometry(1 << 10, 8), None, WIDEST)
    assert record["iterations"] == work.run("sc", None)[0] and record["l2_misses"] > 0
    each = l2_simulator.misses_of(work, "sc", None, Geometry(512, 8), Geometry(1 << 10, 8))
    assert record["l2_misses"] == sum(each)
    assert main([*given, "--modes", "push"]) == 2
    assert "mode baseline-push: there is no such kernel of" in capsys.readouterr().err


def test_bench_names_the_code(others, monkeypatch):
    names = []
    monkeypatch.setattr(bench, "run", lambda jobs, output, options: names.extend(jobs) or [])
    given = [
        "bench",
        KARATE,
        "--program",
        others,
        "--program",
        WIDEST,
        "--threads",
        "1",
        "--interleave",
        "on,off",
    ]
    assert main(given) == 0
    assert {job["app"] for job in names} == {"Sum", "WidestPath"}
    assert sum(job["options"].get("interleave", False) for job in names) == 1  # sums cannot be
    before = digest(others)
    with open(others.rpartition(":")[0], "a") as file:
        file.write("# edited\n")
    assert digest(others) != before
    assert all(
        f"code={digest(full_name(job['program']))}" in job["name"] or job["app"] == "Sum" for job in names
    )
    algorithm = of_program(WIDEST)
    graph = algorithm.graph(gpop.load(KARATE))
    result = algorithm.call(graph, {"source": "max-degree"}, {"target": "python"})
    assert algorithm.answer(graph, result).max() == 2**32 - 1 and graph.weights is not None


def test_figures(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    from perf.pictures import own_program

    each = {"seconds": [0.2, 0.1], "each": [0.1, 0.05], "bytes": [9, 8]}
    calls = []
    found = dict.fromkeys(own_program.MODES, each)
    monkeypatch.setattr(own_program, "measure", lambda *given: calls.append(given) or found)
    monkeypatch.setattr(own_program, "misses", lambda program: dict.fromkeys(own_program.MODES, 1.5))
    given = ["figures", "--quick", "--program", WIDEST, "--folder", str(tmp_path / "mine"), "--threads", "1"]
    assert main(given) == 0 and main(given) == 0
    assert len(calls) == 1  # the second time what was kept is drawn
    text = (tmp_path / "mine" / "index.md").read_text()
    assert "## WidestPath" in text and "| rmat-scale8-degree16 | pull | 150 | 2 |" in text
    assert len(list((tmp_path / "mine").glob("*.png"))) == 3
    assert "figures of" in capsys.readouterr().out


@pytest.mark.slow
def test_figures_are_measured_and_answers_compared(monkeypatch):
    from perf.pictures import own_program

    found = own_program.measure(WIDEST, "rmat:scale=6,degree=4", 1, 1)
    assert {*found} == {*own_program.MODES}
    assert all(len(each["seconds"]) == 1 and len(each["each"]) > 1 for each in found.values())
    monkeypatch.setattr(own_program, "differs", lambda *given: True)
    with pytest.raises(gpop.GpopError, match="mode sc gives another answer"):
        own_program.measure(WIDEST, "rmat:scale=6,degree=4", 1, 1)

"""bench: every combination once, only the loop is timed, an interrupted command continues."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pyperf = pytest.importorskip("pyperf")

import gpop  # noqa: E402
from gpop.common.errors import GraphFileError  # noqa: E402
from perf import bench  # noqa: E402
from perf.__main__ import main  # noqa: E402
from perf.graphs import vertex  # noqa: E402

ROOT = Path(gpop.__file__).resolve().parents[1]
KARATE = str(ROOT / "data" / "karate.bin")
TINY = ["--processes", "1", "--values", "1", "--warmups", "0"]


def fake(job, options):
    """A benchmark without a process."""
    facts = {"name": job["name"], "model_bytes": 1000, "largest_iteration_bytes": 500, "answer": "same"}
    return pyperf.Benchmark([pyperf.Run([0.5, 0.5], metadata=facts, collect_metadata=False)])


@pytest.fixture
def measured(monkeypatch):
    """Names of what is measured, instead of measuring."""
    names = []

    def measure(job, options):
        names.append(job["name"])
        return fake(job, options)

    monkeypatch.setattr(bench, "measure", measure)
    monkeypatch.setattr(bench, "best_bandwidth", lambda threads, nbytes: 4000.0)
    return names


@pytest.mark.slow
def test_for_real_with_the_environment(tmp_path):
    """One benchmark in processes of its own, which get the variables of this one."""
    command = [sys.executable, "-m", "perf", "bench", KARATE, "--apps", "bfs", "--threads", "1", *TINY]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_NUM_THREADS": "7"}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "bfs karate mode=auto threads=1" in done.stdout, done.stderr
    (benchmark,) = pyperf.BenchmarkSuite.load(str(tmp_path / "bench.json")).get_benchmarks()
    known = benchmark.get_metadata()
    graph = gpop.load(KARATE)
    iterations = gpop.bfs(graph, vertex(graph, "max-degree"), method="messages").run.iterations
    assert (known["vertices"], known["edges"], known["iterations"]) == (graph.n, graph.m, iterations)
    assert known["cores"] == 7 and known["loops"] == 1
    assert known["bytes_per_second"] == pytest.approx(known["model_bytes"] / benchmark.median())
    assert known["share_of_limit"] == pytest.approx(known["bytes_per_second"] / known["bandwidth"])
    assert benchmark.median() < 0.1  # a loop over 34 vertices; compiling would take seconds


def test_every_combination_once(measured, tmp_path, capsys):
    options = ["--modes", "sc,pc", "--interleave", "on,off", "--threads", "1,2", "--partition-sizes", "8,16"]
    path = tmp_path / "out.json"
    assert main(["bench", KARATE, "--apps", "bfs,cc", *options, "--output", str(path), *TINY]) == 0
    assert len(measured) == len(set(measured)) == 8 + 16  # BFS cannot be interleaved
    assert "cc karate interleave=True mode=sc partition_size=8 threads=2" in measured
    assert "0.00 GB/s    50%" in capsys.readouterr().out  # 1000 bytes in 0.5 s are 2000 of 4000
    names = [entry["metadata"]["name"] for entry in json.loads(path.read_text())["benchmarks"]]
    assert sorted(names) == sorted(measured)


def test_what_is_given_twice_is_measured_once(measured, tmp_path, capsys):
    command = ["bench", "--apps", "bfs", "--modes", "sc,sc", "--threads", "1", *TINY]
    assert main([*command, KARATE, KARATE, "--output", str(tmp_path / "o.json")]) == 0
    assert measured == ["bfs karate mode=sc threads=1"]
    other = tmp_path / "karate.bin"
    other.write_bytes(Path(KARATE).read_bytes())
    assert main([*command, KARATE, str(other), "--output", str(tmp_path / "p.json")]) == 2
    assert "expected graphs of other names" in capsys.readouterr().err and len(measured) == 1


@pytest.mark.parametrize("content", ["{}", "x", "0 1\n"])
def test_an_output_of_others_is_left_alone(content, measured, tmp_path, capsys):
    path = tmp_path / "o.json"
    path.write_text(content)
    assert main(["bench", KARATE, "--apps", "bfs", "--output", str(path), *TINY]) == 2
    assert "is no file of bench" in capsys.readouterr().err
    assert path.read_text() == content and not measured


@pytest.mark.parametrize("error, code, said", [
    (KeyboardInterrupt(), 130, "interrupted; 1 of 3"),
    (GraphFileError("o: cannot be written: No space left on device"), 2, "No space left on device; 1 of 3"),
])  # fmt: skip
def test_an_interrupted_command_continues(measured, monkeypatch, tmp_path, capsys, error, code, said):
    path = tmp_path / "out.json"
    command = ["bench", KARATE, "--apps", "bfs", "--modes", "sc,pc,auto", "--threads", "1", *TINY]
    command += ["--output", str(path)]

    def measure(job, options):
        if "mode=pc" in job["name"]:
            raise error
        return fake(job, options)

    with monkeypatch.context() as broken:
        broken.setattr(bench, "measure", measure)
        assert main(command) == code
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and said in captured.err
    assert len(pyperf.BenchmarkSuite.load(str(path)).get_benchmarks()) == 1
    assert main(command) == 0
    assert [name.split()[2] for name in measured] == ["mode=pc", "mode=auto"]
    assert main(command) == 0 and len(measured) == 2


def test_results_of_other_code_are_not_mixed(measured, monkeypatch, tmp_path, capsys):
    command = [
        "bench",
        KARATE,
        "--apps",
        "bfs",
        "--threads",
        "1",
        *TINY,
        "--output",
        str(tmp_path / "o.json"),
    ]
    assert main(command) == 0
    monkeypatch.setattr(bench, "gpop_version", lambda: "0+other")
    assert main([*command, "--modes", "sc"]) == 2
    assert "was measured with other code of gpop" in capsys.readouterr().err


def test_answers_that_differ_are_an_error(measured, monkeypatch, tmp_path, capsys):
    def measure(job, options):
        benchmark = fake(job, options)
        benchmark.update_metadata({"answer": job["options"]["mode"]})
        return benchmark

    monkeypatch.setattr(bench, "measure", measure)
    output = ["--output", str(tmp_path / "o.json")]
    assert main(["bench", KARATE, "--apps", "bfs", "--modes", "sc,pc", *TINY, *output]) == 2
    assert "gives another answer" in capsys.readouterr().err


def test_a_failure_in_a_process_is_one_line(tmp_path):
    path = tmp_path / "broken.bin"
    path.write_bytes(b"\1\0\0\0")
    command = [sys.executable, "-m", "perf", "bench", str(path), "--apps", "bfs", *TINY]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "broken.bin" in done.stderr and "0 of 1 are in bench.json" in done.stderr

"""The Graphalytics command: the specification's examples, its rules of equality, exit codes."""

from __future__ import annotations

import numpy as np
import pytest

from perf.__main__ import main
from perf.graphalytics import fault_of
from tests.apps.graphalytics import EXAMPLES

IDS = np.array([3, 5, 8])
INF = np.inf


@pytest.fixture
def folder(tmp_path):
    for name, example in EXAMPLES.items():
        example.write(tmp_path / name, name)
    return tmp_path


def run(capsys, *arguments):
    code = main(["graphalytics", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out or captured.err


def test_examples_are_right(folder, capsys):
    code, out = run(capsys, folder, "--rounds", 1, "--threads", 2, "--out", folder / "out.txt")
    assert code == 0, out
    assert "12 answers right, 0 wrong, 0 unchecked" in out
    assert "example-directed: 10 vertices, 17 edges, directed; load" in out
    assert "example-undirected: 9 vertices, 12 edges, undirected; load" in out
    assert "12 answers right" in (folder / "out.txt").read_text()


def test_evps_are_vertices_and_edges_by_the_time(folder, capsys):
    _, out = run(capsys, folder / "example-undirected", "--algorithms", "wcc", "--rounds", 3)
    row = next(line for line in out.splitlines() if line.startswith("wcc")).split()
    assert float(row[5]) == pytest.approx((9 + 12) / float(row[3]), rel=1e-3)


def test_a_wrong_answer_fails(folder, capsys):
    for algorithm, old, new, said in (
        ("wcc", "\n7 1\n", "\n7 2\n", "WRONG: 1 values are wrong: vertex 7 has 1, expected 2"),
        ("lcc", "\n8 8.333", "\n8 8.332", "WRONG: 1 values are wrong: vertex 8 has 0.83333"),
        ("cdlp", "\n10 1\n", "\n10 2\n", "WRONG: 1 values are wrong: vertex 10 has 1, expected 2"),
    ):
        path = folder / "example-directed" / f"example-directed-{algorithm.upper()}"
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))
        code, out = run(capsys, folder / "example-directed", "--algorithms", algorithm, "--rounds", 1)
        assert code == 1 and said in out and "0 answers right, 1 wrong" in out


def test_what_has_no_reference_is_unchecked(folder, capsys):
    path = folder / "example-directed" / "example-directed.properties"
    path.with_name("example-directed-WCC").unlink()
    code, out = run(capsys, path, "--algorithms", "wcc", "--rounds", 1)
    assert code == 0 and "unchecked: there is no example-directed-WCC" in out


@pytest.mark.parametrize(
    "change, arguments, said",
    [
        (("", ""), ["--algorithms", "wcc,dfs"], "algorithm 'dfs': expected some of bfs, pr"),
        (("", ""), ["--rounds", "0"], "--rounds 0: expected a number from 1 on"),
        (("bfs.source-vertex = 1", "bfs.source-vertex = 99"), ["--algorithms", "bfs"], "99"),
        (
            ("cdlp.max-iterations", "cdlp.most"),
            ["--algorithms", "cdlp"],
            "cdlp.max-iterations: expected a number",
        ),
        (("bfs, cdlp", "bfs, dfs"), [], "algorithm dfs, expected some of bfs"),
    ],
)
def test_errors_are_one_line(folder, capsys, change, arguments, said):
    path = folder / "example-directed" / "example-directed.properties"
    path.write_text(path.read_text().replace(*change))
    assert main(["graphalytics", str(path), *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_a_reference_of_another_graph(folder, capsys):
    path = folder / "example-undirected" / "example-undirected-WCC"
    path.write_text(path.read_text().replace("10 2\n", "11 2\n"))
    assert main(["graphalytics", str(path.parent), "--algorithms", "wcc", "--rounds", "1"]) == 2
    assert "9 vertices, expected the 9 of the graph, each once" in capsys.readouterr().err
    assert main(["graphalytics", str(folder / "none")]) == 2
    assert "no data set, expected NAME.properties" in capsys.readouterr().err


@pytest.mark.parametrize(
    "algorithm, expected, found, right",
    [
        ("bfs", [0, 1, 2], [0, 1, 2], True),
        ("bfs", [0, 1, 9223372036854775807], [0, 1, 9223372036854775806], False),
        ("cdlp", [3, 3, 8], [5, 5, 8], False),
        ("wcc", [3, 3, 8], [5, 5, 3], True),
        ("wcc", [3, 3, 8], [3, 3, 3], False),
        ("wcc", [3, 3, 3], [3, 3, 8], False),
        ("pr", [0.5, 0, 1], [0.50005, 0, 1.0001], True),
        ("pr", [0.5, 0, 1], [0.5, 1e-9, 1], False),
        ("lcc", [0.5, 0.5, 0.5], [0.5, 0.5, 0.50006], False),
        ("lcc", [0.5, 0.5, 0.5], [0.5, 0.5, np.nan], False),
        ("sssp", [0, INF, 2], [0, INF, 2], True),
        ("sssp", [0, INF, 2], [0, 1e300, 2], False),
        ("sssp", [0, 1, 2], [0, 1, INF], False),
    ],
)
def test_rules(algorithm, expected, found, right):
    assert (fault_of(algorithm, np.array(expected), np.array(found), IDS) is None) == right

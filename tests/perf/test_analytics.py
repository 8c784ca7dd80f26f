"""The command beside other libraries: what is the same everywhere is found by all; ratios and errors."""

from __future__ import annotations

import pytest

from gpop.generate import generate
from perf import analytics
from perf.__main__ import main


@pytest.mark.slow
def test_all_find_the_same_clustering_and_the_same_weight():
    for package in ("networkit", "igraph", "graphblas"):
        pytest.importorskip(package)
    graph = generate("rmat", scale=8, degree=6, seed=1)
    table = analytics.measure(graph, 2, 1, list(analytics.ALGORITHMS))
    found = {name: {library: each[1] for library, each in row.items()} for name, row in table.items()}
    assert set(found["clustering"]) == set(analytics.LIBRARIES)
    assert list(found["clustering"].values()) == pytest.approx([found["clustering"]["gpop"]] * 4)
    assert list(found["forest"].values()) == pytest.approx([found["forest"]["gpop"]] * 3)
    for algorithm in ("cores", "strong"):
        assert set(found[algorithm]) == {"gpop", "networkit", "igraph"}
        assert len(set(found[algorithm].values())) == 1
    assert set(found["communities"]) == {"gpop", "networkit", "igraph"}
    assert abs(found["colors"]["gpop"] - found["colors"]["igraph"]) < 10
    assert all(seconds > 0 for row in table.values() for seconds, _ in row.values())


def test_ratios_are_over_the_fastest_other(capsys):
    analytics.show({"colors": {"gpop": (0.2, 3), "a": (0.8, 3), "b": (0.5, 4)}, "forest": {"gpop": (1, 7)}})
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["colors", "gpop", "200.0", "3", "0.400"]
    assert lines[2].split() == ["colors", "a", "800.0", "3"]
    assert lines[4].split() == ["forest", "gpop", "1000.0", "7"]
    assert lines[5].startswith("colors, not the same in every library: igraph colours by")
    assert len(lines) == 6
    analytics.show({"colors": {"gpop": (0.3, 3), "a": (0.5, 3)}})
    assert capsys.readouterr().out.splitlines()[1].endswith("0.600 *")


def test_an_unknown_algorithm_is_one_line(capsys):
    assert main(["analytics", "grid", "--algorithms", "flow"]) == 2
    assert "algorithm 'flow': expected some of clustering" in capsys.readouterr().err

"""``perf networkx`` on a small graph: every row is there, and says what is left to NetworkX."""

from __future__ import annotations

import pytest

from perf.__main__ import main
from tests.networkx.registered import register


@pytest.mark.slow
def test_table(capsys, tmp_path):
    register()
    out = tmp_path / "out.txt"
    functions = "bfs_edges,number_connected_components,strongly_connected_components,clustering"
    words = [
        "networkx",
        "--edges",
        "300",
        "--vertices",
        "100",
        "--rounds",
        "1",
        "--nodes",
        "text",
        "--weights",
    ]
    assert main([*words, "--functions", functions, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert out.read_text() == printed
    directed, undirected = printed.split("(undirected")
    for table, refused, absent in (
        (directed, "clustering", "number_connected_components"),
        (undirected, None, "strongly_connected_components"),
    ):
        rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
        assert float(rows["conversion"][0]) > 0
        for name in functions.split(","):
            if name == refused:
                assert rows[name] == ["left", "to", "NetworkX"]
            elif name == absent:
                assert rows[name] == ["not", "for", "graphs", "of", "this", "kind"]
            else:
                theirs, mine, ratio = map(float, rows[name])
                assert theirs > 0 and mine > 0 and ratio > 0


def test_unknown_names(capsys):
    assert main(["networkx", "--functions", "pagerank,nothing"]) == 2
    assert "functions nothing: expected some of" in capsys.readouterr().err

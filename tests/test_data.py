"""The bundled graphs are what data/README.md says, and what data/make.py makes."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import gpop.io
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.graphs import same

DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("karate", lambda: Graph.from_networkx(nx.karate_club_graph(), weight=None)),
        ("lesmis", lambda: Graph.from_networkx(nx.les_miserables_graph())),
        ("road", lambda: generate("road", seed=1)),
    ],
)
def test_bundled_graph(name, expected):
    graph = gpop.io.load(DATA / f"{name}.bin")
    assert same(graph, expected())
    assert graph.is_symmetric()
    row = next(line for line in (DATA / "README.md").read_text().splitlines() if f"`{name}.bin`" in line)
    assert [cell.strip() for cell in row.split("|")][3:5] == [str(graph.n), str(graph.m)]


def test_bundled_graphs_are_small():
    assert sum(path.stat().st_size for path in DATA.glob("*.bin")) < 2_000_000
    assert np.all(gpop.io.load(DATA / "road.bin").weights > 0)

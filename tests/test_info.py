"""``python -m gpop.info``: figures against NetworkX and NumPy, text, JSON, plot, errors."""

from __future__ import annotations

import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from gpop.common.memory import readable
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.info import describe, main, special_edges, text
from gpop.model.constants import SHIPPED
from tests.graphs import small_graphs
from tests.test_json import valid

GRAPHS = small_graphs()


@pytest.mark.parametrize("name", GRAPHS)
def test_figures(name):
    graph = GRAPHS[name]
    told = describe(graph)
    peer = nx.MultiDiGraph()
    peer.add_nodes_from(range(graph.n))
    source = np.repeat(np.arange(graph.n), graph.out_degree)
    peer.add_edges_from(zip(source.tolist(), graph.indices.tolist(), strict=True))
    assert (told["vertices"], told["edges"]) == (graph.n, graph.m)
    assert told["self-loops"] == nx.number_of_selfloops(peer)
    assert told["duplicates"] == graph.m - nx.DiGraph(peer).number_of_edges()
    assert told["isolated"] == nx.number_of_isolates(peer)
    components = list(nx.weakly_connected_components(peer))
    assert told["components"] == len(components)
    assert told["largest component"] == max(map(len, components))
    both = nx.Graph(peer)
    largest = [c for c in components if len(c) == told["largest component"]]
    diameters = [nx.diameter(both.subgraph(c)) for c in largest]
    assert max(diameters) / 2 <= told["diameter at least"] <= max(diameters)
    assert told["symmetric"] == graph.is_symmetric()
    assert told["in-degree"]["max"] == max(degree for _, degree in peer.in_degree())
    assert told["out-degree"]["mean"] == pytest.approx(graph.m / graph.n)
    assert told["out-degree"]["std"] == pytest.approx(np.std(graph.out_degree))
    assert told["layout"]["r"] == pytest.approx(told["layout"]["messages"] / max(graph.m, 1))
    json.dumps(told)
    assert len(text(told).splitlines()) == 17
    assert told["kept"] == [each._asdict() for each in graph.kept()]
    assert "\nkept        " in text(told) and f"bins {readable(told['layout']['bytes'])}" in text(told)


def test_weights():
    told = describe(Graph.from_edges([0, 1, 2], [1, 2, 0], [2.5, 0.5, 9.0]))["weights"]
    assert told["type"] == "float64"
    assert [told[name] for name in ("min", "median", "max", "mean")] == [0.5, 2.5, 9.0, 4.0]


def test_exact_diameter_of_chains_and_grids():
    assert describe(generate("chain", vertices=70))["diameter at least"] == 69
    assert describe(generate("grid", width=9, height=5))["diameter at least"] == 12


def test_duplicates_of_lists_in_any_order():
    assert special_edges(Graph.from_csr([0, 5, 5, 5], [2, 0, 2, 1, 2])) == (1, 2)


def test_no_vertices():
    told = describe(Graph.from_edges([], [], n=0))
    assert (told["components"], told["out-degree"], told["layout"]["r"]) == (0, {}, 0.0)
    assert "none" in text(told)


def test_as_a_program(tmp_path):
    path = tmp_path / "g.bin"
    generate("rmat", scale=7, degree=4, weights=(1, 9)).save(path)
    command = [sys.executable, "-m", "gpop.info", str(path)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    assert "edges       512, directed" in shown
    assert "weights     uint32, 1 " in shown
    shown = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, timeout=300, check=True
    ).stdout
    assert json.loads(shown)["edges"] == 512


def test_plot(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    generate("rmat", scale=7, degree=4).save(tmp_path / "g.bin")
    assert main([str(tmp_path / "g.bin"), "--plot", str(tmp_path / "g.png")]) == 0
    assert (tmp_path / "g.png").read_bytes()[:4] == b"\x89PNG"


def test_plot_without_matplotlib(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    generate("star", vertices=9).save(tmp_path / "g.bin")
    assert main([str(tmp_path / "g.bin"), "--plot", str(tmp_path / "g.png")]) == 2
    told = capsys.readouterr()
    assert "g.png': a plot needs matplotlib (pip install matplotlib)" in told.err and not told.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.bin"], "gpop: missing.bin: cannot be read"),
        (["x.foo"], "gpop: x.foo: cannot be read: No such file"),
        ([__file__], f"gpop: {__file__}: unknown kind of graph file"),
        ([], "gpop: the following arguments are required: graph"),
        (["x.bin", "--plot", "x.txt"], "gpop: argument --plot: 'x.txt': expected a name ending in .png"),
    ],
)
def test_errors(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1


def test_constants_are_shown(capsys):
    from gpop import constants

    assert constants.main(["--json"]) == 0
    told = valid(capsys.readouterr().out, "constants")
    assert told["constants"] == SHIPPED.told() and "GPOP_CONSTANTS" in told["origin"]
    assert constants.main([]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in SHIPPED.told())

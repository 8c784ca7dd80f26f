"""The programs of apps/ run by themselves and as notebooks, are short, and print what is true."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import gpop

ROOT = Path(__file__).resolve().parents[1]
GALLERY = sorted((ROOT / "apps").glob("*.py"))


@functools.cache
def printed(name, *arguments):
    """What a program prints when it is run from some other directory."""
    command = [sys.executable, ROOT / "apps" / f"{name}.py", *map(str, arguments)]
    path = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_there_are_at_least_four():
    assert len(GALLERY) >= 4


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_is_short(path):
    """Head, program, run and picture: four cells; all but the picture have less than 60 lines."""
    cells = path.read_text().split("\n# %%\n")
    assert len(cells) == 4
    assert sum(len(cell.splitlines()) for cell in cells[:3]) < 60


@pytest.mark.slow
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_as_a_notebook(path, monkeypatch):
    """Cell by cell in the folder of the program, without a file, and with the arguments of a kernel."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel.json"])
    names, said = {"__name__": "__main__"}, io.StringIO()
    with contextlib.redirect_stdout(said):
        for number, cell in enumerate(path.read_text().split("\n# %%\n")):
            exec(compile(cell, f"<cell {number}>", "exec"), names)
    assert said.getvalue().splitlines() == printed(path.stem)
    assert pyplot.get_fignums()
    names["figure"].canvas.draw()
    pyplot.close("all")


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_head_says_how_it_is_run(path):
    text = path.read_text()
    title, line = re.match(r'"""\n(.+)\n(=+)\n', text).groups()
    assert len(title) == len(line)
    assert f"Run: ``python apps/{path.name}" in text


def test_widest_path():
    graph = gpop.load(ROOT / "data/road.bin").to_networkx()
    tree = nx.maximum_spanning_tree(graph.to_undirected())  # its paths are the widest
    width = {0: np.inf}
    for parent, child in nx.bfs_edges(tree, 0):
        width[child] = min(width[parent], tree[parent][child]["weight"])
    widths = np.array([value for vertex, value in width.items() if vertex])
    lines = printed("widest_path")
    assert lines[0].startswith(f"{widths.size} vertices reached")
    assert lines[1] == f"widest path {widths.max()}, narrowest {widths.min()}, median {np.median(widths):.0f}"


@pytest.mark.slow
def test_matrix_paths():
    graph = gpop.load(ROOT / "data/road.bin", weighted=True)
    found = gpop.sssp(graph, 7)
    reached = found.distance[found.reached]
    lines = printed("matrix_paths", ROOT / "data/road.bin", 7)
    assert lines[0].startswith(f"{reached.size} of {graph.n} vertices reached in ")
    assert lines[1] == f"the farthest at distance {reached.max()}, on average {reached.mean():.0f}"


@pytest.mark.slow
def test_k_hop():
    hops = nx.single_source_shortest_path_length(nx.karate_club_graph(), 16)
    expected = [sum(hop <= k for hop in hops.values()) for k in range(5)]
    lines = printed("k_hop", ROOT / "data/karate.bin", 16, 4)
    assert [int(line.split(": ")[1].split()[0]) for line in lines] == expected


@pytest.mark.slow
def test_neighbour_sum():
    graph = nx.karate_club_graph()
    total = {v: sum(graph.degree(u) for u in graph[v]) for v in graph}
    best = sorted(total, key=lambda v: -total[v])[:5]
    expected = [f"the neighbours of vertex {v} have {total[v]} edges in all" for v in best]
    assert printed("neighbour_sum") == expected


@pytest.mark.slow
def test_nearest_landmark():
    graph = gpop.load(ROOT / "data/road.bin")
    landmarks = np.linspace(0, graph.n, 5, endpoint=False).astype(int)
    distances = np.array(
        [np.where(r.reached, r.distance, np.inf) for r in (gpop.sssp(graph, v) for v in landmarks)]
    )
    nearest, distance = distances.argmin(axis=0), distances.min(axis=0)
    for i, line in enumerate(printed("nearest_landmark")):
        mine = distance[(nearest == i) & np.isfinite(distance)]
        assert line == (
            f"landmark {landmarks[i]}: nearest to {mine.size} vertices, on average {mine.mean():.0f} away"
        )


@pytest.mark.slow
def test_label_spreading():
    graph = nx.les_miserables_graph()
    names = list(graph)
    weights = nx.to_numpy_array(graph)
    leaning = np.zeros(len(names))
    leaders = [names.index("Valjean"), names.index("Enjolras")]
    for _ in range(100):
        leaning[leaders] = -1, 1
        leaning = weights @ leaning / weights.sum(axis=0)
    leaning[leaders] = -1, 1
    lines = printed("label_spreading")
    for line, camp in zip(lines, (leaning < 0, leaning > 0), strict=True):
        assert line.split(": ")[1] == ", ".join(map(str, np.flatnonzero(camp)))

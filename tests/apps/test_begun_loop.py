"""A first run: what another process is asked to compile, and when."""

from __future__ import annotations

import pytest

import gpop
from gpop.apps import hits, nibble
from gpop.cpu import loops
from gpop.cpu.active import drain_frontier, drain_touched, load_frontier
from gpop.io import save


@pytest.fixture
def told(monkeypatch):
    said = []
    load = gpop.load

    def loading(*given, **options):
        said.append("load")
        return load(*given, **options)

    monkeypatch.setattr(loops, "begin", lambda kind: said.append(kind))
    monkeypatch.setattr(loops, "ask", lambda kind, kernel, *kinds: said.append((kind, kernel)))
    monkeypatch.setattr(gpop, "load", loading)
    return said


@pytest.mark.parametrize(("app", "kind"), [(nibble, "frontier"), (hits, "all_active")])
def test_the_loop_is_begun_before_the_graph_is_read(app, kind, told, tmp_path):
    file = tmp_path / "graph.bin"
    save(gpop.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 1]), file)
    assert app.main([str(file), "--rounds", "1", "--json"]) == 0
    assert told[:2] == [kind, "load"]
    del told[:]
    assert app.main([str(file), "--rounds", "1", "--json", "--target", "python"]) == 0
    assert told == ["load"]


def test_what_is_around_the_loop_is_asked_for(told):
    graph = gpop.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 1])
    gpop.nibble(graph, 0, iterations=2)
    asked = [kernel for kind, kernel in filter(lambda said: isinstance(said, tuple), told)]
    assert asked == [load_frontier, drain_touched, drain_frontier]

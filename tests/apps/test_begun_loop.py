"""A first run: what another process is asked to compile, and when."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import gpop
from gpop.apps import around_seeds, hits, nibble, pagerank
from gpop.cpu import filling, loops
from gpop.cpu.active import drain_frontier, drain_touched, load_frontier
from gpop.io import save
from gpop.warm import apps
from tests.quick import quick

EXTRA = {"katz": ["--alpha", "0.1"]}
"""Arguments of a command that needs one."""


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


@pytest.mark.parametrize(
    ("app", "kind"), [(nibble, "frontier"), pytest.param(pagerank, "all_active", marks=pytest.mark.slow)]
)
def test_the_loop_is_begun_before_the_graph_is_read(app, kind, told, tmp_path):
    file = tmp_path / "graph.bin"
    save(gpop.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 1]), file)
    assert app.main([str(file), "--rounds", "1", "--json"]) == 0
    assert told[:2] == [kind, "load"]
    del told[:]
    assert app.main([str(file), "--rounds", "1", "--json", "--target", "python"]) == 0
    assert told == ["load"]


@pytest.mark.parametrize("name", quick(apps(), "nibble", "pagerank"))
def test_who_has_a_loop_begun_waits_for_it(name, monkeypatch, tmp_path):
    """Else the other process goes on compiling when the command is over, and so does that of the next one."""
    begun, needed, ready = set(), set(), loops.ready
    monkeypatch.setattr(loops, "begin", begun.add)
    monkeypatch.setattr(loops, "ready", lambda kind: needed.add(kind) or ready(kind))
    file = tmp_path / "graph.bin"
    save(gpop.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 1], np.ones(4, np.float32)), file)
    module = import_module(apps()[name])
    assert module.main([str(file), *EXTRA.get(name, ()), "--rounds", "1", "--json"]) == 0
    assert begun <= needed


@pytest.mark.slow
def test_hits_begins_its_loop_before_it_looks_for_in_edges(told, monkeypatch):
    monkeypatch.setattr(hits, "MOST_OF_BOTH", 0)
    looked = gpop.Graph.equals_reverse
    monkeypatch.setattr(gpop.Graph, "equals_reverse", lambda graph: told.append("look") or looked(graph))
    gpop.hits(gpop.Graph.from_edges([0, 1], [1, 2]))
    assert told[:2] == ["all_active", "look"]


def test_what_is_around_the_loop_is_asked_for(told):
    graph = gpop.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 1])
    gpop.nibble(graph, 0, iterations=2)
    asked = [kernel for kind, kernel in filter(lambda said: isinstance(said, tuple), told)]
    assert asked == [around_seeds._take, load_frontier, drain_touched, drain_frontier, filling.entry]

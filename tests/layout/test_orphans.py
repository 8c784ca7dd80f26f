"""Layouts of a graph file that has changed are deleted when the next one is written, and no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.graph.graph import Graph
from gpop.layout.file_header import HEADER, VERSION


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "web.bin"
    Graph.from_edges([0, 1, 2], [1, 2, 0]).save(path)
    return path


def change(path) -> None:
    """Another graph in the same file."""
    Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 1]).save(path)


def search(path, **options) -> None:
    gpop.bfs(gpop.load(path, layouts=True), 0, method="messages", **options)


def layouts(path) -> set[str]:
    return {found.name for found in path.parent.glob("*.layout")}


def test_layout_of_the_file_as_it_was(file):
    search(file)
    (old,) = layouts(file)
    change(file)
    search(file)
    (new,) = layouts(file)
    assert new != old


def test_what_is_in_use_stays(file, tmp_path):
    search(file)
    search(file, partition_size=64)
    (tmp_path / "sub").mkdir()
    others = [tmp_path / "web.el", tmp_path / "sub" / "web.bin"]
    for other in others:  # of the same name
        Graph.from_edges([0, 1], [2, 2]).save(other)
        gpop.bfs(gpop.load(other, layouts=tmp_path), 0, method="messages")
    in_memory = Graph.from_edges([0, 3], [3, 0], name="web")
    in_memory.facts.layout_directory = tmp_path
    gpop.bfs(in_memory, 0, method="messages")
    before = layouts(file)
    assert len(before) == 4  # the two other files hold the same graph
    change(file)
    search(file)
    left = layouts(file)
    assert len(before & left) == 2 and len(left) == 3


def test_graph_loaded_before_the_file_changed(file):
    old = gpop.load(file, layouts=True)
    change(file)
    search(file)
    new = layouts(file)
    gpop.bfs(old, 0, method="messages")
    assert new < layouts(file)
    search(file, partition_size=64)  # the next one that is written
    assert new < layouts(file) and len(layouts(file)) == 2


def test_older_version(file):
    search(file)
    (kept,) = file.parent.glob("*.layout")
    data = bytearray(kept.read_bytes())
    np.frombuffer(data, HEADER, 1)["version"] = VERSION - 1
    names = {"web-0123456789abcdef-q8.layout": data, "web-2-0123456789abcdef-q8.layout": data}
    for name, content in {**names, "web-0123456789abcdef-q4.layout": b"something else"}.items():
        (file.parent / name).write_bytes(content)
    search(file, partition_size=64)
    assert names.keys() - layouts(file) == {"web-0123456789abcdef-q8.layout"}
    assert len(layouts(file)) == 4


def test_folder_that_lets_nothing_go(file, monkeypatch):
    search(file)
    change(file)
    unlink = Path.unlink

    def refuse(path, missing_ok=False):
        if path.suffix == ".layout":
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    search(file)
    assert len(layouts(file)) == 2


def test_components_of_a_directed_graph_keep_the_layout_of_the_symmetric_copy(tmp_path):
    path = tmp_path / "chain.bin"
    Graph.from_edges([0, 1], [1, 2]).save(path)
    gpop.connected_components(gpop.load(path, layouts=True), method="labels")
    (kept,) = tmp_path.glob("*.layout")
    written = kept.stat().st_mtime_ns
    found = gpop.connected_components(gpop.load(path, layouts=True), method="labels")
    assert found.symmetrized and found.count == 1
    assert list(tmp_path.glob("*.layout")) == [kept]
    assert kept.stat().st_mtime_ns == written

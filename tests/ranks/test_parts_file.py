"""Graphs in parts on disk, without MPI: what is written, and what is refused."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from gpop import convert
from gpop.common.errors import GraphFileError, UsageError
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.io import binary_csr
from gpop.ranks.load import load_part
from gpop.ranks.part import in_edges_of
from gpop.ranks.parts_file import _checked, _read_part, write_parts


def test_parts_hold_the_graph(tmp_path):
    graph = generate("rmat", scale=8, degree=8, seed=3, weights=(1, 9))
    write_parts(graph, tmp_path / "graph.parts", 3)
    said = _checked(tmp_path / "graph.parts")
    assert (said["vertices"], said["edges"], len(said["parts"])) == (graph.n, graph.m, 3)
    for part in said["parts"]:
        with np.load(tmp_path / "graph.parts" / part["file"]) as held:
            expected = in_edges_of(graph, part["first"], part["last"])
            assert np.array_equal(held["sources"], expected.sources)
            assert np.array_equal(held["weights"], expected.weights)
            assert np.array_equal(held["degrees"], graph.out_degree[part["first"] : part["last"]])


def test_a_missing_or_wrong_part_is_refused(tmp_path):
    folder = tmp_path / "graph.parts"
    write_parts(generate("rmat", scale=8, degree=8, seed=3), folder, 2)
    path = folder / "part-1.npz"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(GraphFileError, match=r"part-1.npz: has \d+ bytes, expected \d+ bytes"):
        _checked(folder)
    path.unlink()
    with pytest.raises(GraphFileError, match="part-1.npz: is missing"):
        _checked(folder)
    (folder / "parts.json").unlink()
    with pytest.raises(GraphFileError, match="parts.json: cannot be read"):
        _checked(folder)
    os.mkfifo(folder / "parts.json")  # which had been waited for
    with pytest.raises(GraphFileError, match="parts.json: is no file, expected a list of the parts"):
        _checked(folder)


def test_one_process_reads_all_parts_and_names(tmp_path):
    graph = generate("rmat", scale=8, degree=8, seed=3, weights=(1, 9))
    graph.original_ids = np.array([f"vertex {v}" for v in range(graph.n)])
    write_parts(graph, tmp_path / "graph.parts", 3)
    found = load_part(tmp_path / "graph.parts")
    assert np.array_equal(found.indptr, graph.indptr) and np.array_equal(found.indices, graph.indices)
    assert np.array_equal(found.weights, graph.weights) and found.vertex_of("vertex 7") == 7
    write_parts(generate("chain", vertices=9), tmp_path / "graph.parts", 3)
    unnamed = load_part(tmp_path / "graph.parts")
    assert unnamed.indices.tolist() == generate("chain", vertices=9).indices.tolist()
    assert unnamed.original_ids is None and unnamed.weights is None
    with pytest.raises(GraphFileError, match="has no weights"):
        load_part(tmp_path / "graph.parts", weighted=True)


def test_damaged_parts_are_refused_in_one_line(tmp_path):
    folder = tmp_path / "graph.parts"
    write_parts(generate("rmat", scale=8, degree=8, seed=3), folder, 2)
    index, said = folder / "parts.json", _checked(folder)
    path, (_, part) = folder / "part-1.npz", said["parts"]
    data = path.read_bytes()
    for held in (bytes(len(data)), data[:700] + b"?" + data[701:]):
        path.write_bytes(held)
        with pytest.raises(
            GraphFileError, match=r"part-1.npz: is damaged, expected a part as it was written$"
        ):
            _read_part(path, part, said)
    with pytest.raises(GraphFileError, match=r"part-0.npz: expected \d+ edges into the vertices \d+ to 255"):
        _read_part(folder / "part-0.npz", part, said)
    for wrong in ({}, [], said | {"bits": 99}, said | {"vertices": 7}, said | {"parts": said["parts"][1:]}):
        index.write_text(json.dumps(wrong))
        with pytest.raises(GraphFileError, match="parts.json: is no list of the parts of a graph"):
            _checked(folder)


def test_convert_writes_parts(tmp_path, capsys):
    graph = generate("rmat", scale=8, degree=8, seed=3)
    binary_csr.write(graph, tmp_path / "graph.bin")
    arguments = [str(tmp_path / "graph.bin"), str(tmp_path / "graph.parts"), "--parts", "2"]
    assert convert.main(arguments) == 0
    assert json.loads((tmp_path / "graph.parts" / "parts.json").read_text())["edges"] == graph.m
    assert convert.main([*arguments[:1], str(tmp_path / "other.bin"), "--parts", "2"]) == 2
    assert "expected a name ending in .parts" in capsys.readouterr().err


@pytest.mark.parametrize("before", [False, True])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, before):
    graph, folder, savez = generate("rmat", scale=8, degree=8, seed=3), tmp_path / "graph.parts", np.savez
    if before:
        write_parts(graph, folder, 1)

    def fail(file, **held):
        if file.name.endswith("part-1.npz"):
            raise OSError(28, "No space left on device")
        savez(file, **held)

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(GraphFileError, match=r"/graph\.parts: cannot be written: No space left on device$"):
        write_parts(graph, folder, 2)
    assert [*tmp_path.iterdir()] == [folder] * before
    assert not before or len(_checked(folder)["parts"]) == 1


def test_what_cannot_be_written_in_parts(tmp_path):
    with pytest.raises(UsageError, match="parts 9: expected 1 to"):
        write_parts(generate("chain", vertices=4), tmp_path / "graph.parts", 9)
    negative = Graph.from_edges([0, 1], [1, 0], np.array([1.0, -1.0]))
    with pytest.raises(UsageError, match="weights that are not negative"):
        write_parts(negative, tmp_path / "graph.parts", 1)

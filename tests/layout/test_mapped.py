"""Graphs on disk: the same layouts as in memory, from any format, in little memory, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.common import replacing_folder
from gpop.common.errors import GraphFileError
from gpop.convert import main as convert
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.io import mapped as writing
from gpop.layout import mapped_build
from gpop.layout.bins import build_bins
from gpop.layout.mapped_file import _own, check
from tests.graphs import small_graphs


@pytest.fixture(scope="module")
def graph() -> Graph:
    return generate("rmat", scale=12, degree=16, weights=(1, 200))


@pytest.fixture(scope="module")
def kept(graph, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "graph.mapped"
    graph.save(folder)
    return folder


@pytest.fixture
def copy(kept, tmp_path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "graph.mapped"))


def assert_same(opened: Graph, graph: Graph) -> None:
    for one, other in ((opened, graph), (opened.reverse(), graph.reverse())):
        for name in ("indptr", "indices", "weights"):
            a, b = getattr(one, name), getattr(other, name)
            assert (a is None) == (b is None)
            assert a is None or (a.dtype == b.dtype and np.array_equal(a, b))
    bins = opened.facts.mapped.bins
    for name, expected in build_bins(graph, int(bins.bits), 2)._asdict().items():
        found = getattr(bins, name)
        assert np.array_equal(found, expected), name
        assert np.asarray(found).dtype == np.asarray(expected).dtype, name
    narrow = opened.facts.mapped.narrow
    assert graph.weights is None or np.array_equal(narrow, graph.weights.astype(bins.id_weights.dtype))


@pytest.mark.parametrize("memory", [1, 1 << 30])
def test_what_is_opened_is_what_is_built(graph, tmp_path, monkeypatch, memory):
    monkeypatch.setattr(writing, "LEAST", 0)
    monkeypatch.setattr(writing, "fixed_bytes", lambda graph: 0)
    with writing.layout_folder(tmp_path / "x.mapped", memory) as write:
        write(graph)
    check(tmp_path / "x.mapped")
    assert_same(gpop.load(tmp_path / "x.mapped"), graph)
    assert [path.name for path in tmp_path.iterdir()] == ["x.mapped"]


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(tmp_path, name):
    graph = small_graphs()[name]
    gpop.save(graph, tmp_path / "x.mapped")
    opened = gpop.load(tmp_path / "x.mapped")
    assert_same(opened, Graph(graph.indptr, graph.indices, graph.weights))
    assert opened.equals_reverse() == graph.equals_reverse()
    assert np.array_equal(opened.original_ids, graph.original_ids)


def test_lists_in_any_order_stay_so(tmp_path):
    graph = Graph.from_csr([0, 3, 3, 5], [2, 0, 1, 1, 0], np.array([5, 4, 3, 2, 1], np.uint32))
    graph.save(tmp_path / "x.bin")
    assert convert([str(tmp_path / "x.bin"), str(tmp_path / "x.mapped"), "--layout"]) == 0
    assert_same(gpop.load(tmp_path / "x.mapped"), graph)


@pytest.mark.parametrize("name", ["x.bin", "x.el", "x.parquet", "x.wel.gz"])
def test_any_format(graph, tmp_path, name, capsys):
    if name == "x.parquet":
        pytest.importorskip("pyarrow")
    sparse = Graph(graph.indptr, graph.indices, graph.weights)
    if name == "x.bin":
        sparse.save(tmp_path / name)
    else:
        sparse.original_ids = np.arange(graph.n) * 1_000_003 + 5
        with pytest.warns(UserWarning, match="which have no edges"):
            sparse.save(tmp_path / name)
    words = [str(tmp_path / name), str(tmp_path / "x.mapped"), "--layout", "--memory", "20MB", "--json"]
    assert convert(words) == 0
    told = json.loads(capsys.readouterr().out)
    expected = gpop.load(tmp_path / name)
    assert told["output"]["edges"] == expected.m
    opened = gpop.load(tmp_path / "x.mapped")
    assert_same(opened, expected)
    assert np.array_equal(opened.original_ids, expected.original_ids)


def test_a_generator_by_its_spec(tmp_path):
    spec = "uniform:scale=9,degree=4,symmetrize,weights=1-300"
    assert convert([spec, str(tmp_path / "x.mapped"), "--layout"]) == 0
    expected = generate("uniform", scale=9, degree=4, symmetrize=True, weights=(1, 300))
    assert_same(gpop.load(tmp_path / "x.mapped"), expected)


def test_weights_are_left_out_or_demanded(kept, tmp_path):
    assert gpop.load(kept, weighted=False).weights is None
    gpop.save(Graph.from_edges([0], [1]), tmp_path / "plain.mapped")
    with pytest.raises(GraphFileError, match="has no weights"):
        gpop.load(tmp_path / "plain.mapped", weighted=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x.bin", "--layout"], "expected a name ending in .mapped"),
        (["x.mapped", "--layout", "--reverse"], "--layout takes the graph as it is, without reverse"),
        (["x.mapped", "--memory", "2GB"], "--memory is for --layout"),
        (["x.mapped", "--layout", "--memory", "little"], "expected a size such as"),
        (["x.mapped", "--layout", "--memory", "1MB"], "expected at least"),
    ],
)
def test_refused_in_one_line(tmp_path, capsys, words, said):
    Graph.from_edges([0, 1], [1, 0]).save(tmp_path / "in.bin")
    assert convert([str(tmp_path / "in.bin"), str(tmp_path / words[0]), *words[1:]]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.bin"]


def truncate(folder: Path) -> str:
    with open(folder / "ids", "r+b") as file:
        file.truncate(1000)
    return "ids: truncated: 1000 bytes"


def remove(folder: Path) -> str:
    (folder / "refs").unlink()
    return "refs: is missing"


def another_version(folder: Path) -> str:
    said = json.loads((folder / "header.json").read_text())
    (folder / "header.json").write_text(json.dumps(said | {"version": 99}))
    return "format version 99, expected 1"


def another_graph(folder: Path) -> str:
    indices = np.fromfile(folder / "indices", np.uint32)
    indices[::-1].tofile(folder / "indices")
    return "indices: is not what was written for this graph"


def another_size(folder: Path) -> str:
    np.zeros(1 << 20, np.uint32).tofile(folder / "indices")
    return "indices: of another graph"


def change_header(folder: Path) -> str:
    said = json.loads((folder / "header.json").read_text())
    (folder / "header.json").write_text(json.dumps(said | {"bits": 3}))
    return "was changed after it had been written"


def half_a_header(folder: Path) -> str:
    text = (folder / "header.json").read_text()
    (folder / "header.json").write_text(text[: len(text) // 2])
    return "is no header"


def a_pipe(folder: Path) -> str:
    (folder / "header.json").unlink()
    os.mkfifo(folder / "header.json")
    return "header.json: is no file"


def a_file(folder: Path) -> str:
    shutil.rmtree(folder)
    folder.write_text("something")
    return "expected a folder"


@pytest.mark.parametrize(
    "damage",
    [
        truncate, remove, another_version, another_graph, another_size, change_header, half_a_header, a_pipe,
        a_file,
    ],
)  # fmt: skip
def test_damage_is_one_line(copy, damage):
    said = damage(copy)
    with pytest.raises(GraphFileError) as caught:
        gpop.load(copy)
    assert said in str(caught.value)
    assert str(copy) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_are_guarded_like_edges(tmp_path):
    graph, folder = Graph.from_edges([0, 1], [1, 2]), tmp_path / "graph.mapped"
    for ids in (np.array(["a", "b", "c"]), None):
        graph.original_ids = ids
        graph.save(folder)
        names = folder / "ids.npy"
        if ids is None:  # a file that came from elsewhere is not taken for names
            np.save(names, np.array(["x", "y", "z"]))
            assert gpop.load(folder).original_ids is None
            continue
        assert gpop.load(folder).original_ids.tolist() == ["a", "b", "c"]
        written = names.read_bytes()
        np.save(names, np.array(["b", "a", "c"]))
        with pytest.raises(GraphFileError, match="ids.npy: is not what was written for this graph"):
            gpop.load(folder)
        names.write_bytes(written[:-1])
        with pytest.raises(GraphFileError, match="ids.npy: truncated"):
            gpop.load(folder)
        names.unlink()
        with pytest.raises(GraphFileError, match="ids.npy: is missing"):
            gpop.load(folder)
        said = json.loads((folder / "header.json").read_text())
        del said["names"], said["own"]  # as earlier versions wrote it
        (folder / "header.json").write_text(json.dumps(said | {"own": _own(said)}))
        names.write_bytes(written)
        assert gpop.load(folder).original_ids.tolist() == ["a", "b", "c"]


def test_check_reads_every_byte(copy):
    check(copy)
    with open(copy / "ids", "r+b") as file:  # between the pages of the mark
        file.seek(5000)
        byte = file.read(1)
        file.seek(5000)
        file.write(bytes([byte[0] ^ 1]))
    gpop.load(copy)
    with pytest.raises(GraphFileError, match="damaged"):
        check(copy)


def test_opened_arrays_do_not_reach_the_file(copy):
    opened = gpop.load(copy)
    opened.indices[:] = 0
    check(copy)


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("module", "where"),
    [
        (mapped_build._Builder, "fill"),
        (mapped_build._Builder, "blocks"),
        (mapped_build, "write_header"),
        (replacing_folder, "_exchange"),
    ],
)
def test_a_build_that_is_killed_harms_nothing(copy, monkeypatch, module, where):
    other = generate("uniform", scale=8, degree=4)
    monkeypatch.setattr(module, where, die)
    child = get_context("fork").Process(target=gpop.save, args=(other, copy))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    check(copy)  # the old one is whole
    assert len(list(copy.parent.iterdir())) == 2
    monkeypatch.undo()
    gpop.save(other, copy)
    assert_same(gpop.load(copy), other)
    assert list(copy.parent.iterdir()) == [copy]


def test_a_build_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mapped_build._Builder, "turn", fail)
    with pytest.raises(GraphFileError, match="cannot be written: No space left"):
        gpop.save(generate("uniform", scale=8, degree=4), tmp_path / "x.mapped")
    assert not list(tmp_path.iterdir())


def test_nothing_else_is_replaced(tmp_path):
    (tmp_path / "x.mapped").mkdir()
    (tmp_path / "x.mapped" / "notes").write_text("mine")
    with pytest.raises(GraphFileError, match="is something else"):
        gpop.save(Graph.from_edges([0], [1]), tmp_path / "x.mapped")
    assert (tmp_path / "x.mapped" / "notes").read_text() == "mine"


def test_replaced_where_the_system_cannot_exchange(copy, monkeypatch):
    monkeypatch.setattr(replacing_folder, "_EXCHANGE", 1 << 20)  # an unknown flag is refused
    other = generate("uniform", scale=8, degree=4)
    gpop.save(other, copy)
    assert_same(gpop.load(copy), other)
    assert list(copy.parent.iterdir()) == [copy]


PEAK = """
import resource, sys
from gpop.convert import main
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
assert main(["uniform:scale=12,weights=1-255", sys.argv[1] + "/warm.mapped", "--layout"]) == 0
before = peak()
words = ["uniform:scale=17,degree=24,weights=1-255", sys.argv[1] + "/x.mapped"]
assert main([*words, "--layout", "--memory", "32MB"]) == 0
print(peak() - before)
"""


def test_memory_is_bounded(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    more = int(done.stdout.splitlines()[-1])
    assert more < 36_000_000
    opened = gpop.load(tmp_path / "x.mapped")
    assert opened.nbytes + opened.facts.mapped.nbytes > 3 * more

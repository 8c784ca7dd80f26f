"""``python -m gpop.convert``: the steps, their order, and how it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import gpop
from gpop.convert import main
from gpop.direct.components import largest_component
from gpop.generate import generate
from gpop.graph import transform
from gpop.graph.graph import Graph
from tests.graphs import same


@pytest.fixture
def graph() -> Graph:
    return generate("rmat", scale=7, degree=4, weights=(1, 50))


@pytest.fixture
def given(graph, tmp_path) -> str:
    graph.save(tmp_path / "in.bin")
    return str(tmp_path / "in.bin")


def converted(given: str, *options: str) -> Graph:
    out = given.replace("in.bin", "out.bin")
    assert main([given, out, *options]) == 0
    return gpop.load(out)


def test_as_a_program(given, graph):
    out = given.replace("in.bin", "out.wel.gz")
    command = [sys.executable, "-m", "gpop.convert", given, out]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert same(gpop.load(out), graph)
    lines = result.stdout.splitlines()
    assert lines[0].endswith("128 vertices, 512 edges, uint32 weights")
    assert lines[1].startswith(out)
    assert " written, " in lines[1]
    assert result.stderr == ""


def test_single_steps(given, graph):
    assert same(converted(given, "--reverse"), graph.reverse())
    assert same(converted(given, "--symmetrize"), graph.symmetrize())
    assert same(converted(given, "--remove-self-loops"), transform.remove_self_loops(graph))
    assert same(converted(given, "--largest-component"), largest_component(graph))
    assert same(converted(given, "--weights", "none"), Graph(graph.indptr, graph.indices))
    assert (converted(given, "--weights", "7").weights == 7).all()


@pytest.mark.parametrize("policy", ["first", "min", "max", "sum"])
def test_duplicates(given, graph, policy):
    expected = transform.remove_duplicates(graph, policy)
    result = converted(given, "--remove-duplicates", policy)
    assert np.array_equal(result.indices, expected.indices)
    assert np.array_equal(result.weights, expected.weights)


@pytest.mark.parametrize("order", transform.ORDERS)
def test_relabel(given, graph, order, tmp_path, capsys):
    ids = tmp_path / "ids.npy"
    result = converted(given, "--relabel", order, "--seed", "5", "--ids", str(ids))
    expected = transform.relabel(graph, order, seed=5)
    assert same(result, expected)
    assert np.array_equal(np.load(ids), expected.original_ids)
    told = capsys.readouterr().out
    assert f"relabel by {order}" in told
    assert re.search(r"^memory +up to [1-9][\d.]* [KM]?B more, ", told, re.MULTILINE)


def test_note_about_lost_ids(given, capsys):
    converted(given, "--relabel", "degree")
    assert "--ids FILE.npy writes their original ids" in capsys.readouterr().out


def test_random_weights(given, graph):
    plain = Graph(graph.indptr, graph.indices)
    drawn = converted(given, "--weights", "random:1:255:9")
    assert same(drawn, transform.random_weights(plain, 1, 255, seed=9))
    assert same(converted(given, "--weights", "random:1:255", "--seed", "9"), drawn)
    assert same(converted(given, "--weights", "random:1:255"), transform.random_weights(plain, 1, 255, 1))


def test_everything_in_the_documented_order(given, graph):
    step = Graph(graph.indptr, graph.indices).reverse()
    step = transform.remove_self_loops(step)
    step = transform.remove_duplicates(step, "max").symmetrize()
    step = transform.random_weights(largest_component(step), 1, 9, seed=2)
    step = transform.relabel(step, "random", seed=4)
    options = ["--relabel", "random", "--weights", "random:1:9:2", "--largest-component", "--symmetrize"]
    options += ["--remove-duplicates", "max", "--remove-self-loops", "--reverse", "--seed", "4"]
    assert same(converted(given, *options), step)


def test_a_folder_that_is_not_there_is_found_out_before_the_work(given, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gpop, "load", None)
    assert main([given, str(tmp_path / "none/x.bin")]) == 2
    assert "none/x.bin: cannot be written: No such file" in capsys.readouterr().err


def test_in_place(given, graph):
    assert main([given, given, "--reverse"]) == 0
    assert same(gpop.load(given), graph.reverse())


def test_names_as_ids(tmp_path):
    (tmp_path / "in.el").write_text("70 5\n5 9000000000\n")
    arguments = [str(tmp_path / "in.el"), str(tmp_path / "out.bin"), "--ids", str(tmp_path / "ids.npy")]
    assert main(arguments) == 0
    assert sorted(np.load(tmp_path / "ids.npy").tolist()) == [5, 70, 9000000000]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.bin", "y.bin"], "gpop: x.bin: cannot be read"),
        (["in.bin", "copy.foo"], "gpop: copy.foo: unknown kind of graph file"),
        (["in.bin", "none/out.bin"], "gpop: none/out.bin: cannot be written"),
        (["in.bin"], "gpop: the following arguments are required: output"),
        (["in.bin", "o.bin", "--weights", "some"], "gpop: argument --weights: 'some': expected none, random"),
        (["in.bin", "o.bin", "--weights", "random:1"], "gpop: argument --weights: 'random:1': expected"),
        (["in.bin", "o.bin", "--weights", "random:9:1"], "gpop: weights 9:1 are not possible"),
        (["in.bin", "o.bin", "--weights", "random:1:2:-1"], "gpop: seed -1 is not possible"),
        (["in.bin", "o.bin", "--weights=-1"], "gpop: argument --weights: '-1': expected"),
        (["in.bin", "o.bin", "--relabel", "best"], "gpop: argument --relabel: invalid choice"),
        (["in.bin", "o.bin", "--remove-duplicates", "keep"], "gpop: argument --remove-duplicates: invalid"),
        (["in.bin", "o.bin", "--seed", "x"], "gpop: argument --seed: 'x': expected a whole number"),
        (["in.bin", "o.bin", "--ids", "ids.txt"], "gpop: argument --ids: 'ids.txt': expected a name ending"),
        (["in.bin", "o.bin", "--ids", "no/i.npy"], "gpop: argument --ids: 'no/i.npy': there is no directory"),
    ],
)
def test_errors(given, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1
    assert os.listdir(tmp_path) == ["in.bin"]


def test_memory_is_predicted_before_the_first_step(tmp_path, monkeypatch, capsys):
    generate("rmat", scale=14, degree=16).save(tmp_path / "in.bin")
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 4_000_000)
    monkeypatch.setattr(Graph, "reverse", None)
    assert main([str(tmp_path / "in.bin"), str(tmp_path / "out.bin"), "--reverse", "--symmetrize"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("gpop: converting ")
    assert "needs 6.4 MB, but only 4.0 MB is available" in error
    assert os.listdir(tmp_path) == ["in.bin"]


def test_interrupted(given, monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(gpop, "load", interrupt)
    assert main([given, "out.bin"]) == 130
    assert capsys.readouterr().err == "gpop: interrupted\n"

"""``python -m gpop.generate``: what it writes and prints, and how it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import kstest, norm

import gpop.io
from gpop.common.errors import UsageError
from gpop.generate import GENERATORS, generate
from gpop.generate.__main__ import main
from gpop.generate.spec import generated
from tests.graphs import same


def test_as_a_program(tmp_path):
    path = tmp_path / "out.bin"
    command = [sys.executable, "-m", "gpop.generate", "rmat", "--scale", "7", "--degree", "4", "--seed", "9"]
    result = subprocess.run([*command, path], capture_output=True, text=True, timeout=120, check=True)
    assert same(gpop.io.load(path), generate("rmat", scale=7, degree=4, seed=9))
    assert result.stdout.startswith(f"rmat-7-4: 128 vertices, 512 edges, seed 9; {path} written in ")
    assert result.stderr == ""  # no progress bar into a pipe


def test_all_options(tmp_path, capsys):
    path = tmp_path / "out.wel.gz"
    sizes = ["--width", "9", "--height", "8"]
    assert main(["grid", *sizes, "--symmetrize", "--permute", "--weights", "1:9", str(path)]) == 0
    expected = generate("grid", width=9, height=8, symmetrize=True, permute=True, weights=(1, 9))
    assert same(gpop.io.load(path), expected)
    assert "72 vertices, 254 edges, weighted, seed 1" in capsys.readouterr().out


def test_options_that_are_not_integers(tmp_path):
    path = str(tmp_path / "out.bin")
    assert main(["rmat", "--scale", "6", "--parameters", "0.4,0.3,0.2", path]) == 0
    assert same(gpop.io.load(path), generate("rmat", scale=6, parameters=(0.4, 0.3, 0.2)))
    assert main(["rmat", "--scale", "6", path]) == 0
    assert same(gpop.io.load(path), generate("rmat", scale=6))
    assert main(["small_world", "--vertices", "90", "--probability", "0.5", path]) == 0
    assert same(gpop.io.load(path), generate("small_world", vertices=90, probability=0.5))


def test_what_a_generator_remarks(tmp_path, capsys):
    path = str(tmp_path / "out.bin")
    chosen = ["evolve", "--vertices", "60", "--target", "normal:9:3", "--generations", "3"]
    assert main([*chosen, "--seed", "2", path]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("evolve-60-normal:9:3-union-balanced-3: 60 vertices, ")
    found = re.fullmatch(
        r"degrees are 0\.(\d+) from normal:9:3 \(within p = 0\.\d\d of the Kolmogorov-Smirnov test\); "
        r"100% of the vertices are weakly connected",
        second,
    )
    graph = gpop.io.load(path)
    assert same(graph, generate("evolve", vertices=60, target="normal:9:3", generations=3, seed=2))
    degrees = graph.out_degree + np.bincount(graph.indices, minlength=60)
    assert kstest(degrees, norm(9, 3).cdf).statistic == pytest.approx(int(found[1]) / 1000, abs=6e-4)
    assert main([*chosen, "--symmetrize", path]) == 0  # which has other degrees
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rmat", "--scale", "40", "x.bin"], "gpop: scale 40 is not possible, expected 0..31"),
        (["rmat", "--scale", "4", "x.foo"], "gpop: x.foo: unknown kind of graph file"),
        (["rmat", "--scale", "4", "none/x.bin"], "gpop: none/x.bin: cannot be written"),
        (["chain", "--weights=-1:9", "x.bin"], "gpop: x.bin: weight -1"),
    ],
)
def test_errors(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1
    assert not os.listdir(tmp_path)


def test_a_folder_that_is_not_there_is_found_out_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(f"{main.__module__}.generate", None)
    assert main(["rmat", "--scale", "4", str(tmp_path / "none/x.bin")]) == 2
    assert "none/x.bin: cannot be written: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["rmat", "--parameters", "a,b", "x.bin"],
        [],
        ["tree"],
        ["grid"],
        ["grid", "--scale", "3", "x.bin"],
        ["star", "--weights", "x", "x.bin"],
    ],
)
def test_usage(arguments, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("gpop: ")
    assert "--help)" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "unknown"),
    [(["--a", "0.9", "x.bin"], "--a"), (["x.bin", "--a=1", "--b"], "--a=1 --b"), (["x.bin", "y"], "y")],
)
def test_unknown_words_are_those_of_the_kind(words, unknown, capsys):
    assert main(["rmat", *words]) == 2
    error = capsys.readouterr().err
    assert error == f"gpop: unrecognized arguments: {unknown} (see python -m gpop.generate rmat --help)\n"


@pytest.mark.parametrize("word", ["kind=3", "progress=1", "scale=x", "weights=5"])
def test_words_that_are_no_size_of_a_kind(word):
    with pytest.raises(UsageError, match=f"graph rmat:{word}: '{word}': expected NAME=NUMBER"):
        generated(f"rmat:{word}")


def test_help_lists_every_kind(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    kinds = lines[lines.index("kinds:") :]
    for kind in GENERATORS:
        at = next(i for i, line in enumerate(kinds) if line.split()[:1] == [kind])
        assert len(f"{kinds[at]} {kinds[at + 1]}".split()) > 4  # and what it is

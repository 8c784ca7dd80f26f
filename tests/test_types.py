"""Type checkers know every keyword: its name, its choices, and what a call returns."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import get_args

import pytest

import gpop
from gpop.common.spelling import options_of
from gpop.execution import asked, options
from gpop.graph.transform import ORDERS
from gpop.model.asked import ASKED
from gpop.model.models import MODEL_NAMES
from tests.versions import ROOT

WRONG = {  # line -> what mypy says of it
    'gpop.bfs(graph, 0, mode="psc")': 'Argument "mode" to "bfs" has incompatible type',
    'gpop.bfs(graph, 0, reoder="degree")': 'did you mean "reorder"',
    "gpop.pagerank(graph, thread=2)": 'did you mean "threads"',
    'gpop.triangle_count(graph, mode="sc")': 'Unexpected keyword argument "mode"',
    'gpop.pagerank(graph, reorder="degre")': 'Argument "reorder" to "pagerank" has incompatible type',
    "gpop.run(None)": 'Argument 1 to "run" has incompatible type',
    "gpop.connected_components(graph).rank": '"ComponentsResult" has no attribute "rank"',
}
RIGHT = [
    'gpop.bfs(graph, "anna", mode="pc", reorder="degree", iterations=3).level.sum()',
    "gpop.sssp(graph, 0, interleave=True, threads=None).path(3)",
    'gpop.nibble(graph, ["a", "b"], reorder="rcm", target="gpu").to_pandas()',
    "gpop.heat_kernel(graph, 3, callback=lambda record: record['frontier'] > 3)",
]


def test_choices_are_those_of_the_registries():
    assert set(get_args(options.Mode)) == {*ASKED}
    assert set(get_args(options.Target)) == {*asked.TARGETS}
    assert set(get_args(options.Model)) == {*MODEL_NAMES}
    assert set(get_args(options.Order)) == {"none", *ORDERS}


def test_keywords_are_those_of_run():
    typed = options.LimitedOptions.__annotations__.keys()
    inherited = options.RunOptions.__annotations__.keys() | options.ShownOptions.__annotations__.keys()
    assert (typed | inherited) - {"reorder"} == {*options_of(gpop.run)} - {"interleave"}


@pytest.mark.slow
def test_mypy_catches_a_wrong_option_and_no_right_one(tmp_path):
    pytest.importorskip("mypy")
    lines = ["import gpop", 'graph = gpop.load("road.bin")', *WRONG, *RIGHT]
    (tmp_path / "client.py").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--no-color-output", "client.py"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    said = {
        int(line): text for line, text in re.findall(r"^client\.py:(\d+): error: (.*)$", done.stdout, re.M)
    }
    assert said.keys() == {*range(3, 3 + len(WRONG))}, done.stdout + done.stderr
    for i, message in enumerate(WRONG.values()):
        assert message in said[3 + i]

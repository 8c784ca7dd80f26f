"""What is shown of work that takes a while: compiling once, steps, iterations; and what the logger gets."""

from __future__ import annotations

import logging
import re
import threading
from contextlib import closing
from itertools import groupby

import numba
import pytest
from tqdm import TMonitor

import gpop
from gpop.common import progress
from gpop.common.progress import activity, telling
from tests.apps.test_options import GRAPH


def texts(err: str) -> list[str]:
    """What was drawn one over the other, without times, numbers and what erases a line."""
    drawn = (
        re.split(r" \d\d:\d\d|:? +\d", line.strip("\x1b[A "))[0].strip() for line in re.split("[\r\n]", err)
    )
    return [text for text, _ in groupby(filter(None, drawn))]


@pytest.fixture
def kernel():
    @numba.njit
    def kernel(x):
        return x + 1

    return kernel


def test_compiling_is_told_once(kernel, capsys):
    with telling("Walk", shown=True):
        assert kernel(1) == 2
    assert texts(capsys.readouterr().err) == ["compiling Walk (once)"]
    with telling("Walk", shown=True):
        assert kernel(1) == 2
    assert capsys.readouterr().err == ""


def test_the_innermost_step_is_shown(kernel, capsys):
    with telling("bfs", shown=True):
        with activity("building bins"):
            pass
        with telling("BFS", shown=False), activity("loading"):  # the outer one decides
            kernel(1.0)
        with activity("writing"):
            pass
    assert texts(capsys.readouterr().err) == [
        "building bins", "loading", "compiling BFS (once)", "loading", "writing",
    ]  # fmt: skip


def test_nothing_is_shown_unasked_and_threads_end(kernel, capsys):
    before = set(threading.enumerate())
    with telling("BFS", shown=False), activity("building bins"):
        kernel(1)
    assert capsys.readouterr().err == ""
    with pytest.raises(KeyError), telling("BFS", shown=True), activity("building bins"):
        (shows,) = (new for new in set(threading.enumerate()) - before if not isinstance(new, TMonitor))
        raise KeyError
    shows.join(timeout=10)
    assert not shows.is_alive()
    assert progress._telling.get() is None


def test_the_logger_gets_steps_and_seconds(kernel, caplog, capsys):
    with caplog.at_level(logging.INFO, "gpop"), telling("BFS", shown=False), activity("building bins"):
        kernel(2)
    first, second = (record.getMessage() for record in caplog.records)
    assert re.fullmatch(r"compiled kernel of BFS in [\d.]+ s", first)
    assert re.fullmatch(r"building bins took [\d.e-]+ s", second)
    assert {record.name for record in caplog.records} == {"gpop"} and capsys.readouterr().err == ""


def test_a_run_tells_its_steps_then_its_iterations(capsys):
    graph = gpop.Graph(GRAPH.indptr, GRAPH.indices, GRAPH.weights)
    gpop.bfs(graph, 0, method="messages", reorder="degree", progress=True)
    said = texts(capsys.readouterr().err)
    steps = [text for text, _ in groupby(text for text in said if not text.startswith("compiling"))]
    assert steps[:2] == ["reordering by degree", "building bins"] and steps[-1].startswith("BFS")
    assert "building bins" not in said[said.index(steps[-1]) :]
    gpop.bfs(graph, 0, method="messages", progress=True)
    assert not any("compiling" in text for text in texts(capsys.readouterr().err)[-1:])


def test_the_bar_of_iterations_says_how_far_they_are(capsys):
    with closing(progress.IterationBar(10, "BFS")) as bar:
        bar.show(5, 3)
        assert bar.bar.n == 5
    assert "BFS" in capsys.readouterr().err

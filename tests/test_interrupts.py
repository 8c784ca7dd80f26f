"""An interrupt at any step of Python code: the call ends with it, the next one works, the process ends.

Signals reach the main thread when a Python function begins and when a function in C has returned. Those are
the moments at which ``sys.setprofile`` calls a function, and what it raises comes out there: so every
such moment is tried in turn, without signals and clocks. Moments in other libraries are not gpop's,
but those in Python's own threading, which gpop calls, are. Where gpop holds interrupts back there are none.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.common import interrupts, parallel
from gpop.common.parallel import beside, for_each, together
from gpop.graph.exclusive import exclusive
from tests.quick import slow

GPOP = str(Path(gpop.__file__).parent)
PYTHON = str(Path(threading.__file__).parent)
THREADS = 3


def where_interrupts_fall(frame) -> bool:
    """In gpop, or in the modules of Python's library that it is built on."""
    name = frame.f_code.co_filename
    own = name.startswith(GPOP) or name == __file__
    return own or (name.startswith(PYTHON) and "site-packages" not in name and "importlib" not in name)


def interrupted(call, moment: int) -> bool:
    """Whether the call met its moment; it must end with the interrupt then, or as if there had been none."""
    left = moment

    def profile(frame, event, argument):
        nonlocal left
        if event in ("call", "c_return") and not interrupts.are_held_back() and where_interrupts_fall(frame):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    try:
        sys.setprofile(profile)
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return left <= 0


def every_moment(call, check, most: int = 4000, step: int = 1) -> int:
    """Interrupt the call at each of its moments, one after another; returns how many there are."""
    for moment in range(1, most, step):
        if not interrupted(call, moment):
            return moment
        check()
    raise AssertionError(f"not over after {most} moments")


def thread_count() -> int:
    """Threads of this process, by what the system says (0 where it does not)."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.exists() else 0


@pytest.fixture
def threads_return(monkeypatch):
    """Every thread that is started for a test waits for work in the end; how many there are depends on how
    fast they come back, since who finds none waiting starts another."""
    monkeypatch.setattr(parallel, "_idle", [])
    before = thread_count()
    yield
    for _ in range(20_000):
        if len(parallel._idle) >= thread_count() - before:
            break
        time.sleep(0.001)
    assert len(parallel._idle) >= thread_count() - before


def test_together_leaves_nobody_at_work(threads_return):
    """When it has returned or raised, no part is running and no thread is lost."""
    running, lock = [0], threading.Lock()

    def task(number):
        if number:  # the caller's own part ends wherever it is
            with lock:
                running[0] += 1
            for _ in range(20):
                pass
            with lock:
                running[0] -= 1

    def check():
        assert running == [0]
        seen = set()
        together(seen.add, THREADS)
        assert seen == set(range(THREADS))

    assert every_moment(lambda: together(task, THREADS), check) > 10


def test_for_each_does_everything_the_next_time():
    done = np.zeros(40, np.int64)

    def check():
        done[:] = 0
        for_each(done.size, task, THREADS)
        assert (done == 1).all()

    def task(i):
        done[i] += 1

    assert every_moment(lambda: for_each(done.size, task, THREADS), check) > 40


def test_beside_loses_no_thread(threads_return):
    assert every_moment(lambda: beside(int, 0), lambda: None) > 1


def test_a_graph_is_free_again():
    graph = gpop.Graph.from_edges([0], [1])

    def hold():
        with exclusive(graph):
            threading.get_ident()

    def check():
        with exclusive(graph), pytest.raises(gpop.UsageError, match="in the middle of a run"):
            exclusive(graph)
        other = threading.Thread(target=hold, daemon=True)
        other.start()
        other.join(20)
        assert not other.is_alive()

    assert every_moment(hold, check) > 3


def ladder(length: int = 3000) -> gpop.Graph:
    """Two rows of vertices, with rungs: heavy enough for several threads when all of it is active."""
    v = np.arange(length - 2)
    return gpop.Graph.from_edges(np.concatenate([v, v, v + 1]), np.concatenate([v + 1, v + 2, v]))


@pytest.fixture(scope="module")
def graph():
    return ladder()


CALLS = {
    "bfs": (lambda graph: gpop.bfs(graph, 0, threads=THREADS, iterations=40).level, 1),
    "pagerank": (lambda graph: gpop.pagerank(graph, iterations=3, threads=THREADS).rank, 7),
    "labels": (lambda graph: gpop.connected_components(graph, method="labels", threads=THREADS).label, 11),
    "afforest": (lambda graph: gpop.connected_components(graph, method="afforest", threads=THREADS).label, 1),
    "nibble": (lambda graph: gpop.nibble(graph, [5], iterations=4, threads=THREADS).probability, 11),
    "triangles": (lambda graph: gpop.triangle_count(graph, threads=THREADS).count, 1),
    "betweenness": (lambda graph: gpop.betweenness(graph, [0], threads=THREADS, normalized=False).score, 2),
    "closeness": (lambda graph: gpop.closeness(graph, [0, 9], threads=THREADS).score, 2),
    "clustering": (lambda graph: gpop.clustering(graph, threads=THREADS).links, 3),
    "label propagation": (lambda graph: gpop.label_propagation(graph, 3, threads=THREADS).label, 7),
    "coloring": (lambda graph: gpop.coloring(graph, threads=THREADS).color, 2),
    "spanning forest": (lambda graph: gpop.spanning_forest(graph, threads=THREADS).parent, 11),
    "layout": (lambda graph: gpop.bfs(gpop.Graph(graph.indptr, graph.indices), 0, threads=THREADS).level, 5),
}


@pytest.mark.parametrize("name", slow(CALLS, "layout", "closeness", "coloring", "clustering"))
def test_the_next_call_gives_the_same_answer(graph, name, monkeypatch):
    """Workers are called although there are few edges, so that all of the machinery takes part."""
    monkeypatch.setattr("gpop.cpu.preparation.SERIAL_EDGES", 0)
    call, step = CALLS[name]
    expected = call(graph)

    def check():
        assert np.array_equal(call(graph), expected)

    assert every_moment(lambda: call(graph), check, step=step) > 30  # the shortest calls have some 50


def test_a_process_that_was_interrupted_everywhere_ends():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from tests.test_interrupts import *;"
        "from gpop.cpu import engine, preparation; preparation.SERIAL_EDGES = 0; engine.CALLED_LATER = False;"
        "graph = ladder(300); call = lambda: gpop.bfs(graph, 0, threads=THREADS, iterations=5);"
        "call(); every_moment(call, lambda: None);"
        "every_moment(lambda: for_each(9, int, THREADS), lambda: None);"
        "print('over', flush=True)"
    )
    root = str(Path(__file__).resolve().parents[1])
    done = subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")

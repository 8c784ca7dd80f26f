"""Blocks of work: all are done, the first error comes out, the number of threads is respected."""

from __future__ import annotations

import threading
import weakref
from queue import Queue
from time import sleep

import pytest

from gpop.common import parallel
from gpop.common.errors import NotEnoughMemory
from gpop.common.parallel import _idle, as_many_as_pay, beside, for_each, ranges, worker_count


@pytest.mark.parametrize("threads", ["1", "4"])
def test_every_block_is_done_once(monkeypatch, threads):
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    assert worker_count() == int(threads)
    done = []
    names = set()

    def task(i):
        done.append(i)
        names.add(threading.current_thread().name)

    for_each(50, task)
    assert sorted(done) == list(range(50))
    assert len(names) <= int(threads)


@pytest.mark.parametrize("threads", ["1", "4"])
def test_errors_come_out(monkeypatch, threads):
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)

    def task(i):
        if i >= 3:
            raise ValueError(i)

    with pytest.raises(ValueError, match="^3$"):
        for_each(10, task)


@pytest.mark.parametrize("setting", ["", "0", "many"])
def test_default_is_the_machine(monkeypatch, setting):
    monkeypatch.setenv("NUMBA_NUM_THREADS", setting)
    assert worker_count() >= 1


def test_ranges():
    assert ranges(0, 3) == []
    assert ranges(6, 3) == [(0, 3), (3, 6)]
    assert ranges(7, 3)[-1] == (6, 7)


def test_calls_beside_their_caller_run_at_once():
    """Each has a thread of its own as long as the others last, and the threads stay for later calls."""
    met, names = threading.Barrier(4, timeout=20), Queue()

    def task(i):
        met.wait()
        names.put((i, threading.current_thread().ident))

    rounds = []
    for _ in range(3):
        for i in range(3):
            beside(task, i)
        met.wait()
        found = dict(names.get(timeout=20) for _ in range(3))
        assert sorted(found) == [0, 1, 2]
        assert len(set(found.values())) == 3
        assert threading.get_ident() not in found.values()
        rounds.append(set(found.values()))
        for _ in range(1000):
            if len(_idle) >= 3:  # they have said it, but may not wait again
                break
            sleep(0.001)
    assert rounds[0] == rounds[1] == rounds[2]


@pytest.mark.parametrize("new", [True, False])
def test_a_call_that_is_over_holds_nothing(new, monkeypatch):
    """Nor does the call that a thread was started for."""

    class Array:
        pass

    if new:
        monkeypatch.setattr(parallel, "_idle", [])
    held, done = Array(), Queue()
    left = weakref.ref(held)
    beside(lambda i, held=held: done.put(i), 5)
    del held
    assert done.get(timeout=20) == 5
    for _ in range(1000):
        if left() is None:
            break
        sleep(0.001)
    assert left() is None


@pytest.mark.parametrize(("work", "threads", "started"), [
    (100_000, 16, 4), (100_000, 2, 2), (1 << 19, 16, 8), (1 << 24, 16, 16), (0, 1, 1),
])  # fmt: skip
def test_threads_that_are_started_for_so_much_work(work, threads, started):
    assert as_many_as_pay(work, threads) == started


def test_no_other_thread_can_be_started(monkeypatch):
    """As where memory is limited: an error of the library, in one line of a command."""

    def none(*given):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(parallel, "start_new_thread", none)
    monkeypatch.setattr(parallel, "_idle", [])
    with pytest.raises(NotEnoughMemory, match="the system starts no other thread"):
        parallel.together(lambda part: None, 2)

"""Blocks of work: all are done, the first error comes out, the number of threads is respected."""

from __future__ import annotations

import threading

import pytest

from gpop.parallel import blocks, for_each, worker_count


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


def test_blocks():
    assert blocks(0, 3) == []
    assert blocks(6, 3) == [(0, 3), (3, 6)]
    assert blocks(7, 3)[-1] == (6, 7)

"""Kernels that another process compiles: begun where that is of use, waited for, and never needed."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from gpop.common import ahead

MODULE = "compiled_elsewhere"


@pytest.fixture
def begin(monkeypatch, tmp_path):
    """Begin a module of this text; nothing is kept of its kernel, and there are two cores."""
    monkeypatch.setattr(ahead, "_begun", {})
    monkeypatch.setattr(ahead, "worker_count", lambda: 2)
    monkeypatch.syspath_prepend(tmp_path)

    def begin(text="", kernel="new"):
        (tmp_path / f"{MODULE}.py").write_text(f"def entry():\n    {text or 'pass'}\n")
        ahead.begin(MODULE, lambda: kernel == "kept")
        return ahead._begun[MODULE]

    return begin


def test_the_other_process_is_done_when_it_was_waited_for(begin, tmp_path):
    assert begin(f"import time; time.sleep(0.05); open({str(tmp_path / 'done')!r}, 'w').close()") > 0
    first = ahead._begun[MODULE]
    ahead.begin(MODULE, lambda: False)
    assert ahead._begun[MODULE] == first  # once
    ahead.wait(MODULE)
    assert (tmp_path / "done").exists()
    with pytest.raises(ChildProcessError):  # it was reaped
        os.waitpid(first, 0)
    ahead.wait(MODULE)
    ahead.wait("never begun")


def test_nothing_is_begun_where_it_is_of_no_use(begin, monkeypatch):
    assert begin(kernel="kept") == 0
    ahead._begun.clear()
    monkeypatch.setattr(ahead, "worker_count", lambda: 1)
    assert begin() == 0
    ahead._begun.clear()
    monkeypatch.setattr(ahead, "worker_count", lambda: 2)
    for name, value in (("frozen", True), ("executable", "/opt/bin/blender"), ("executable", "/no/python3")):
        with monkeypatch.context() as changed:
            changed.setattr(sys, name, value, raising=False)
            assert begin() == 0
        ahead._begun.clear()


def test_one_that_fails_says_nothing_and_one_that_hangs_is_left(begin, monkeypatch, capfd):
    begin("raise SystemExit('no')")
    ahead.wait(MODULE)
    assert capfd.readouterr() == ("", "")
    ahead._begun.clear()
    monkeypatch.setattr(ahead, "MOST_SECONDS", 0.03)
    process = begin("import time; time.sleep(60)")
    ahead.wait(MODULE)
    assert os.waitpid(process, os.WNOHANG) == (0, 0)  # it goes on
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)

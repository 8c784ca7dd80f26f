"""Kernels that another process compiles: begun where that is of use, waited for, and never needed."""

from __future__ import annotations

import os
import signal
import sys
import time
from types import SimpleNamespace

import pytest

from gpop.common import ahead
from gpop.common.by_reference import ReferenceKind
from gpop.common.kinds import ArrayKind, NumberKind

MODULE, KERNEL = "compiled_elsewhere", "a_loop"


@pytest.fixture
def begin(monkeypatch, tmp_path):
    """Begin a module of this text; nothing is kept of its kernel, and there are two cores."""
    monkeypatch.setattr(ahead, "_begun", {})
    monkeypatch.setattr(ahead, "worker_count", lambda: 2)
    monkeypatch.syspath_prepend(tmp_path)

    def begin(text="", kernel="new"):
        (tmp_path / f"{MODULE}.py").write_text(f"def entry(kernel):\n    {text or 'pass'}\n")
        ahead.begin(MODULE, KERNEL, lambda name: kernel == "kept")
        begun = ahead._begun[MODULE, KERNEL]
        return 0 if begun is None else begun.process

    return begin


def test_the_other_process_is_done_when_it_was_waited_for(begin, tmp_path):
    assert begin(f"import time; time.sleep(0.05); open({str(tmp_path / 'done')!r}, 'w').write(kernel)") > 0
    first = ahead._begun[MODULE, KERNEL].process
    ahead.begin(MODULE, KERNEL, lambda name: False)
    assert ahead._begun[MODULE, KERNEL].process == first  # once
    assert ahead.is_under_way(MODULE, KERNEL)
    ahead.wait(MODULE, KERNEL)
    assert not ahead.is_under_way(MODULE, KERNEL)
    assert (tmp_path / "done").read_text() == KERNEL
    with pytest.raises(ChildProcessError):  # it was reaped
        os.waitpid(first, 0)
    ahead.wait(MODULE, KERNEL)
    ahead.wait("never begun", KERNEL)


def test_it_compiles_what_else_is_asked_for(begin, tmp_path):
    kinds = NumberKind("uint32"), ReferenceKind("Any", (("field", ArrayKind("int64")),))
    begin()
    kernel = SimpleNamespace(__module__="asked_for", __name__="kernel")
    (tmp_path / "asked_for.py").write_text(
        "class Kernel:\n    def compile(self, kinds):\n"
        f"        open({str(tmp_path / 'kinds')!r}, 'w').write(repr(kinds))\n"
        "kernel = Kernel()\n"
    )
    ahead.ask(MODULE, KERNEL, kernel, *kinds)
    ahead.wait(MODULE, KERNEL)
    assert (tmp_path / "kinds").read_text() == repr(kinds)
    ahead.ask(MODULE, KERNEL, kernel, *kinds)  # nobody is there any more


def test_it_calls_what_has_no_kinds(begin, tmp_path):
    begin()
    function = SimpleNamespace(__module__="asked_to_do", __name__="write")
    (tmp_path / "asked_to_do.py").write_text(
        f"def write():\n    open({str(tmp_path / 'written')!r}, 'w').write('done')\n"
    )
    ahead.ask(MODULE, KERNEL, function)
    ahead.wait(MODULE, KERNEL)
    assert (tmp_path / "written").read_text() == "done"


def test_what_was_asked_for_is_done_once_by_whoever_has_time(begin, tmp_path):
    """Here all but the one that the other process has taken when it waits in it."""
    (tmp_path / "asked_of_two.py").write_text(
        "import os, pathlib, time\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "def first():\n    (folder / 'first').write_text(str(os.getpid()))\n"
        "    while not (folder / 'second').exists():\n        time.sleep(0.01)\n"
        "def second():\n    (folder / 'second').write_text(str(os.getpid()))\n"
    )
    other = begin()
    ahead.ask(MODULE, KERNEL, SimpleNamespace(__module__="asked_of_two", __name__="first"))
    while not (tmp_path / "first").exists():
        time.sleep(0.01)
    ahead.ask(MODULE, KERNEL, SimpleNamespace(__module__="asked_of_two", __name__="second"))
    ahead.help(MODULE, KERNEL)
    assert (tmp_path / "second").read_text() == str(os.getpid())
    ahead.help(MODULE, KERNEL)  # nothing is left
    ahead.wait(MODULE, KERNEL)
    assert (tmp_path / "first").read_text() == str(other)
    ahead.help(MODULE, KERNEL)  # nobody is there any more


def test_nothing_is_begun_where_it_is_of_no_use(begin, monkeypatch):
    assert begin(kernel="kept") == 0
    assert not ahead.is_under_way(MODULE, KERNEL)
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
    ahead.wait(MODULE, KERNEL)
    assert capfd.readouterr() == ("", "")
    ahead._begun.clear()
    monkeypatch.setattr(ahead, "MOST_SECONDS", 0.03)
    process = begin("import time; time.sleep(60)")
    ahead.wait(MODULE, KERNEL)
    assert os.waitpid(process, os.WNOHANG) == (0, 0)  # it goes on
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)

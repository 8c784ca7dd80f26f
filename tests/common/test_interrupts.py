"""Interrupts that are held back: raised at the next good moment, and by nobody but the main thread."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from gpop.common.interrupts import are_held_back, held_back, let_through
from tests.quick import quick

AT_A_CALL_OF_LLVM = """
import signal, sys, threading
import numpy as np
from llvmlite.binding import ffi
from gpop.common.cached import cached

@cached
def double(x):
    return [2 * v for v in x]

calls = 0

def inside():
    global calls
    calls += 1
    if calls == int(sys.argv[1]):
        signal.raise_signal(signal.SIGINT)

ffi.register_lock_callback(inside, lambda: None)
try:
    double(np.arange(3))
except KeyboardInterrupt:
    print("interrupted")

def ask():
    free = ffi.lib._lock._lock.acquire(timeout=5)
    print("free" if free else "taken")
    if free:
        ffi.lib._lock._lock.release()

other = threading.Thread(target=ask)
other.start()
other.join()
print(double(np.arange(3)))
"""


@pytest.mark.parametrize("call", quick([1, 20, 150], 20))
def test_an_interrupt_inside_llvm_leaves_nothing_locked(call, tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(AT_A_CALL_OF_LLVM)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, path, str(call)], capture_output=True, text=True, env=environment, timeout=120
    )
    assert (done.stdout, done.stderr) == ("interrupted\nfree\n[0, 2, 4]\n", "")


def test_a_good_moment_inside_the_block():
    seen = []
    with pytest.raises(KeyboardInterrupt), held_back(), held_back():
        signal.raise_signal(signal.SIGINT)
        seen.append("held back")
        let_through()
        seen.append("never")
    assert seen == ["held back"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    let_through()  # nothing is left


def test_a_handler_of_ones_own_is_called_once():
    calls = []
    before = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    try:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            assert not calls
        assert calls == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_process_that_ignores_interrupts_goes_on_doing_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held_back():
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("at", [0, 1])
def test_an_alarm_that_raises_meanwhile_leaves_nothing_held_back(at, monkeypatch):
    """`signal.signal` first calls the handlers of what has come: at the beginning, at the end."""
    given, calls = signal.signal, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == at + 1:
            raise TimeoutError
        return given(*arguments)

    monkeypatch.setattr(signal, "signal", interrupted)
    with pytest.raises(TimeoutError), held_back():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler and not are_held_back()


def test_another_thread_holds_nothing_back():
    found = []

    def work():
        with held_back():
            found.append(signal.getsignal(signal.SIGINT))
            let_through()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


IN_A_CALLBACK = """
import signal, time, weakref
from gpop.common.command import exit_code

class Object:
    pass

def work():
    one = Object()
    watched = weakref.ref(one, lambda reference: signal.raise_signal(signal.SIGINT))
    del one
    time.sleep(60)

raise SystemExit(exit_code(work))
"""


def test_an_interrupt_in_a_callback_whose_errors_python_drops_still_ends_a_command():
    done = subprocess.run([sys.executable, "-c", IN_A_CALLBACK], capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stderr) == (130, "gpop: interrupted\n")


def test_other_errors_that_python_drops_are_shown():
    code = IN_A_CALLBACK.replace("signal.raise_signal(signal.SIGINT)", "1 // 0").replace(
        "time.sleep(60)", "pass"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.returncode == 0 and "ZeroDivisionError" in done.stderr

"""Settings that must hold before Numba is imported, and the fixed seed.

Every test worker compiles into a JIT cache directory of its own, and looks into those of the others
(other_workers.py). Numba gets 4 threads so that runs with 1, 2 and 4 threads can be compared on any machine.
"""

import faulthandler
import gc
import os
import re
import signal
import tempfile
from pathlib import Path

import pytest

SEED = 20260101

_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_cache = Path(os.environ.get("GPOP_TEST_CACHE", Path(tempfile.gettempdir()) / f"gpop-test-jit-{os.getuid()}"))
os.environ["NUMBA_CACHE_DIR"] = str(_cache / _worker)
os.environ["GPOP_CONSTANTS"] = "shipped"  # what auto chooses must not depend on the machine
os.environ["NUMBA_NUM_THREADS"] = "4"  # not more: there is a worker on every core, and each has so many

if "GPOP_TEST_KERNELS" in os.environ:  # for a device
    from gpop.gpu.kernel import compile_quickly

    compile_quickly(os.environ["GPOP_TEST_KERNELS"])

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would every child.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import numba  # noqa: E402, F401 - tests compile functions that call gpop's: Numba is told of them at once

from tests.other_workers import take_kernels  # noqa: E402

take_kernels(_cache / _worker)

try:
    from hypothesis import settings
except ImportError:  # the tests of the GPU do without it, so that they run where little is installed
    pass
else:
    settings.register_profile("gpop", deadline=None, derandomize=True, print_blob=True)
    settings.load_profile("gpop")


WATCHDOG_SECONDS = 30
"""How long a test may go on after its time limit."""

STDERR = pytest.StashKey[int]()


def pytest_configure(config):
    config.stash[STDERR] = os.dup(2)  # while it is captured, nobody would see what the watchdog writes


def pytest_unconfigure(config):
    faulthandler.cancel_dump_traceback_later()
    os.close(config.stash[STDERR])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """End a process whose test hangs in a kernel.

    pytest-timeout's signal is handled when the main thread comes back to Python, and from a kernel that hangs
    it never does; a thread of Python's own would wait for the GIL where that is held. The watchdog is a
    thread of C: it writes where every thread is and ends the process; xdist starts another worker and
    reports the test as failed.
    """
    marker, config = item.get_closest_marker("timeout"), item.config
    limit = float(config.getini("timeout") or 0) if config.pluginmanager.hasplugin("timeout") else 0
    limit = marker.args[0] if marker else limit
    if limit > 0:
        faulthandler.dump_traceback_later(limit + WATCHDOG_SECONDS, exit=True, file=config.stash[STDERR])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def workers_at_once(monkeypatch):
    """Workers are called when a run begins, though the graphs are small: several threads take part."""
    monkeypatch.setattr("gpop.cpu.engine.CALLED_LATER", False)


@pytest.fixture(autouse=True)
def memory_of_small_arrays(monkeypatch):
    """Whether there is memory is asked from a megabyte on: what tests allocate is seldom larger."""
    monkeypatch.setattr("gpop.common.memory.ASKED_FROM", 1 << 20)


@pytest.fixture(autouse=True, scope="module")
def what_is_there_is_not_looked_at():
    """Python's collector leaves alone what was there before these tests, and looks at what they make.

    What Numba keeps of all that it has compiled comes to millions of objects, and to look at them takes
    seconds each time that a test, or Python, has garbage collected.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def small_graphs_ask():
    """On a GPU vertices ask wherever fewer bytes are predicted, though on small graphs it does not pay."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpop.model.choosers.SETTING_OUT", 0)
        yield


@pytest.fixture(autouse=True)
def no_tree_of_this_machine(monkeypatch):
    """Auto is the model's choice, also where somebody has run `gpop.tune`."""
    monkeypatch.setattr("gpop.plan.tree_for.KEPT", "trees of tests")


FIRST = re.compile(
    r"(gpop/(apps|cpu|direct|layout|networkx)/|tests/(apps|cli|cpu|direct|execution|layout|learn|matrix|networkx)/"
    r"|tests/test_(all_apps|apps_parallel|compare_targets|gallery|graph_copies|guides|json|readme|reference"
    r"|reference_apps|site)\.py)"
)
"""Where the kernels of apps and engine are run."""


EITHER = re.compile(
    r"(tests/(generate|interop|io)/|tests/test_(command_lines|documented_commands|public_api)\.py)"
)
"""Where few kernels are."""


@pytest.hookimpl(trylast=True)  # when slow ones are gone
def pytest_collection_modifyitems(items):
    """Those that run the same kernels stand together: each of two workers begins with half of the tests.

    A kernel that both need is compiled twice. Who is through takes tests from the end of the other's half:
    there are some that need few kernels.
    """
    nameless = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if nameless:
        raise pytest.UsageError(f"{nameless[0]}: no other process finds a test that is named by an address")
    first, either, second = [], [], []
    for item in items:
        part = first if FIRST.match(item.nodeid) else either if EITHER.match(item.nodeid) else second
        part.append(item)
    room = max(len(items) // 2 - len(first), 0)
    items[:] = [*first, *either[:room], *second, *either[room:]]


def pytest_runtest_setup(item):
    """Tests marked ``gpu`` say why they cannot run here."""
    if item.get_closest_marker("gpu"):
        from gpop.common.errors import UsageError
        from gpop.gpu.device import cupy

        try:
            cupy()
        except UsageError as error:
            pytest.skip(str(error))


def pytest_report_header(config):
    return f"gpop: seed {SEED}, JIT cache {_cache}"

"""Settings that must hold before Numba is imported, and the fixed seed.

Every test worker compiles into a JIT cache directory of its own, and Numba gets at least 4 threads so
that runs with 1, 2 and 4 threads can be compared on any machine.
"""

import os
import signal
import tempfile
from pathlib import Path

import pytest

SEED = 20260101

_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_cache = Path(os.environ.get("GPOP_TEST_CACHE", Path(tempfile.gettempdir()) / f"gpop-test-jit-{os.getuid()}"))
os.environ["NUMBA_CACHE_DIR"] = str(_cache / _worker)
os.environ["NUMBA_NUM_THREADS"] = str(max(4, os.cpu_count() or 1))

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would every child.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

try:
    from hypothesis import settings
except ImportError:  # the tests of the GPU do without it, so that they run where little is installed
    pass
else:
    settings.register_profile("gpop", deadline=None, derandomize=True, print_blob=True)
    settings.load_profile("gpop")


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

"""Settings that must hold before Numba is imported, and the fixed seed.

Every test worker compiles into a JIT cache directory of its own, and Numba gets at least 4 threads so
that runs with 1, 2 and 4 threads can be compared on any machine.
"""

import os
import tempfile
from pathlib import Path

SEED = 20260101

_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_cache = Path(os.environ.get("GPOP_TEST_CACHE", Path(tempfile.gettempdir()) / f"gpop-test-jit-{os.getuid()}"))
os.environ["NUMBA_CACHE_DIR"] = str(_cache / _worker)
os.environ["NUMBA_NUM_THREADS"] = str(max(4, os.cpu_count() or 1))

from hypothesis import settings  # noqa: E402

settings.register_profile("gpop", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("gpop")


def pytest_report_header(config):
    return f"gpop: seed {SEED}, JIT cache {_cache}"

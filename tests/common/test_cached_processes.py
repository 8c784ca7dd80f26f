"""Kept kernels in processes of their own: those that compile at the same time, and those after an edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numba
import pytest

from gpop.common import cached
from tests.common.test_cached import PACKAGE
from tests.quick import quick


def test_processes_that_compile_at_the_same_time_do_not_mix_their_code(tmp_path, monkeypatch):
    """Between the index and the code of one process another, which has read no index, writes both."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def half(x):
        return x / 2

    one, other, later = (cached.keep(half, "half").dispatcher._cache._cache_file for _ in range(3))
    save = one._save_data

    def after_the_other(name, data):
        other.save("their types", "their code")
        save(name, data)

    monkeypatch.setattr(other, "_load_index", dict)
    monkeypatch.setattr(one, "_save_data", after_the_other)
    one.save("our types", "our code")
    assert later.load("their types") == "their code"
    assert later.load("our types") in (None, "our code")


WAITING = """\
import numpy as np
from gpop.cpu.active import LIST_GAP, Lists
from gpop.cpu.priority import LISTED, PENDING, PENDING_SIZE, SIZE, SLOTS, drain_waiting
lists = Lists(*[0 if name in ("n", "k", "bits") else np.zeros(1, np.int64) for name in Lists._fields])
lists = lists._replace(n=32, k=2, bits=4)
later, waiting = np.zeros(2 * (16 + LIST_GAP), np.uint16), np.zeros(32, np.uint8)
buckets = np.zeros(SLOTS * 3, np.int64)
later[16 + LIST_GAP] = 5  # vertex 21, the only one in the list of partition 1
waiting[21] = LISTED | PENDING
buckets[SLOTS + SIZE] = buckets[SLOTS + PENDING_SIZE] = 1
out = np.zeros(1, np.uint32)
drain_waiting(out, lists, later, waiting, buckets, np.zeros(4, np.int64))
print(out)
"""


FOREST = """\
import numpy as np
from gpop.direct.afforest import _compress
from gpop.direct.phases import make_phases
roots = np.zeros(1, np.int64)
_compress(make_phases(1), 0, 1, 7, np.array([0, 0, 2, 2, 4, 4, 6], np.uint32), roots)
print(roots)
"""


RANDOM = """\
import zlib
from gpop.generate import generate
print(zlib.crc32(generate("uniform", scale=6, degree=4, seed=1).indices))
"""


EDITS = {
    "cpu/active.py": (WAITING, "LIST_GAP = 32", "LIST_GAP = 64"),
    "direct/forest.py": (FOREST, "count += root == v", "count += 3 * (root == v)"),
    "common/random_bits.py": (RANDOM, "GOLDEN = np.uint64(0x9E", "GOLDEN = np.uint64(0x7E"),
}


@pytest.mark.parametrize("file", quick(EDITS, "cpu/active.py"))
def test_an_edit_of_another_file_gives_the_new_behaviour(file, tmp_path):
    script, old, new = EDITS[file]
    shutil.copytree(PACKAGE, tmp_path / "gpop", ignore=shutil.ignore_patterns("__pycache__"))

    def answer(jit: str) -> str:
        path = os.pathsep.join([str(tmp_path), *sys.path])
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=250,
            env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / jit)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    before = answer("kept")
    edited = tmp_path / "gpop" / file
    assert old in edited.read_text()
    edited.write_text(edited.read_text().replace(old, new))
    after = answer("kept")
    if file == "cpu/active.py":  # where the lists lie is not to be seen
        assert after == before
        assert before == "[21]\n"
    else:
        assert after != before
        assert after == answer("fresh")

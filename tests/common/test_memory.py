"""Memory: what is available, also inside a container, and the refusal."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

import gpop.common.memory
from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.common.memory import available_bytes, readable, require_memory


def test_a_container_limit_counts(tmp_path, monkeypatch):
    limit, usage = tmp_path / "limit", tmp_path / "usage"
    monkeypatch.setattr(gpop.common.memory, "_CGROUPS", (("none", "none"), (str(limit), str(usage))))
    without = available_bytes()
    assert without > 1 << 20
    limit.write_text("max\n")
    usage.write_text("1\n")
    assert available_bytes() > 1 << 20
    limit.write_text("5000000\n")
    usage.write_text("2000000\n")
    assert available_bytes() == 3_000_000
    require_memory(2_000_000, "this")
    with pytest.raises(NotEnoughMemory, match=r"^this needs 4\.0 MB, but only 3\.0 MB is available$"):
        require_memory(4_000_000, "this")
    usage.write_text("6000000\n")
    assert available_bytes() == 0


def test_the_environment_allows_bytes_or_is_refused(monkeypatch):
    monkeypatch.setenv("GPOP_MEMORY", "5MB")
    assert available_bytes() == 5_000_000
    monkeypatch.setenv("GPOP_MEMORY", "plenty")
    with pytest.raises(
        UsageError, match=r"^GPOP_MEMORY='plenty': expected bytes, such as 4000000000 or 4GB$"
    ):
        available_bytes()


def test_readable():
    assert [readable(n) for n in (0, 999, 1000, 1_234_567, 10**18)] == [
        "0 B",
        "999 B",
        "1.0 KB",
        "1.2 MB",
        "1000000.0 TB",
    ]


def test_own_pages_are_zero_and_given_back():
    pages = 64
    array = gpop.common.memory.own_pages(pages * mmap.PAGESIZE // 8, np.uint64)
    assert not array.any() and array.flags.writeable
    array[:] = 1
    per_page = mmap.PAGESIZE // 8
    gpop.common.memory.give_back(array, per_page - 1, 3 * per_page + 1)  # the two pages that lie within
    kept = array.reshape(pages, per_page).any(axis=1)
    assert kept.tolist() == [page not in (1, 2) for page in range(pages)]
    gpop.common.memory.give_back(array, 5, 6)
    assert array[5] == 1
    assert gpop.common.memory.own_pages(0, np.int64).shape == (0,)


def test_own_copy():
    assert gpop.common.memory.own_copy(np.arange(5)).tolist() == [0, 1, 2, 3, 4]
    assert gpop.common.memory.own_copy(np.arange(5), np.uint16).dtype == np.uint16

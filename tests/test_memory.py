"""Memory: what is available, also inside a container, and the refusal."""

from __future__ import annotations

import pytest

import gpop.memory
from gpop.errors import NotEnoughMemory
from gpop.memory import available_bytes, readable, require_memory


def test_a_container_limit_counts(tmp_path, monkeypatch):
    limit, usage = tmp_path / "limit", tmp_path / "usage"
    monkeypatch.setattr(gpop.memory, "_CGROUPS", (("none", "none"), (str(limit), str(usage))))
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


def test_readable():
    assert [readable(n) for n in (0, 999, 1000, 1_234_567, 10**18)] == [
        "0 B",
        "999 B",
        "1.0 KB",
        "1.2 MB",
        "1000000.0 TB",
    ]

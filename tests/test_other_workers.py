"""Test workers take what is compiled from each other: machine code by name, what Numba keeps by key."""

from __future__ import annotations

import pytest
from numba.core.caching import IndexDataCacheFile

from gpop.common import machine_code
from tests.other_workers import take_kernels


@pytest.fixture
def workers(tmp_path, monkeypatch):
    """The folders of this worker and of another one; who asks for the files of this one takes kernels."""
    monkeypatch.setattr(machine_code, "_load", lambda place: place.read_bytes() if place.exists() else None)
    monkeypatch.setattr(IndexDataCacheFile, "load", IndexDataCacheFile.load)
    own, other = tmp_path / "gw0", tmp_path / "gw1"
    take_kernels(own)
    (other / "gpop").mkdir(parents=True)
    return own, other


def test_this_worker_does():
    assert machine_code._load.__module__ == IndexDataCacheFile.load.__module__ == take_kernels.__module__


def test_machine_code(workers):
    own, other = workers
    (other / "gpop" / "kernel.code").write_bytes(b"machine code")
    assert machine_code._load(own / "gpop" / "kernel.code") == b"machine code"
    assert (own / "gpop" / "kernel.code").is_file()
    assert machine_code._load(own / "gpop" / "missing.code") is None
    assert machine_code._load(own.parent / "elsewhere" / "kernel.code") is None


def test_what_numba_keeps(workers):
    own, other = workers
    there, here = (IndexDataCacheFile(str(each / "gpop"), "kernel", "stamp") for each in workers[::-1])
    there.save(("signature",), "compiled")
    (own / "gpop").mkdir(parents=True)
    assert here.load(("signature",)) == "compiled" and here.load(("another",)) is None
    for file in (other / "gpop").iterdir():
        file.unlink()
    assert here.load(("signature",)) == "compiled"  # it is here now

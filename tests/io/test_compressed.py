"""Packed files of several frames: what follows damage between them is not left out without a word."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest

from gpop.common.errors import GraphFileError
from gpop.io.compressed import opener, read_some

PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
FIRST, SECOND = b"0 1\n" * 9, b"2 3\n" * 50_000


def unpacked(tmp_path, ending: str, data: bytes) -> bytes:
    path = tmp_path / f"g.el{ending}"
    path.write_bytes(data)
    with open(path, "rb") as raw, opener(path)(raw) as file:
        return read_some(path, file, 1 << 30)


@pytest.mark.parametrize("ending", [*PACKERS, ".zst"])
def test_frames(tmp_path, ending):
    pack = PACKERS.get(ending) or pytest.importorskip("zstandard").compress
    first, second = pack(FIRST), pack(SECOND)
    assert unpacked(tmp_path, ending, first + second) == FIRST + SECOND
    assert unpacked(tmp_path, ending, first + bytes(8) + second + bytes(8)) == FIRST + SECOND
    damaged = bytes([second[0] ^ 1]) + second[1:]
    for bad in (first + damaged, first + b"more", first + second[:-1], first[:-1], bytes(40), b""):
        with pytest.raises(GraphFileError, match=f"{ending}: damaged compressed data"):
            unpacked(tmp_path, ending, bad)

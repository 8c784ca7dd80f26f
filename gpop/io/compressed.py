"""Compressed files: the one place that knows gzip, bzip2, xz and Zstandard, by the last ending of a name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gpop.common.errors import GraphFileError, UsageError

ENDINGS = (".gz", ".bz2", ".xz", ".zst")
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, OSError, ValueError)


def _zstandard():
    try:
        import zstandard
    except ImportError:
        raise UsageError("a .zst file needs the package zstandard: pip install zstandard") from None
    return zstandard


class _Zstandard(io.RawIOBase):
    """All frames of a Zstandard stream; a stream that ends within a frame is an error."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self._new_frame = _zstandard().ZstdDecompressor().decompressobj
        self._frame = None  # the one being read
        self._left = b""  # compressed bytes that belong to the next frame
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        error = _zstandard().ZstdError
        while not self._ready:
            data = self._left or self._file.read(1 << 16)
            self._left = b""
            if not data:
                if self._frame is not None:
                    raise EOFError("the last frame is not complete")
                return 0
            self._frame = self._frame or self._new_frame()
            try:
                self._ready = self._frame.decompress(data)
            except error as reason:
                raise EOFError(str(reason)) from None
            if self._frame.eof:
                self._left, self._frame = self._frame.unused_data, None
        part = self._ready[: len(buffer)]
        self._ready = self._ready[len(part) :]
        buffer[: len(part)] = part
        return len(part)


def opener(path: Path) -> Callable[[BinaryIO], BinaryIO] | None:
    """What turns the opened file into its plain bytes; None when it is not compressed."""
    if path.suffix.lower() in (".gz", ".zst") and path.stat().st_size == 0:  # read as a file of no bytes
        raise GraphFileError(f"{path}: damaged compressed data: the file is empty")
    return {
        ".gz": gzip.open,
        ".bz2": bz2.open,
        ".xz": lzma.open,
        ".zst": lambda file: io.BufferedReader(_Zstandard(file), 1 << 20),
    }.get(path.suffix.lower())


def read_some(path: Path, file: BinaryIO, size: int) -> bytes:
    """The next ``size`` plain bytes, fewer at the end; damaged data is a GraphFileError."""
    try:
        return file.read(size)
    except _DAMAGED as error:
        raise GraphFileError(f"{path}: damaged compressed data: {error}") from None


def open_to_write(temporary: Path, path: Path) -> BinaryIO:
    """Open ``temporary`` for bytes that are packed as the ending of ``path`` says."""
    ending = path.suffix.lower()
    if ending == ".gz":
        return gzip.open(temporary, "wb", compresslevel=6)
    if ending == ".bz2":
        return bz2.open(temporary, "wb")
    if ending == ".xz":
        return lzma.open(temporary, "wb", preset=3)
    if ending == ".zst":
        return _zstandard().open(temporary, "wb")
    return open(temporary, "wb")

"""Compressed files: the one place that knows gzip, bzip2, xz and Zstandard, by the last ending of a name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from gpop.common.errors import GraphFileError, UsageError

ENDINGS = (".gz", ".bz2", ".xz", ".zst")
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, OSError, ValueError)


def _zstandard():
    try:
        import zstandard
    except ImportError:
        raise UsageError("a .zst file needs the package zstandard: pip install zstandard") from None
    return zstandard


class _Frames(io.RawIOBase):
    """All frames of a packed stream, one after the other; zeros may stand between them.

    A stream that ends within a frame is an error, and so is one that goes on with what is no frame:
    Python's own readers of bzip2 and xz take that for the end, and what follows damage there is missing
    without a word.
    """

    def __init__(self, file: BinaryIO, new_frame: Callable[[], Any], error: type[Exception]):
        self._file = file
        self._new_frame = new_frame
        self._error = error
        self._frame = None  # the one being read
        self._any = False  # whether there was one
        self._left = b""  # packed bytes that belong to the next frame
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        while not self._ready:
            data = b""
            if getattr(self._frame, "needs_input", True):
                data = self._left or self._file.read(1 << 16)
                self._left = b""
                if not data:
                    if self._frame is not None:
                        raise EOFError("the last frame is not complete")
                    return 0
                if self._frame is None and self._any:
                    data = data.lstrip(b"\0")
                    if not data:
                        continue
            self._frame = self._frame or self._new_frame()
            self._any = True
            try:
                self._ready = self._unpacked(data)
            except self._error as reason:
                raise EOFError(str(reason)) from None
            if self._frame.eof:
                self._left, self._frame = self._frame.unused_data, None
        part = self._ready[: len(buffer)]
        self._ready = self._ready[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def _unpacked(self, data: bytes) -> bytes:
        """Plain bytes; those that know whether they need input give no more than is asked for."""
        if hasattr(self._frame, "needs_input"):
            return self._frame.decompress(data, 1 << 20)
        return self._frame.decompress(data)


_FRAMES = {
    ".bz2": lambda: (bz2.BZ2Decompressor, OSError),
    ".xz": lambda: (partial(lzma.LZMADecompressor, lzma.FORMAT_XZ), lzma.LZMAError),
    ".zst": lambda: (_zstandard().ZstdDecompressor().decompressobj, _zstandard().ZstdError),
}
"""What begins a frame, and what it raises."""


def opener(path: Path) -> Callable[[BinaryIO], BinaryIO] | None:
    """What turns the opened file into its plain bytes; None when it is not compressed."""
    ending = path.suffix.lower()
    if ending in ENDINGS and path.is_file() and path.stat().st_size == 0:  # read as a file of no bytes
        raise GraphFileError(f"{path}: damaged compressed data: the file is empty")
    if ending in _FRAMES:
        return lambda file: io.BufferedReader(_Frames(file, *_FRAMES[ending]()), 1 << 20)
    return gzip.open if ending == ".gz" else None


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

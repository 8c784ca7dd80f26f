"""The first page of a file with bins: what it belongs to, and its sections (see `gpop.layout.bins_file`)."""

from __future__ import annotations

import os

import numpy as np

from gpop.common.array_hash import hash_array

VERSION = 2
MAGIC = b"GPOPbins"
PAGE = 4096
SECTIONS = ("slots", "id_offsets", "sources", "ids", "id_weights")

HEADER = np.dtype(
    [
        ("magic", "S8"), ("version", "u8"), ("graph", "u8"), ("bits", "u8"), ("sorted", "u8"),
        ("file", "u8"), ("state", "u8"),
        ("types", "S8", len(SECTIONS)), ("sizes", "u8", len(SECTIONS)), ("hashes", "u8", len(SECTIONS)),
        ("own_hash", "u8"),
    ]
)  # fmt: skip


def read_header(path: str | os.PathLike) -> np.void | None:
    """The header of a layout file as it is; None where there is none."""
    header = np.fromfile(path, HEADER, 1)
    return header[0] if len(header) and header["magic"][0] == MAGIC else None


def header_hash(header: np.ndarray) -> int:
    """Hash of all that stands before the header's own hash."""
    return hash_array(header.view(np.uint8)[: HEADER.fields["own_hash"][1]])

"""NumPy archives (npz) from anywhere: nothing is allocated or unpickled on the word of a header alone."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.memory import require_memory


def check_archive(path: Path) -> int:
    """Bytes of all arrays of an npz file; an error when one is not as long as its header says."""
    total = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                header = {
                    (1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0,
                }.get(version)
                if header is None:
                    raise GraphFileError(f"{path}: array {member.filename} has format {version}")
                shape, _, dtype = header(file)
                stored = member.file_size - file.tell()
                if dtype.hasobject or math.prod(shape) * dtype.itemsize != stored:
                    raise GraphFileError(
                        f"{path}: {member.filename} holds {stored} bytes, expected {dtype} {list(shape)}"
                    )
                total += member.file_size
    require_memory(3 * total, f"{path}: its arrays")
    return total

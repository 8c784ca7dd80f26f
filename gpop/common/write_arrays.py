"""Arrays to files by Python's own writes, all of it or an error.

`numpy.ndarray.tofile`, and so `numpy.save`, hands an array to a buffer of C's and does not look whether the
end of it got to the file: where a device is full there, up to 4,095 bytes are missing and nobody is told. A
file without a buffer writes what there is room for, and says how much that was.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import BinaryIO

import numpy as np


def write_array(array: np.ndarray, file: BinaryIO) -> None:
    """Write the bytes of an array."""
    left = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    while len(left):
        left = left[file.write(left) :]


def save_array(array: np.ndarray, file: BinaryIO) -> None:
    """Write an array as ``.npy``."""
    np.save(SimpleNamespace(write=file.write), array)  # what is no file of Python's has its own write called

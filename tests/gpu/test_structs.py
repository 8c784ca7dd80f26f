"""Scalars of structs, read, written and packed without NumPy: the bytes are those that NumPy would write."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.gpu.structs import CONTROL, Numbers, packer
from gpop.program.fields import DTYPES

VALUES = {
    "b": (False, True),
    "i": ("min", "max", -1),
    "u": (0, "max"),
    "f": (0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, "max", "tiny"),
}


def values_of(dtype: np.dtype) -> list[np.generic]:
    about = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype) if dtype.kind in "iu" else None
    said = VALUES[dtype.kind]
    return [dtype.type(getattr(about, each) if isinstance(each, str) else each) for each in said]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_packed_struct_is_numpys(dtype):
    struct = np.dtype([("before", "u1"), ("value", dtype), ("after", "u8")], align=True)
    write = packer(struct)
    assert write.size == struct.itemsize
    for value in values_of(dtype):
        expected, found = np.zeros(1, struct), np.zeros(1, struct)
        for name, each in (("before", 7), ("value", value), ("after", 2**64 - 1)):
            expected[name] = each
        write.pack_into(memoryview(found.view(np.uint8)), 0, 7, value, 2**64 - 1)
        assert found.tobytes() == expected.tobytes(), value


def test_numbers_are_what_numpy_reads_and_writes():
    memory = np.zeros(CONTROL.itemsize, np.uint8)
    numbers, struct = Numbers(memory, CONTROL), memory.view(CONTROL)
    scalars = [name for name in CONTROL.names if not CONTROL[name].shape]
    assert len(scalars) > 40
    for i, name in enumerate(scalars, 1):
        numbers[name] = i
        assert struct[name][0] == i
    for i, name in enumerate(scalars, 2):
        struct[name] = i
        assert numbers[name] == i and type(numbers[name]) in (int, float)
    with pytest.raises(KeyError):
        _ = numbers["trace"]

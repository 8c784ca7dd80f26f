"""Arrays of one value are that everywhere: by one thread and by several, in new pages and in used ones."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.common import arrays
from gpop.common.used_pages import LEAST, let_go


@pytest.mark.parametrize("value", [0, -1, 7])
@pytest.mark.parametrize("shared", [False, True])
def test_every_element_is_set(value, shared, monkeypatch):
    if shared:
        monkeypatch.setattr(arrays, "PIECE", LEAST // 5)  # the last piece is shorter
    let_go()
    kind, length = np.dtype(np.int32), LEAST // 4 + 1
    for _ in range(2):
        made = arrays.filled(length, kind, value)
        assert (made == value).all()
        assert made.shape == (length,)
        made[:] = 99  # what the next one finds in these pages
        del made


@pytest.mark.parametrize("length", [3, LEAST])
def test_a_negative_zero_is_none_in_its_bits(length):
    let_go()
    for value in (-0.0, np.float32(-0.0)):
        made = arrays.filled(length, np.dtype(np.float32), value)
        assert np.signbit(made).all() and not made.any()

"""Bits that a mask chooses: the processor's instructions and the loops that stand for them are one."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from gpop.common import bits


@pytest.mark.parametrize("feature", [bits.FEATURE, "no such feature"])
def test_together_and_apart(monkeypatch, feature):
    monkeypatch.setattr(bits, "FEATURE", feature)
    extract, deposit = bits.extract, bits.deposit

    @numba.njit(cache=False)
    def both(words, masks, joined, spread):
        for i in range(words.size):
            joined[i] = extract(words[i], masks[i])
            spread[i] = deposit(words[i], masks[i])

    rng = np.random.default_rng(2)
    words, masks = rng.integers(0, 2**64, (2, 200), np.uint64)
    masks[:3], words[3] = (0, 2**64 - 1, 1 << 63), 2**64 - 1
    joined, spread = np.zeros(200, np.uint64), np.zeros(200, np.uint64)
    both(words, masks, joined, spread)
    for word, mask, low, high in zip(words, masks, joined, spread, strict=True):
        chosen = [i for i in range(64) if int(mask) >> i & 1]
        assert int(low) == sum((int(word) >> place & 1) << i for i, place in enumerate(chosen))
        assert int(high) == sum((int(word) >> i & 1) << place for i, place in enumerate(chosen))
        assert bits.together(word, mask) == low and bits.apart(word, mask) == high

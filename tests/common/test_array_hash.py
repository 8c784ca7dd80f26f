"""The hash of an array sees every bit and where it stands."""

from __future__ import annotations

import numpy as np

from gpop.common import array_hash


def test_hash_of_top_bits():
    """Two flipped top bits must not cancel, wherever they are (multiplying carries upwards only)."""
    words = np.arange(4096, dtype=np.uint64)
    hashes = {array_hash.hash_array(words)}
    for first in range(0, 64):
        for second in range(first + 1, 64):
            changed = words.copy()
            changed[[first, second]] ^= np.uint64(1 << 63)
            hashes.add(array_hash.hash_array(changed))
    assert len(hashes) == 1 + 64 * 63 // 2


def test_hash_of_blocks(monkeypatch):
    data = np.random.default_rng(1).integers(0, 255, 5001).astype(np.uint8)
    monkeypatch.setattr(array_hash, "_PIECE", 1024)
    whole = array_hash.hash_array(data)
    swapped = np.concatenate([data[1024:2048], data[:1024], data[2048:]])
    others = (swapped, data[:-1], np.append(data, np.uint8(0)))
    assert whole not in {array_hash.hash_array(other) for other in others}
    assert whole == array_hash.hash_array(np.append(np.uint8(0), data)[1:])  # at an odd address
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert whole == array_hash.hash_array(data)

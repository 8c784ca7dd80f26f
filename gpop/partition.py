"""Which vertex lives in which partition (GPOP section 3.1; requirements G-10 ... G-13).

Index partitioning: partition ``p`` owns vertices ``[p*q, (p+1)*q)``. ``q`` is a power of two, so
``partition(v) = v >> bits``; the last partition may be shorter. ``q`` is the largest power of two
that satisfies both rules of the paper, which makes ``k = ceil(n/q)`` the smallest number of
partitions:

1. the vertex data of a partition fits the largest private cache: ``q * vertex_bytes <= L2``;
2. load balance: ``k >= 4 * threads``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from gpop.errors import UsageError

_DEFAULT_L2_BYTES = 1 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


@lru_cache(maxsize=1)
def l2_cache_bytes() -> int:
    """Size in bytes of one core's L2 cache; 1 MiB where the system does not tell.

    Examples
    --------
    >>> l2_cache_bytes() >= 1 << 16
    True
    """
    if sys.platform == "darwin":
        text = subprocess.run(["sysctl", "-n", "hw.l2cachesize"], capture_output=True, text=True).stdout
        return int(text) if text.strip().isdigit() else _DEFAULT_L2_BYTES
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind = (index / "level").read_text().strip(), (index / "type").read_text().strip()
            size = re.fullmatch(r"(\d+)([KM]?)", (index / "size").read_text().strip())
        except OSError:
            continue
        if level == "2" and kind in ("Unified", "Data") and size:
            return int(size[1]) * _UNITS[size[2]]
    return _DEFAULT_L2_BYTES


def partition_bits(
    n: int,
    threads: int,
    *,
    cache_bytes: int | None = None,
    vertex_bytes: int = 4,
    partition_size: int | None = None,
) -> int:
    """Number of low bits of a vertex id that are local to its partition: ``q = 2**bits``.

    Parameters
    ----------
    n : int
        Number of vertices.
    threads : int
        Number of threads that will share the partitions (``k >= 4 * threads``).
    cache_bytes : int, optional
        Private cache of a core in bytes; read from the machine when not given.
    vertex_bytes : int
        Bytes of vertex data per vertex.
    partition_size : int, optional
        Vertices per partition chosen by the user, a power of two; replaces both rules.

    Raises
    ------
    UsageError
        If ``partition_size`` is not a power of two between 1 and 2**31.

    Examples
    --------
    >>> partition_bits(1 << 22, threads=2, cache_bytes=1 << 18)   # 64 Ki floats fill 256 KiB
    16
    >>> partition_bits(100, threads=2)                            # k = 13 >= 8
    3
    """
    if partition_size is not None:
        if partition_size < 1 or partition_size & (partition_size - 1) or partition_size > 1 << 31:
            raise UsageError(f"partition size {partition_size}: expected a power of two from 1 to {1 << 31}")
        return partition_size.bit_length() - 1
    if cache_bytes is None:
        cache_bytes = l2_cache_bytes()
    largest = max(1, cache_bytes // vertex_bytes)
    bits = min(31, largest.bit_length() - 1)
    while bits > 0 and partition_count(n, bits) < 4 * threads:
        bits -= 1
    return bits


def partition_count(n: int, bits: int) -> int:
    """Number of partitions ``k`` of ``n`` vertices with ``2**bits`` vertices each.

    Examples
    --------
    >>> partition_count(9, 3)
    2
    """
    return (n + (1 << bits) - 1) >> bits

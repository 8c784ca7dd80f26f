"""What is known about this machine without measuring: processor, cores, caches, memory, system.

Caches are those of the first core as Linux tells them (``/sys/devices/system/cpu``).
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import psutil

from gpop.common.machine import machine_name as platform_name  # noqa: F401 - its name in a result store
from gpop.common.machine import processor
from gpop.common.parallel import worker_count
from gpop.layout.partition import l2_cache_bytes


def team_sizes(threads: int) -> tuple[int, ...]:
    """Powers of two up to the number of threads, and that number.

    >>> team_sizes(6), team_sizes(1)
    ((1, 2, 4, 6), (1,))
    """
    return tuple(sorted({1 << i for i in range(threads.bit_length())} | {threads}))


def _count(cpus: str) -> int:
    """How many CPUs a list such as ``0-3,8`` names.

    >>> _count("0-3,8")
    5
    """
    ranges = [part.partition("-") for part in cpus.split(",")]
    return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)


def caches() -> list[dict[str, Any]]:
    """What each cache of the first core is: size, associativity, line size, how many CPUs share it."""
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            text = {path.name: path.read_text().strip() for path in index.iterdir() if path.is_file()}
            found.append(
                {
                    "level": int(text["level"]),
                    "kind": text["type"].lower(),
                    "bytes": int(text["size"].rstrip("K")) << 10,
                    "ways": int(text.get("ways_of_associativity", 0)),
                    "line": int(text.get("coherency_line_size", 0)),
                    "shared by": _count(text.get("shared_cpu_list", "0")),
                }
            )
        except (OSError, KeyError, ValueError):
            continue
    return found


def facts() -> dict[str, Any]:
    """Everything, as plain values."""
    return {
        "processor": processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "usable cores": worker_count(),
        "memory bytes": psutil.virtual_memory().total,
        "l2 bytes": l2_cache_bytes(),
        "caches": caches(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }

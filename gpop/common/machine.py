"""What this machine is called where something was measured on it: its processor, and its usable cores."""

from __future__ import annotations

import platform
import re
from functools import cache
from pathlib import Path

from gpop.common.parallel import worker_count


@cache
def processor() -> str:
    """The processor's name, the architecture where the system does not tell."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def machine_name() -> str:
    """The processor and its usable cores.

    >>> machine_name() == f"{processor()}, {worker_count()} cores"
    True
    """
    return f"{processor()}, {worker_count()} cores"

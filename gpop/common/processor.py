"""What the processor is called: what was measured on one is kept under its name."""

from __future__ import annotations

import platform
import re
from functools import cache
from pathlib import Path


@cache
def processor() -> str:
    """The processor's name, the architecture where the system does not tell."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()

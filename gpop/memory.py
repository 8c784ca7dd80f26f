"""Memory that is left on this machine, and the check made before anything large is allocated.

Available is what the operating system reports, or what the control group (container) still
allows when that is less.
"""

from __future__ import annotations

from pathlib import Path

from gpop.errors import NotEnoughMemory

_CGROUPS = (
    # (limit, usage) of version 2 and version 1 as a container sees its own group
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def _cgroup_available() -> int | None:
    """Bytes that the control group still allows, None when it sets no limit."""
    for limit, usage in _CGROUPS:
        try:
            return max(0, int(Path(limit).read_text()) - int(Path(usage).read_text()))
        except (OSError, ValueError):  # no such version here, or the limit reads "max"
            continue
    return None


def available_bytes() -> int:
    """Bytes that can be allocated now without swapping."""
    import psutil

    available = psutil.virtual_memory().available
    limit = _cgroup_available()
    return available if limit is None else min(available, limit)


def readable(nbytes: int) -> str:
    """``1.5 GB`` style size.

    >>> readable(1_500_000_000)
    '1.5 GB'
    """
    size = float(nbytes)
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def require_memory(nbytes: int, what: str) -> None:
    """Raise NotEnoughMemory when ``what`` would take more than is available."""
    if nbytes < 1 << 20:  # asking costs more than such an allocation
        return
    available = available_bytes()
    if nbytes > available:
        raise NotEnoughMemory(f"{what} needs {readable(nbytes)}, but only {readable(available)} is available")

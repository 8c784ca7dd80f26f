"""A disk that is slower than it is: this process reads at most so many bytes a second of it.

A control group of its own (blkio of version 1) has the limit of the disk that a folder is on; the process is
in it meanwhile, with its threads, and then where it was again. Wants the rights to make one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpop.common.errors import UsageError

ROOT = Path("/sys/fs/cgroup/blkio")


def disk_of(folder: Path) -> str:
    """Numbers of the device, of the whole disk where the folder is on a part of one."""
    device = folder.stat().st_dev
    numbers = f"{os.major(device)}:{os.minor(device)}"
    place = Path("/sys/dev/block") / numbers
    if (place / "partition").exists():
        return (place.resolve().parent / "dev").read_text().strip()
    return numbers


def group_of(lines: str) -> str:
    """Where the process is, of what ``/proc/self/cgroup`` says.

    Examples
    --------
    >>> group_of("8:pids:/a\\n7:blkio:/jobs/one\\n0::/")
    '/jobs/one'
    """
    for line in lines.splitlines():
        _, controllers, path = line.split(":", 2)
        if "blkio" in controllers.split(","):
            return path
    raise UsageError("--pace: there is no control group that limits a disk (blkio)")


@contextmanager
def paced(folder: Path, speed: int | None) -> Iterator[None]:
    """At most ``speed`` bytes a second of the folder's disk; None: as it is.

    Raises
    ------
    UsageError
        Where there are no such groups, or no right to make one.
    """
    if speed is None:
        yield
        return
    own = ROOT / group_of(Path("/proc/self/cgroup").read_text()).lstrip("/")
    group = own / f"gpop-{os.getpid()}"
    try:
        group.mkdir()
        (group / "blkio.throttle.read_bps_device").write_text(f"{disk_of(folder)} {speed}")
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as error:
        if group.is_dir():
            group.rmdir()
        raise UsageError(f"--pace: {group}: {error.strerror}") from None
    try:
        yield
    finally:
        (own / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()

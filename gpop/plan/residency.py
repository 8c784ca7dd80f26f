"""Where the arrays lie that grow with the edges, as a run asks for it.

``device``: all that a run reads is copied to the device, or it is refused. ``stream``: a budget of device
memory has fields, offsets, the frontier and as much of the edges as fits, and the others are read over the
link (`gpop.gpu.streamed_graph`). ``auto`` streams where the prediction says that a run does not fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpop.common.byte_sizes import as_bytes
from gpop.common.errors import UsageError


class Residency(NamedTuple):
    """One of the names above, and most bytes that a run may take of the device (None: what is free)."""

    name: str
    budget: int | None = None


ANYWHERE = Residency("auto")


def residency_of(name: str, device_memory: Any, target: str) -> Residency:
    """What was asked for, checked, of a name that the target has.

    Raises
    ------
    UsageError
        For no number of bytes, or one where there is no device.

    Examples
    --------
    >>> residency_of("stream", "4GB", "gpu")
    Residency(name='stream', budget=4000000000)
    """
    if target == "gpu":
        return Residency(name, as_bytes("device_memory", device_memory))
    if device_memory is not None:
        raise UsageError(f"device_memory = {device_memory!r}: target {target!r}: expected 'gpu'")
    return ANYWHERE

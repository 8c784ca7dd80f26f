"""What a loop looks at, where a test has but a few of its arrays."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from gpop.common.by_reference import Reference
from gpop.cpu.control import KINDS, control_of, sizes_reference
from gpop.model.bytes import Sizes


def control_with(**arrays: np.ndarray) -> Reference:
    """Of a usual run over these arrays; there is nothing in the others."""
    layout = SimpleNamespace(n=np.int64(0), k=np.int64(0), bits=np.uint32(0))
    sizes = sizes_reference(Sizes(*(0,) * len(Sizes._fields)))
    return Reference(control_of(layout, SimpleNamespace(**arrays), (False,) * KINDS, 0.0, sizes))

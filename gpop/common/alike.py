"""Whether every machine is to choose alike, whatever was measured: ``GPOP_CONSTANTS=shipped``.

Then ``auto`` goes by what gpop comes with (`gpop.model.constants.SHIPPED`), and by nobody's times.
"""

from __future__ import annotations

import os

from gpop.common.errors import UsageError

SETTING = "GPOP_CONSTANTS"


def is_shipped() -> bool:
    """Whether what gpop comes with is asked for.

    Raises
    ------
    UsageError
        If the setting is something else.
    """
    setting = os.environ.get(SETTING, "")
    if setting not in ("", "shipped"):
        raise UsageError(f"{SETTING}={setting}: expected shipped, or nothing")
    return setting == "shipped"

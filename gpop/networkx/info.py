"""What NetworkX's documentation says of this backend; read when NetworkX is imported, so it is light."""

from __future__ import annotations

from typing import Any

from gpop.networkx.functions import HOMES, NOTES


def get_info() -> dict[str, Any]:
    """The entry point ``networkx.backend_info``.

    Examples
    --------
    >>> get_info()["backend_name"]
    'gpop'
    """
    return {
        "backend_name": "gpop",
        "project": "gpop",
        "package": "gpop",
        "short_summary": "On all cores, over partitions of the graph that fit their caches.",
        "functions": {name: {"additional_docs": NOTES[name]} if name in NOTES else {} for name in HOMES},
    }

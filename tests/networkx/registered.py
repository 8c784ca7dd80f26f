"""NetworkX with the backend, also where gpop is not installed with its entry points.

``PYTHONPATH`` or not: a process that has imported NetworkX knows the backends that were installed then. A
checkout that is only on the path has none; what NetworkX's own conftest does for its test backend is done
here.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint

import networkx as nx

from gpop.networkx.info import get_info
from tests.networkx_suite import entry_points


def register() -> None:
    """Make ``backend="gpop"`` known to NetworkX; nothing where it is."""
    known = nx.utils.backends
    if "gpop" not in known.backends:
        group = "networkx.backends"
        known.backends["gpop"] = EntryPoint("gpop", entry_points()[group]["gpop"], group)
        known.backend_info["gpop"] = get_info()
        known._dispatchable.__call__ = known._dispatchable._call_if_any_backends_installed
    nx.config.warnings_to_ignore.add("cache")  # it warns whenever what is kept with a graph is used

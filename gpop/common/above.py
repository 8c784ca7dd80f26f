"""The one way up: a module of a room above, imported when something of it is called.

A room imports from the rooms below it only; the contract of layers (pyproject.toml) holds every ``import``
to that, those inside functions too. `Graph` offers conversions, because that is where users look for them,
and their code needs the graph: `gpop.interop` and `gpop.io` are above it. So its methods of that kind ask
here, by name. Nobody else may: a test lists all that do.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def module_above(name: str) -> ModuleType:
    """The module ``gpop.<name>``.

    Examples
    --------
    >>> module_above("interop.scipy_matrix").to_scipy.__name__
    'to_scipy'
    """
    return import_module(f"gpop.{name}")

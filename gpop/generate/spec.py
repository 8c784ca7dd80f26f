"""Generated graphs by one word, ``KIND:SIZE=VALUE,...``, such as ``rmat:scale=20,symmetrize``.

What stands after the colon are sizes of the kind and options of `gpop.generate.generate`.
"""

from __future__ import annotations

from typing import Any

from gpop.common.errors import UsageError
from gpop.generate import GENERATORS, generate
from gpop.graph.graph import Graph


def is_spec(text: str) -> bool:
    """Whether this is meant as a graph to generate, not as a file.

    >>> is_spec("rmat:scale=10"), is_spec("rmat.bin")
    (True, False)
    """
    kind, colon, _ = text.partition(":")
    return bool(colon) and kind in GENERATORS


def options_of(spec: str) -> dict[str, Any]:
    """Keyword arguments of `generate`.

    Raises
    ------
    UsageError
        For a part that is no size or option.

    >>> options_of("rmat:scale=10,permute,weights=1-255")
    {'scale': 10, 'permute': True, 'weights': (1, 255)}
    """
    kind, _, rest = spec.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        name, equals, value = part.partition("=")
        try:
            if name in ("symmetrize", "permute") and not equals:
                options[name] = True
            elif name == "weights":
                low, high = value.split("-")
                options[name] = (int(low), int(high))
            elif name in ("kind", "progress"):  # arguments of `generate` that are given already
                raise ValueError
            else:
                options[name] = type(GENERATORS[kind].get(name, 1))(value)
        except ValueError:
            raise UsageError(f"graph {spec}: {part!r}: expected NAME=NUMBER, symmetrize or permute") from None
    return options


def generated(spec: str, progress: bool = False) -> Graph:
    """The graph that a spec stands for."""
    return generate(spec.partition(":")[0], **options_of(spec), progress=progress)

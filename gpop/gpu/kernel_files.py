"""The files of ``kernels/`` as one text: NVRTC compiles without a folder to look in."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

INCLUDE = re.compile(r'^#include "([\w/]+)\.cuh"\n', re.MULTILINE)


@lru_cache(maxsize=64)
def kernel_text(names: tuple[str, ...]) -> str:
    """Their texts, one after the other; what several of them include stands once, before the first."""
    folder, known = Path(__file__).parent / "kernels", set[str]()

    def text_of(name: str) -> str:
        if name in known:
            return ""
        known.add(name)
        text = (folder / f"{name}.cuh").read_text()
        return INCLUDE.sub(lambda found: text_of(found[1]), text)

    return "\n".join(map(text_of, names))

"""A program in CUDA C++ as one of several ranks runs it: the user's functions, unchanged, about own vertices.

The engine knows local ids (gpop/ranks/part.py). The user's functions are compiled under other names and
called with global ids, ``gpop_shift`` above those. On the device lie own vertices only, and a field's pointer
is as far before them as they are from vertex 0: functions reach them by global ids. What ``scatterFunc`` says
of a mirror is what its owner has sent last (``gpop_message``), unless it says the same on every rank; the
others are asked about own vertices, and say False of mirrors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.gpu.c_types import c_name
from gpop.gpu.emitted import Emitted
from gpop.gpu.helpers import HINT
from gpop.gpu.source import Emitter
from gpop.program.functions import FUNCTIONS

MEMBERS = (
    ("gpop_message", np.uint64),
    ("gpop_degrees", np.uint64),
    ("gpop_shift", np.uint32),
    ("gpop_first", np.uint32),
    ("gpop_last", np.uint32),
)
"""What `State` has besides; the first two are pointers."""

STATE = f"""    const void* gpop_message;
    const unsigned* gpop_degrees;
    unsigned gpop_shift, gpop_first, gpop_last;
    {HINT} bool gpop_owns(unsigned v) const {{ return v - gpop_first < gpop_last - gpop_first; }}
    {HINT} unsigned gpop_place(unsigned v) const {{ return (gpop_owns(v) ? v : gpop_first) + gpop_shift; }}
"""

SAID = "{name}(self, v + self.gpop_shift)"
ASKED = "self.gpop_owns(v) && {name}(self, v + self.gpop_shift)"
BODIES = {
    "scatterFunc": (
        "self.gpop_owns(v) ? {name}(self, v + self.gpop_shift) : ((const {message}*)self.gpop_message)[v]"
    ),
    "gatherFunc": "{name}(self, x, v + self.gpop_shift)",
    "priorityFunc": "{name}(self, self.gpop_place(v))",
}
"""What the engine calls; `ASKED` for the other functions."""


class RankedEmitter(Emitter):
    """Emits one program for a rank; ``says``: ``scatterFunc`` may be asked about every vertex."""

    place = "state.gpop_place(v)"

    def __init__(self, cls: Any, lowered: Any, says: bool) -> None:
        super().__init__(cls, lowered)
        self.bodies = BODIES | {"scatterFunc": SAID} if says else BODIES

    def run(self, weight_dtype: Any) -> Emitted:
        """The program for edges of one weight type, or without weights."""
        emitted = super().run(weight_dtype)
        names = [name for name in FUNCTIONS if name in emitted.defined and name != "applyWeight"]
        before = [f"#define {name} own_{name}" for name in names]
        after = [f"#undef {name}" for name in names]
        wrapped = [self._wrapped(name, c_name(emitted.message_dtype)) for name in names]
        return emitted._replace(source="\n".join([*before, emitted.source, *after, *wrapped]))

    def _wrapped(self, name: str, message: str) -> str:
        answer = {"scatterFunc": message, "priorityFunc": "long long"}.get(name, "bool")
        given = ("class Self, class X", "Self& self, X x, unsigned v")
        kinds, parameters = given if name == "gatherFunc" else ("class Self", "Self& self, unsigned v")
        body = self.bodies.get(name, ASKED).format(name=f"own_{name}", message=message)
        return f"template <{kinds}> {HINT} {answer} {name}({parameters}) {{ return {body}; }}"

    def struct(self) -> str:
        """``State``, with where own vertices are."""
        return super().struct().removesuffix("};\n") + STATE + "};\n"

    def state_dtype(self) -> np.dtype:
        """``State`` as a NumPy type."""
        alone = super().state_dtype()
        return np.dtype([(name, alone[name]) for name in alone.names] + [*MEMBERS], align=True)

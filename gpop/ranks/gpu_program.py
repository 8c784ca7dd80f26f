"""A program as a rank's GPU has it: own vertices' fields, and where those are (gpop/gpu/ranked.py)."""

from __future__ import annotations

import numpy as np

from gpop.program.program import Program
from gpop.program.values import Fields
from gpop.ranks.part import Part


def own_part(program: Program, part: Part) -> Program:
    """The program with its own vertices' fields, which are those of the user's program."""
    local = object.__new__(type(program))
    local.graph = part.graph
    fields = {**program._fields, "out_degree": program.graph.out_degree}
    local._fields = Fields({name: field[part.own] for name, field in fields.items()}, {})
    local._parameters = {
        **program._parameters,
        "gpop_shift": np.uint32(part.shift),
        "gpop_first": np.uint32(part.first),
        "gpop_last": np.uint32(part.last),
    }
    return local

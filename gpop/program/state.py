"""The state tuple: what ``self`` is inside compiled functions.

A named tuple of the program's arrays (fields, ``out_degree``) and scalars (parameters, ``iteration``);
it is passed by value, so everything in it lies in registers inside a kernel. Its class is made per
program and published under the content key, because Numba's cache must be able to name it.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from gpop.program import published as registry
from gpop.program.lowering import Lowered
from gpop.program.program import Program
from gpop.program.values import Fields


def state_class(lowered: Lowered) -> type:
    """Named tuple class for the attributes that the functions use (a placeholder when there are none)."""
    names = lowered.fields + lowered.parameters + lowered.built_in or ("nothing",)
    return registry.publish_class(lambda: namedtuple("State", names), f"State_{lowered.key}")


def state_values(program: Program, lowered: Lowered) -> list:
    """What the state of a program holds now: its arrays as they are, its parameters by value."""
    fields, parameters, made = program._fields, program._parameters, program._fields.made
    values = [made[name] if name in made else fields[name] for name in lowered.fields]
    values += map(parameters.__getitem__, lowered.parameters)
    for name in lowered.built_in:
        values.append(program.graph.out_degree if name == "out_degree" else np.int64(0))
    return values or [np.int64(0)]


def read_only(fields: Fields, written: tuple[str, ...]) -> str | None:
    """The first of the fields that a program writes whose array says that nobody may; None where all may.

    Compiled code has addresses, and would not ask.
    """
    for name in written:
        array = fields.made.get(name)
        if array is not None and name not in fields.away and not array.flags.writeable:
            return name
    return None


def make_state(program: Program, lowered: Lowered) -> tuple:
    """The state of a program before the first iteration."""
    return state_class(lowered)._make(state_values(program, lowered))


def make_advance(lowered: Lowered, key: str):
    """Function ``(state, iteration) -> state`` that is called before every phase.

    What it is given has the same fields as a state, which it takes out: they stay in registers from then on.
    """
    names = state_class(lowered)._fields
    values = ", ".join("iteration" if name == "iteration" else f"state.{name}" for name in names)
    source = f"def advance(state, iteration):\n    return State({values})\n"
    namespace = {"State": state_class(lowered)}
    exec(source, namespace)
    return registry.publish(namespace["advance"], f"advance_{key}")

"""A program as a rank runs it: the user's functions, unchanged, about local vertices.

Kernels call functions with local ids. Fields are as long as the whole graph and used in place, so the wrapped
functions add the part's shift and call the user's with the global id, which may also be sent or stored. What
``scatterFunc`` says of a mirror is what its owner has sent last, from an array.

A ``scatterFunc`` that uses nothing but ``node`` and the out-degree says the same on every rank: its messages
are computed once for own vertices and mirrors, and no values travel (`Lowered.sent`). Where local ids are
global ones (`Part.everywhere`) not even that: it is called with the mirror.
"""

from __future__ import annotations

import hashlib
import types
from typing import Any

import numpy as np

from gpop.common.cached import keep, source_key
from gpop.common.inlined import KERNEL
from gpop.plan.hidden import MASK_NONE, MASK_SENT, MASK_VALUE, Hidden
from gpop.plan.plan import Plan
from gpop.program.fields import HARMLESS
from gpop.program.folds import identity
from gpop.program.functions import ARGUMENTS
from gpop.program.lowering import Lowered
from gpop.program.program import Program
from gpop.program.published import publish_user
from gpop.program.state import make_state
from gpop.program.values import Fields
from gpop.ranks.part import Part

BODIES = {
    "messageFunc": "return user({arguments})",
    "mirrorFunc": "return self.gpop_message[node]",
    "scatterFunc": (
        "if self.gpop_first <= node < self.gpop_last:\n"
        "        return user({arguments})\n"
        "    return self.gpop_message[node]"
    ),
}
"""What stands in place of ``scatterFunc`` where all vertices are own, where all are mirrors, and anywhere.
The last is the second where every rank can tell all messages (`is_told`): they are in the array, and to read
them takes no branch; where local ids are global ones, all are the first. Of the other functions the first;
they are called for own vertices, or where their answer has no effect."""


_ranked: dict[tuple[str, bool], Lowered] = {}


def ranked(lowered: Lowered, everywhere: bool) -> Lowered:
    """The wrapped functions, with a key of their own; ``everywhere``: local ids are global ones."""
    asked = lowered.key, everywhere
    if asked not in _ranked:
        _ranked[asked] = _all_wrapped(lowered, everywhere)
    return _ranked[asked]


def _all_wrapped(lowered: Lowered, everywhere: bool) -> Lowered:
    scatter = lowered.functions["scatterFunc"]
    given = {**lowered.functions, "messageFunc": scatter, "mirrorFunc": scatter}
    bodies, told = BODIES, is_told(lowered)
    if told and everywhere:
        bodies = {}
    elif told:
        bodies = BODIES | {"scatterFunc": BODIES["mirrorFunc"]}
    text = f"{lowered.key} {everywhere} {source_key(__file__)}"
    return lowered._replace(
        functions={name: _wrapped(name, function, bodies, everywhere) for name, function in given.items()},
        fields=(*lowered.fields, "out_degree", "gpop_message", "gpop_few"),
        parameters=(*lowered.parameters, "gpop_shift", "gpop_first", "gpop_last"),
        built_in=tuple(name for name in lowered.built_in if name == "iteration"),
        key=hashlib.sha256(text.encode()).hexdigest()[: len(lowered.key)],
    )


def _wrapped(
    name: str, function: types.FunctionType, bodies: dict[str, str], everywhere: bool
) -> types.FunctionType:
    if name == "applyWeight":  # it sees no vertex
        return function
    expected = ARGUMENTS.get(name, ARGUMENTS["scatterFunc"])
    # Where nothing is added, loops over vertices are as simple as alone: a sum may wrap around.
    vertex = "node" if everywhere else "np.uint32(node + self.gpop_shift)"
    passed = ", ".join(["self", *expected[1:-1], vertex])
    body = bodies.get(name, BODIES["messageFunc"]).format(arguments=passed)
    source = f"def {name}({', '.join(expected)}):\n    {body}\n"
    namespace: dict[str, Any] = {"np": np, "user": function}
    exec(compile(source, function.__code__.co_filename, "exec"), namespace)
    return namespace[name]


def local_program(program: Program, part: Part, messages: np.ndarray) -> Program:
    """The program on the local graph: the user's fields, parameters, and what wrapped functions need."""
    local = object.__new__(type(program))
    local.graph = part.graph
    made = {
        **program._fields,
        "out_degree": program.graph.out_degree,
        "gpop_message": messages,
        "gpop_few": part.few,
    }
    local._fields = Fields(made, {})
    local._parameters = {
        **program._parameters,
        "gpop_shift": np.uint32(part.shift),
        "gpop_first": np.uint32(part.first),
        "gpop_last": np.uint32(part.last),
    }
    return local


def hidden_on_ranks(plan: Plan) -> Hidden:
    """How messages of inactive vertices are hidden: those of mirrors are as old as when they were last sent.

    A fold has a value that changes nothing, for which no mark is needed.
    """
    cls, message = type(plan.program), plan.types.message
    if plan.hidden.mask != MASK_NONE or cls.inactive_message is not HARMLESS or cls.all_active:
        return plan.hidden
    if cls.combine in ("min", "max"):
        return Hidden(MASK_VALUE, identity(cls.combine, message))
    if cls.combine == "or":
        return Hidden(MASK_VALUE, message.type(0))
    return Hidden(MASK_SENT)


def is_told(lowered: Lowered) -> bool:
    """Whether values need not travel, because every rank can tell the message of any vertex."""
    return {*lowered.sent} <= {"out_degree"}


_tellers: dict[str, Any] = {}


def tell_messages(lowered: Lowered, local: Program, part: Part) -> None:
    """Compute the messages of own vertices and mirrors where `is_told`, unless the last run has left them.

    ``lowered`` is the user's.
    """
    place = ("told", local._fields["gpop_message"].dtype)
    if part.kept.get(place) == lowered.key:
        return
    part.kept.pop(place, None)
    if lowered.key not in _tellers:
        function = publish_user(lowered.functions["scatterFunc"], "scatterFunc", lowered.key)

        def tell(places, names, message, state):
            for i in range(names.size):
                message[places[i]] = function(state, names[i])

        _tellers[lowered.key] = keep(tell, f"tell_{lowered.key}_{source_key(__file__)}", **KERNEL)
    told = lowered._replace(fields=("out_degree",), parameters=(), built_in=(), key="told")
    own = np.arange(part.first, part.last)
    places = np.concatenate([own, part.mirrors])
    names = np.concatenate([own + part.shift, part.names]).astype(np.uint32)
    _tellers[lowered.key](places, names, local._fields["gpop_message"], make_state(local, told))
    part.kept[place] = lowered.key  # now that all are there

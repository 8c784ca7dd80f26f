"""From a program to its loop: what it does to partitions, compiled or loaded under a key, with its arrays.

A process has an entry for each program, set of traits and kinds of arrays; an earlier one may have left it on
disk. Which kernels it is made of: program_kernels.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from gpop.common.by_reference import Reference, ReferenceKind, derived, reference_of
from gpop.common.cached import source_key
from gpop.common.callback import callback
from gpop.common.deferred import Later
from gpop.common.inlined import KERNEL
from gpop.common.machine_code import may_be_kept
from gpop.cpu import loops
from gpop.cpu.control import control_of, sizes_reference
from gpop.cpu.schedule import NO_SCHEDULE
from gpop.cpu.traits import ALWAYS, MAYBE, NEVER, Traits
from gpop.cpu.tree import NO_TREE
from gpop.cpu.work import ARGUMENTS, Job, make_entry
from gpop.plan.chosen import Chosen
from gpop.program.lowering import Lowered

_kernels = Later("gpop.cpu.program_kernels")
"""With all that it imports: not for runs whose work is kept."""

_entries: dict[tuple, int] = {}


class Loop:
    """The loop of a run, ready to be entered with the numbers and arrays of `loop.make_loop`.

    ``renew``: take the values of another state, while no thread is in it; False where types are others.
    ``schedule``: what the loop itself writes into it, see `gpop.cpu.schedule`.
    """

    enter: Callable[..., bool] | None = None
    schedule = NO_SCHEDULE

    def __init__(
        self, kind: str, control: Reference, entries: tuple[int, int], state: Reference, job: Reference
    ) -> None:
        self.kind, self.control, self.job = kind, control, job
        self.entry, self.pull_entry = entries
        self.state, self.renew, self.places = state.table, state.renew, state.kind.places

    def ready(self) -> Loop:
        """Wait until what all programs of its kind share is compiled or loaded, too."""
        if self.enter is None:
            self.enter = loops.ready(self.kind)
        return self

    def __call__(self, *numbers: Any) -> bool:
        if self.enter is None:
            self.ready()
        work = self.entry, self.pull_entry, self.job.address
        return self.enter(*numbers, self.state, self.schedule, self.control.address, work)


def compile_loop(
    lowered: Lowered, traits: Traits, pulled_bytes: float, job: Job, chosen: Chosen | None = None
) -> Loop:
    """The loop of a run. What it does to partitions is specialised for the program, and compiled or loaded.

    ``pulled_bytes`` are those of an iteration that pulls where every vertex is active; ``chosen`` is the tree
    that chooses for iterations, if any does.
    """
    tree = NO_TREE if chosen is None else reference_of(chosen)
    kind, sizes = kind_of(traits), sizes_reference(job.sizes)
    layout, incoming, space = reference_of(job.layout), reference_of(job.incoming), reference_of(job.space)
    control = derived(
        lambda: control_of(job.layout, job.space, kind, pulled_bytes, sizes, tree),
        layout, space, kind, pulled_bytes, sizes, tree,
    )  # fmt: skip
    wire = reference_of(job.wire) if isinstance(job.wire, tuple) else job.wire
    state = Reference(job.state)
    references = Reference(Job(job.forced, job.ratio, sizes, layout, incoming, space, state, wire))
    has = loops.kind_of(
        traits.all_active, "priorityFunc" in lowered.functions, "messageFunc" in lowered.functions
    )
    may_be_asked = job.incoming.indptr.size > 0 or loops.is_under_way(has)
    entries = compile_entries(lowered, traits, references.kind, may_be_asked)
    return Loop(has, control, entries, state, references)


def kind_of(traits: Traits) -> tuple[bool, ...]:
    """The first fields of `Control`."""
    return traits.interleave, traits.pull != NEVER, traits.counting, traits.settles is not None


def compile_entries(lowered: Lowered, traits: Traits, kind: ReferenceKind, pulls: bool) -> tuple[int, int]:
    """Addresses of what a loop calls to push and to pull; 0 for the latter where it is not wanted yet.

    A loop that may do either calls the two that others have which do but one. Compiled as one function they
    leave each other fewer registers: on 420,000 edges a search that never pulled took 1.07 of the time that
    it took where it could not. And where nothing pulls there is less to compile.
    """
    if traits.pull != MAYBE or "messageFunc" in lowered.functions:
        return (compile_entry(lowered, traits, kind),) * 2
    push, pull = (traits._replace(pull=each) for each in (NEVER, ALWAYS))
    return compile_entry(lowered, push, kind), compile_entry(lowered, pull, kind) if pulls else 0


def compile_entry(lowered: Lowered, traits: Traits, kind: ReferenceKind) -> int:
    """Address of what a loop calls in its phases, for jobs of this kind."""
    asked = lowered.key, traits, kind.name
    if asked not in _entries:
        name = f"{_name_of(lowered, traits)}{kind.name}"

        def make() -> Callable:
            return make_entry(work_of(lowered, traits), kind)

        _entries[asked] = callback(make, name, make_entry.__code__.co_filename, ARGUMENTS, **KERNEL)
    return _entries[asked]


def is_loaded(lowered: Lowered, traits: Traits) -> bool:
    """Whether this process has that for jobs of some kind."""
    return any(asked[:2] == (lowered.key, traits) for asked in _entries)


def is_kept(lowered: Lowered, traits: Traits) -> bool:
    """Whether an earlier process has left that for jobs of some kind."""
    return may_be_kept(_name_of(lowered, traits), make_entry.__code__.co_filename)


def _name_of(lowered: Lowered, traits: Traits) -> str:
    """What the name of such an entry begins with."""
    return f"{lowered.name}_{key_of(lowered, traits)}_"


def key_of(lowered: Lowered, traits: Traits) -> str:
    """Key of all that goes into what a loop calls."""
    return hashlib.sha256(f"{lowered.key} {traits!r} {source_key(__file__)}".encode()).hexdigest()[:20]


def work_of(lowered: Lowered, traits: Traits) -> Callable:
    """Kernel of all phases."""
    return _kernels.ProgramKernels(lowered, traits, key_of(lowered, traits)).work()

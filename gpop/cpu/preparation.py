"""What a run on the CPU prepares: mode or tree, layout, workspace, constants of the model, compiled loop.

All of it is kept with the graph for the next run that is decided alike (`KEPT`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpop.common.by_reference import derived, reference_of
from gpop.common.kinds import INT64
from gpop.common.parallel import worker_count
from gpop.common.standby import compile_crew
from gpop.cpu import choose_mode, filling, follow, loop_state, loops, specialise, team
from gpop.cpu.active import SOURCES, drain_frontier, drain_touched, lists_of, load_frontier
from gpop.cpu.constants import LARGE_EDGES, constants
from gpop.cpu.disk import open_disk
from gpop.cpu.kept_workspace import unit_workspace, workspace_of
from gpop.cpu.layouts import Layouts, sizes_of
from gpop.cpu.schedule import NO_SCHEDULE, schedule_of
from gpop.cpu.sharing import SERIAL_EDGES
from gpop.cpu.sums import has_hub, sums_in_double
from gpop.cpu.traits import MAYBE, NEVER, activates_receivers, traits_of
from gpop.cpu.work import Job
from gpop.cpu.workspace_tables import Needs
from gpop.graph.symmetry import kernel_of_mirrored
from gpop.layout.edge_blocks import is_small
from gpop.layout.in_edges import kept_in_edges, receivers
from gpop.model.asked import code_of, split
from gpop.model.bytes import pull_all_bytes
from gpop.model.choosers import AUTO, AUTO_PUSH
from gpop.model.constants import SHIPPED
from gpop.model.strategies import PC, PULL, SC
from gpop.plan.chosen import asked_once, chosen_of, tell_missing
from gpop.plan.hidden import MASK_SENT
from gpop.plan.plan import UNLIMITED, Plan
from gpop.program.compile import compiled
from gpop.program.state import make_state, state_values

MANY_EDGES = 1 << 22
"""From so many on a search that may pull usually does."""

KEPT = (
    "mode", "traits", "blocked", "layout", "space", "lists", "incoming", "sizes", "forced", "ratio",
    "receivers", "edges", "workers", "spins", "enter_loop", "chosen", "told_alone", "settled", "constants",
)  # fmt: skip
"""What runs that were decided alike have in common, as attributes of the engine."""


class Preparation(Layouts):
    """The part of `gpop.cpu.engine.CpuEngine` that is over before the run begins.

    ``wire``: nothing where there are no other ranks; ``alone``: whether this process may measure the machine,
    which ranks would do at the same time.
    """

    wire: Any = np.int64(0)
    alone = True
    way: str | None = None
    """The mode that auto takes by its times (trial.py); None where it goes by the model."""
    blocks_from = math.inf
    """How many iterations have to be asked for before blocks are chosen that were not; infinite: none do."""

    def __init__(self, plan: Plan, residency: str = "auto") -> None:
        self.residency, self.disk = residency, None  # where the edges are, if they stay there
        self.plan, self.program, self.lowered = plan, plan.program, plan.lowered
        self.graph, self.threads, self.mode = plan.program.graph, plan.threads, plan.mode
        self.stated = False  # whether the loop has the program's state

    def prepare(self) -> dict[str, Any]:
        """Layout, workspace and loop: those of the last run decided alike, as long as they are kept."""
        plan = self.plan
        self.progress = np.zeros(loop_state.PROGRESS_SIZE, np.int64)
        self.prepare_seconds = self.incoming_seconds = 0.0
        if self.graph.facts.mapped is not None:
            self.disk = open_disk(self.graph, plan, self.residency)
            with self.disk.room():
                self._prepare()
            self.disk.begin(self.layout, self.space, self.threads)
        else:
            self._find_way()
        said = {"interleave": plan.interleave, "threads": self.threads}
        return said if self.disk is None else said | {"disk": self.disk.told}

    @property
    def tries_blocks(self) -> bool:
        """Whether blocks are chosen where they pay."""
        plan = self.plan
        return type(self.program).all_active and plan.mode == "auto" and plan.model.pulls

    def _find_way(self) -> None:
        """What a run in this `way` needs: what was noted, or made now."""
        kept = None if self.plan.alike is None else self.graph.store.noted(self._noted_under())
        if kept is None:
            self._prepare()
            self._note()
            return
        vars(self).update(kept)
        if self.plan.counting:
            self.space.counters[:] = 0

    def _noted_under(self) -> tuple:
        """Who compiles loops is part of the key: measurements put others in its place."""
        return self.plan.alike, specialise.compile_loop, self.way

    def _note(self) -> None:
        """Keep what the next run alike would find again; blocks may be chosen by then where they were not."""
        if self.stays and self.plan.alike is not None:
            self.graph.store.note(self._noted_under(), {name: getattr(self, name) for name in KEPT})

    @property
    def stays(self) -> bool:
        """Whether all is in memory, and no later run alike may choose blocks where this one did not."""
        return self.settled and self.graph.facts.mapped is None

    def _prepare(self) -> None:
        """Find or make all that a run needs."""
        plan, cls = self.plan, type(self.program)
        self._ask_tree()
        if self.way is not None:
            self.mode = self.way
        # What the loop knows from `LEAST_ALONE` on, from run to run.
        self.told_alone = np.zeros(loop_state.PROGRESS_SIZE - loop_state.LEAST_ALONE, np.int64)
        # Those of the paper's model are the paper's; a mode that is forced asks for none.
        measured = plan.model.cache and plan.mode == "auto"
        self.constants = SHIPPED
        if measured:
            measures = self.graph.m >= LARGE_EDGES and self.alone
            self.constants = constants(type(self) if measures else None)
        sums = sums_in_double(cls, self.lowered, plan.types.message) and has_hub(self.graph)
        blocks, seconds = None, 0.0
        self.settled = not self.tries_blocks or is_small(self.graph) or self.way is not None
        self.blocks_from = math.inf
        if cls.all_active and plan.may(PULL) and self.mode not in ("sc", "pc"):
            if self.mode == "pull" or plan.model.pulls:
                blocks, seconds = self._find_blocks(sums)
                if not self.settled and blocks is None:
                    self.blocks_from = self._blocks_pay_from(sums)
                self.settled = self.settled or blocks is not None or self.blocks_from == math.inf
                self.mode = "pc" if blocks is None else "pull"
        self.traits = traits_of(plan, self.mode, sums)
        self.blocked = blocks is not None
        self.lists = None
        if blocks is not None:
            self.layout, message = blocks, plan.types.message
            self.space = unit_workspace(
                self.graph.store, blocks, message, self.threads, sums, self.traits.settles is not None
            )
        else:
            self.layout, took = self._find_bins()
            seconds += took
            needs, message = self._needs(), plan.types.message
            self.space = workspace_of(self.graph.store, self.layout, needs, message, self.threads)
            of = reference_of(self.layout), reference_of(self.space)
            self.lists = derived(lambda: lists_of(self.layout, self.space), *of, "lists")
        self.incoming = (
            blocks if self.blocked else kept_in_edges(self.graph, self.traits.weight_dtype is not None)
        )
        self.sizes = plan.model.sizes(sizes_of(self.layout, self.space, self.traits, self.constants))
        self.forced = code_of(self.mode)
        if self.forced == AUTO and self.chosen is not None:
            self.forced = choose_mode.BY_TREE
        elif self.forced == AUTO and not plan.model.pulls:
            self.forced = AUTO_PUSH
        self.ratio = float(self.constants.ratio if plan.ratio is None else plan.ratio)
        if self.forced == PULL and not self.blocked:
            self._find_in_edges()
        self.receivers = self.graph.n
        if self.traits.pull != NEVER and not self.blocked:
            self.receivers = receivers(self.graph, self.incoming)
        self.edges = int(self.layout.indptr[-1])
        self._compile()
        self.prepare_seconds = seconds

    def _ask_tree(self) -> None:
        """Have the tree ready for the loop, if there is one; where every vertex is active, ask it now."""
        plan, tree = self.plan, self.plan.tree
        self.chosen, self.mode = None, split(plan.mode)[0]
        if tree is None:
            return
        if type(self.program).all_active:
            self.mode = asked_once(tree, self.graph, plan.of_run, plan.may)
        else:
            auto = AUTO if plan.model.pulls else AUTO_PUSH
            self.chosen = chosen_of(tree, self.graph, plan.of_run, plan.may, auto)
        if plan.mode != "auto":
            tell_missing(type(self.program).__name__, tree, self.graph, plan.of_run, plan.may)

    def _needs(self) -> Needs:
        """The large arrays of a run over bins."""
        plan, traits, interleave = self.plan, self.traits, self.plan.interleave
        pushes = plan.may(SC) or plan.may(PC)
        return Needs(
            sent=traits.mask == MASK_SENT and plan.may(PC),
            sc=plan.may(SC) or (self.mode == "auto" and traits.all_active),
            frontier=not traits.all_active,
            interleave=interleave,
            touched=traits.track,
            pull=traits.pull != NEVER,
            priorities="priorityFunc" in self.lowered.functions,
            receivers=activates_receivers(self.lowered, traits),
            sums=traits.sums,
            settles=traits.settles is not None,
            ranked=not (self.alone or traits.all_active),
            own_values=pushes and not (self.lowered.steady or traits.all_active or interleave),
        )

    def _compile(self) -> None:
        """Have the loop compiled or loaded before the clock starts."""
        # A run that never has enough active edges for two threads, or nothing to share, starts none; nor does
        # one start more than partitions: all would be waited for. With 5, nibble took 16 of them 1.3 times as
        # long on Intel cores.
        shares = self.edges >= SERIAL_EDGES and self.layout.k > 1
        self.workers = min(self.threads, int(self.layout.k)) - 1 if shares else 0
        self.spins = team.SPINS if self.threads <= worker_count() else 0
        self.enter_loop = None
        if self.graph.n:  # without vertices nothing is run
            functions = self.lowered.functions
            kind = loops.kind_of(
                self.traits.all_active, "priorityFunc" in functions, "messageFunc" in functions
            )
            self._ask_ahead(kind)
            self._make_loop(self._state())
            loops.help(kind)

    def _ask_ahead(self, kind: str) -> None:
        """Have what the run needs around the loop compiled by the process that compiles the loop, if one
        does, or by this one: by whoever is done first."""
        graph = self.graph
        if self.workers:
            loops.ask(kind, compile_crew)
            loops.ask(kind, follow.entry)
        may_pull = self.traits.pull == MAYBE and graph.m >= MANY_EDGES
        if may_pull and graph.facts.equals_reverse is None:
            kernel, kinds = kernel_of_mirrored(graph.indptr, graph.indices, graph.weights)
            loops.ask(kind, kernel, *kinds)
        if not self.traits.all_active:
            loops.ask(kind, load_frontier, SOURCES, self.lists.kind)
            if self.traits.track:
                loops.ask(kind, drain_touched, SOURCES, self.lists.kind)
            if self.plan.limit != UNLIMITED:
                loops.ask(kind, drain_frontier, SOURCES, INT64, self.lists.kind)
        loops.ask(kind, filling.entry)  # for the next run

    def _state(self) -> tuple:
        return make_state(self.program, self.lowered)

    def _make_loop(self, state: tuple) -> None:
        """The loop for layouts and workspace as they are now; what it calls is compiled or loaded."""
        ways = np.int64(self.forced), np.float64(self.ratio), self.sizes
        job = Job(*ways, self.layout, self.incoming, self.space, state, self.wire)
        pulled = 0.0
        if self.blocked:
            blocks = self.layout
            pulled = pull_all_bytes(blocks.n, blocks.refs.size, blocks.pieces, blocks.values_read, self.sizes)
        self.enter_loop = compiled(
            self.lowered, self.plan.types, state,
            specialise.compile_loop, self.lowered, self.traits, pulled, job, self.chosen,
        )  # fmt: skip
        self._have_stated()

    def _renewed(self) -> bool:
        """Have the program's values in the loop's table; False where they are of other types."""
        return self.enter_loop.renew(state_values(self.program, self.lowered))

    def _have_stated(self) -> None:
        """The loop has the program's state, and now its parameters that are others in each iteration."""
        series, loop = self.program._series, self.enter_loop
        loop.schedule = schedule_of(series, loop.places) if series else NO_SCHEDULE
        self.stated = True

    def _ready_loop(self) -> Callable[..., bool]:
        """The loop with the program's fields and parameters as they are now."""
        if not self.stated:
            if self.enter_loop is None or not self._renewed():
                self._make_loop(self._state())
            self._have_stated()
        return self.enter_loop.ready()

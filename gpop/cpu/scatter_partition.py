"""A partition scatters: by sources, as a whole or inside itself; and what comes before and after."""

from __future__ import annotations

from gpop.cpu import active, interleave
from gpop.cpu.choose_mode import choose_mode
from gpop.cpu.exchange_in import AS_BITS, flag_mirrors, is_left_out, is_mirrored, list_mirrors
from gpop.cpu.exchange_post import help_along


def make_scatter_phase(
    scatter_sc, scatter_pc, scatter_local, after_scatter, after_owing, all_active, step, ranked, hides
):  # fmt: skip
    """Kernel: scatter one partition; ``step`` is the interleaved step or None.

    ``ranked``: partitions of mirrors may be waited for, and have no lists yet (exchange_in.py). ``hides``: PC
    asks which vertices are in the frontier, which mirrors are known to be for so long. ``after_owing``: in
    place of ``after_scatter`` for own partitions, where others are owed what the step passes on (owed.py),
    else None.
    """
    interleaved = step is not None
    takes_bits = ranked and not all_active
    applies_own = scatter_local is not None
    flags = takes_bits and hides
    owes = after_owing is not None

    def scatter_partition(p, w, threads, forced, ratio, sizes, layout, space, state, wire):
        if ranked:
            if w == 0:
                help_along(wire.calls)
            if is_left_out(p, layout, space, state):
                return
        own_done = False
        mirrored = False
        if takes_bits:
            mirrored = is_mirrored(p, layout, state)
            if mirrored and space.exchanged[AS_BITS] != 0:
                list_mirrors(p, layout, space)
        if interleaved:
            if not mirrored:
                own_done = step(p, w, threads, layout, space, state, wire)
        direct = applies_own and interleave.is_local(p, space)
        if choose_mode(p, forced, ratio, all_active, direct, sizes, layout, space):
            if flags and mirrored:
                flag_mirrors(p, 1, layout, space)
            scatter_pc(p, w, layout, space, state)
            if flags and mirrored:
                flag_mirrors(p, 0, layout, space)
        elif applies_own and direct:
            scatter_local(p, w, layout, space, state)
            return
        else:
            scatter_sc(p, w, own_done, layout, space, state)
        if owes:
            if not mirrored:
                after_owing(p, layout, space, state, wire)
        if mirrored or not owes:
            after_scatter(p, layout, space, state)
        if interleaved:
            active.publish_row(p, w, own_done, layout, space)

    return scatter_partition

"""Which kernels a program needs, each specialised for its functions and traits, and what they are joined to.

What cannot happen is not compiled: a program that never pulls has no kernels for it, and one that always
pulls has no others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpop.common.deferred import Later
from gpop.cpu import (
    exchange,
    gather,
    interleave,
    priority,
    pull,
    pull_all,
    scatter,
    scatter_inside,
    settling,
    sums,
)
from gpop.cpu.exchange_out import make_fill_pairs, make_fill_piece
from gpop.cpu.exchange_post import make_post
from gpop.cpu.owed import make_after_owing
from gpop.cpu.scatter_partition import make_scatter_phase
from gpop.cpu.traits import ALWAYS, NEVER, Traits, activates_receivers
from gpop.cpu.work import make_work
from gpop.plan.hidden import MASK_NONE, MASK_SENT
from gpop.program.lowering import Lowered
from gpop.program.published import publish, publish_user
from gpop.program.state import make_advance

_numba = Later("numba")


class ProgramKernels:
    """The kernels of one program and set of traits."""

    def __init__(self, lowered: Lowered, traits: Traits, key: str) -> None:
        self.lowered, self.traits, self.key = lowered, traits, key
        functions = {name: publish_user(function, name, key) for name, function in lowered.functions.items()}
        self.scatterFunc, self.gatherFunc = functions["scatterFunc"], functions["gatherFunc"]
        self.initFunc, self.filterFunc = functions.get("initFunc"), functions.get("filterFunc")
        self.applyWeight, self.needsFunc = functions.get("applyWeight"), functions.get("needsFunc")
        self.priorityFunc = functions.get("priorityFunc")
        self.messageFunc = functions.get("messageFunc")  # where there are other ranks
        self.mirrorFunc = functions.get("mirrorFunc")
        self.ranked = self.messageFunc is not None
        self.owes = self.ranked and traits.interleave
        self.weighted = traits.weight_dtype is not None
        self.weight_type = _numba.from_dtype(np.dtype(traits.weight_dtype)) if self.weighted else None
        make_filter_all, make_filter = gather.make_filter_all, gather.make_filter
        self.settle = self.settle_list = None
        if traits.sums:
            self.settle = self.kernel("settle", sums.make_settle(self.gatherFunc))
            self.settle_list = self.kernel("settle_list", sums.make_settle_list(self.settle))
        self.filter = self.kernel(
            "filter",
            make_filter_all(self.filterFunc, self.settle, self.ranked)
            if traits.all_active
            else make_filter(self.filterFunc, self.priorityFunc, traits.track, self.ranked, self.owes),
        )
        self.after_scatter = self.kernel(
            "after_scatter", scatter.make_after_scatter(self.initFunc, traits.all_active, self.ranked)
        )

    def kernel(self, name, function):
        return publish(function, f"{name}_{self.key}")

    def work(self) -> Callable:
        """Kernel of all phases."""
        traits = self.traits
        scatter_partition = gather_partition = prepare = pull_partition = None
        if traits.pull != ALWAYS:
            scatter_partition, gather_partition = self.scatter_and_gather()
        if traits.pull != NEVER:
            prepare, pull_partition = self.prepare_and_pull()
        admit = defer_frontier = exchange_messages = share_exchange = None
        if self.priorityFunc is not None:
            admit = self.kernel("admit", priority.make_admit(self.priorityFunc, self.ranked))
            defer_frontier = self.kernel("defer_frontier", priority.make_defer_frontier(self.priorityFunc))
        if self.ranked:
            exchange_messages, share_exchange = self.exchange_and_share()
        note_changes = decide = None
        if traits.settles is not None:
            note_changes, decide = self.settling(*traits.settles)
        work = make_work(
            scatter_partition, gather_partition, prepare, pull_partition, admit, defer_frontier,
            exchange_messages, share_exchange, make_advance(self.lowered, self.key), note_changes, decide,
            traits.all_active,
        )  # fmt: skip
        return self.kernel("work", work)

    def exchange_and_share(self):
        fill_pairs = self.kernel("fill_pairs", make_fill_pairs(self.messageFunc))
        fill_piece = self.kernel("fill_piece", make_fill_piece(self.messageFunc, self.traits.all_active))
        post, all_active = self.kernel("post", make_post(fill_pairs)), self.traits.all_active
        scatters = self.traits.pull == NEVER and not self.traits.interleave
        return (
            self.kernel("exchange", exchange.make_exchange(post, all_active, scatters)),
            self.kernel("share_exchange", exchange.make_share(fill_piece, all_active)),
        )

    def settling(self, field, tolerance):
        change_of = self.kernel("change_of", settling.make_read(f"state.{field}[v]"))
        chunk_from = self.kernel("chunk_from", settling.make_read(f"sum_of_rows(state.{field}, v)"))
        tolerance_of = self.kernel("tolerance_of", settling.make_read(f"state.{tolerance}"))
        sum_changes = self.kernel("sum_changes", settling.make_sum_changes(change_of, chunk_from))
        blocked = self.traits.pull == ALWAYS
        note_changes = settling.make_note_changes(sum_changes, blocked)
        decide = settling.make_decide(sum_changes, tolerance_of, blocked)
        return self.kernel("note_changes", note_changes), self.kernel("decide", decide)

    def scatter_and_gather(self):
        _, all_active, mask, inactive, interleaved, _, _, counting, summing, _ = self.traits

        def gather_bin(name, mask, activates):
            functions = self.gatherFunc, self.applyWeight, self.weight_type
            of_bin = gather.make_gather_bin(*functions, activates, mask, inactive, summing, self.owes)
            return self.kernel(name, of_bin)

        gather_dense, marked = None, mask == MASK_SENT
        certain = activates_receivers(self.lowered, self.traits)
        if marked:
            gather_dense = gather_bin("gather_marked", mask, True)
        elif certain:
            gather_dense = gather_bin("gather_full", mask, False)
        # Marks are of no meaning where only active vertices send.
        gather_each = gather_bin("gather_bin", MASK_NONE if marked else mask, not all_active)
        gather_one = self.kernel(
            "gather_one", gather.make_gather_one(gather_each, gather_dense, marked, counting)
        )
        if all_active:
            gather_partition = gather.make_gather_all(gather_one, self.filter)
        else:
            gather_partition = gather.make_gather(
                gather_one, self.filter, self.settle_list, interleaved, certain
            )
        step = scatter_local = after_owing = None
        if interleaved:
            step = self.interleaved_step(gather_one)
            if self.owes:
                after_owing = self.kernel("after_owing", make_after_owing(self.initFunc))
        elif not all_active:
            scatter_local = self.kernel(
                "scatter_local",
                scatter_inside.make_scatter_inside(
                    self.scatterFunc, self.gatherFunc, self.applyWeight, self.after_scatter,
                    self.settle_list, self.weight_type, not self.lowered.steady, counting,
                ),
            )  # fmt: skip
        scatter_sc = scatter.make_scatter_sc(
            self.scatterFunc, self.weighted, all_active, interleaved, counting
        )
        row = self.row("row", self.messageFunc if self.ranked else self.scatterFunc)
        mirror_row = self.row("mirror_row", self.mirrorFunc) if self.ranked else None
        scatter_partition = make_scatter_phase(
            self.kernel("scatter_sc", scatter_sc),
            self.kernel("scatter_pc", scatter.make_scatter_pc(row, mirror_row, counting)),
            scatter_local, self.after_scatter, after_owing, all_active, step, self.ranked,
            self.traits.mask != MASK_NONE,
        )  # fmt: skip
        return self.kernel("scatter", scatter_partition), self.kernel("gather", gather_partition)

    def row(self, name, scatterFunc):
        """Messages of a row of bins; interleaved runs never stream, they read them at once."""
        _, _, mask, inactive, interleaved, *_ = self.traits
        row = self.kernel(name, scatter.make_row(scatterFunc, mask, inactive, False))
        if interleaved:
            return row
        streamed_row = self.kernel(f"streamed_{name}", scatter.make_row(scatterFunc, mask, inactive, True))
        return self.kernel(f"either_{name}", scatter.make_either_row(row, streamed_row))

    def interleaved_step(self, gather_one):
        counting = self.traits.counting
        apply_own_edges = interleave.make_apply_own_edges(
            self.scatterFunc, self.gatherFunc, self.applyWeight, self.filterFunc, self.priorityFunc,
            self.weight_type, self.initFunc is None, self.traits.track, counting, self.owes,
        )  # fmt: skip
        step = interleave.make_interleaved_step(
            self.kernel("gather_published", interleave.make_gather_published(gather_one, counting)),
            self.filter,
            self.kernel("apply_own_edges", apply_own_edges),
            self.owes,
        )
        return self.kernel("step", step)

    def prepare_and_pull(self):
        counting = self.traits.counting
        if self.traits.all_active:
            prepare = pull_all.make_prepare_all(self.scatterFunc)
            message = self.kernel("message", pull_all.make_message(self.applyWeight, self.weight_type))
            deliver = self.kernel("deliver", pull_all.make_deliver(self.gatherFunc, self.traits.sums))
            prepare = self.kernel("prepare", prepare)
            four = self.kernel("four", pull_all.make_four(message))
            finish = None
            if self.filterFunc is not None or self.traits.sums:
                finish = pull_all.make_finish(self.settle, self.initFunc, self.filterFunc)
                finish = self.kernel("finish", finish)
            pull_partition = pull_all.make_pull_all(
                message, four, deliver, finish, self.initFunc, prepare, self.traits.sums, counting,
                self.ranked,
            )  # fmt: skip
        else:
            keeps_values = not self.lowered.steady
            prepare = pull.make_prepare(self.scatterFunc, self.after_scatter, keeps_values, self.ranked)
            prepare = self.kernel("prepare", prepare)
            pull_partition = pull.make_pull(
                self.scatterFunc, self.gatherFunc, self.applyWeight, self.needsFunc, self.weight_type,
                self.filter, keeps_values, self.traits.sums and self.needsFunc is None, counting, self.ranked,
            )  # fmt: skip
        return prepare, self.kernel("pull", pull_partition)

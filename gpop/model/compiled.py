"""The formulas and the choosers as parts of compiled loops.

In their own files they are plain Python, so that a trace can be read and drawn without a compiler. `inline`
registers them with it: a kernel that imports them from here can call them, and so can they each other.
"""

from __future__ import annotations

from gpop.common.inlined import inline
from gpop.model import bytes as formulas
from gpop.model import choosers, features, gpu_bytes, link_bytes

sc_bytes = inline(formulas.sc_bytes)
pc_bytes = inline(formulas.pc_bytes)
edges_looked_at = inline(formulas.edges_looked_at)
pull_bytes = inline(formulas.pull_bytes)
pull_all_bytes = inline(formulas.pull_all_bytes)
wanting_bytes = inline(gpu_bytes.wanting_bytes)
asked_by = inline(link_bytes.asked_by)
prefers_pc = inline(choosers.prefers_pc)
prefers_bins = inline(choosers.prefers_bins)
divides = inline(choosers.divides)
may_pull = inline(choosers.may_pull)
prefers_pull = inline(choosers.prefers_pull)
prefers_asking = inline(choosers.prefers_asking)
missed_bytes = inline(choosers.missed_bytes)
step_feature = inline(features.step_feature)

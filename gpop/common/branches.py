"""Where branches lie in kernels: not across the borders of 32-byte lines, on processors that mind.

On Intel's processors from Skylake to Cascade Lake a branch that crosses such a border, or ends at it, is not
kept in the cache of decoded instructions (Intel, *Mitigations for Jump Conditional Code Erratum*, 2019). An
inner loop then takes 10 to 20 % longer or not, as its place in the kernel falls out, and an edit of anything
else may move it. LLVM can pad the code instead: loops become as fast as they ever are.
"""

from __future__ import annotations

import llvmlite.binding

from gpop.common.numba_version import IS_TESTED

AFFECTED = ("skylake", "skylake-avx512", "cascadelake")
"""LLVM's names of them; those between have the name of the first."""

OPTION = "--x86-branches-within-32B-boundaries"


def keep_branches_within_lines(processor: str | None = None) -> bool:
    """Tell LLVM, before anything is compiled, if this is such a processor; whether it was told."""
    affected = IS_TESTED and (processor or llvmlite.binding.get_host_cpu_name()) in AFFECTED
    if affected:  # LLVM ends the process at an option that it does not know
        llvmlite.binding.set_option("gpop", OPTION)
    return affected

"""Numba's compiler for functions that only become part of others (inlined.py): it ends where LLVM begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import register_jitable

from gpop.common.inlined import KERNEL
from gpop.common.numba_private import (
    HAS_PARTS,
    CompilerBase,
    DefaultPassBuilder,
    JITCodeLibrary,
    NativeLowering,
    _dynfunc,
    config,
    dump,
    known_options,
    register_pass,
)


class _Part(JITCodeLibrary):
    """Code that is linked into that of its callers, and never run by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True
        if config.DUMP_OPTIMIZED:  # as Numba does: what is handed to the callers
            dump(f"OPTIMIZED DUMP {self.name}", self.get_llvm_str(), "llvm")


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    _name = "gpop_part_lowering"

    def run_pass(self, state: Any) -> bool:
        before = state.library, state.flags
        try:
            return self.lower_part(state)
        except (AttributeError, ImportError, TypeError):
            state.library, state.flags = before
            return super().run_pass(state)

    def lower_part(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags = state.flags.copy()
        state.flags.no_compile = True
        super().run_pass(state)
        # What stands for the function in the tables of the compiler; there is nothing to be called.
        lowered = state["cr"]
        name = _dynfunc.make_function(
            lowered.fndesc.lookup_module(), state.func_id.func_name, "", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(name, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=name)
        return True


class Inlined(CompilerBase):
    """Numba's pipeline up to LLVM's input."""

    def define_pipelines(self) -> list:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_PartLowering if step is NativeLowering else step, about) for step, about in passes.passes
        ]
        passes.finalize()
        return [passes]


PIPELINE = {"pipeline_class": Inlined} if HAS_PARTS else {}
"""Options of ``njit`` for a function that only becomes part of others."""

_tell = register_jitable(forceinline=True, **PIPELINE, **known_options(KERNEL))


def tell_inline(function: Callable) -> None:
    """Have Numba make a function part of every kernel that calls it."""
    _tell(function)

"""How functions are compiled that only become part of others: typed and lowered, but not optimised.

Numba finishes every function that it meets: LLVM optimises it together with all that it calls and makes
machine code of it, and then does the same again for its caller. A helper that nobody calls by itself needs
none of this: it is optimised once, as part of the loop that it is inlined into. Where Numba is not what
this was written for, the function is compiled as any other: the same result, later.
"""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from gpop.common.numba_private import (
    HAS_PARTS,
    LEAN_OPTIONS,
    CompilerBase,
    DefaultPassBuilder,
    JITCodeLibrary,
    NativeLowering,
    _dynfunc,
    config,
    dump,
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


KERNEL = {"error_model": "numpy", **LEAN_OPTIONS}
"""How kernels are compiled. They allocate nothing, so they need no reference counts: each array that a
function touches would otherwise cost a pair of atomic updates, most of the time of a small iteration.
Division by zero gives what NumPy gives, since an exception would leave the other threads waiting. Nobody
calls them from C, so they need no entry for that."""

_pipeline = {"pipeline_class": Inlined} if HAS_PARTS else {}
inline = register_jitable(forceinline=True, **_pipeline, **KERNEL)
"""Decorator of a function that becomes part of every kernel that calls it."""

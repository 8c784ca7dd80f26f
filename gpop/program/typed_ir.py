"""Numba's own typed form of a function: its blocks, the type of every variable, the signature of every call.

The passes are those of Numba's compiler up to type inference, under the options that the CPU kernels
have, and nothing is compiled. So whatever a target makes of the result starts from the types that the
CPU code has: 64-bit literals, promotions, signed and unsigned, float32 and float64.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, NamedTuple

from numba import from_dtype, types

from gpop.common import deferred
from gpop.common.numba_private import (
    FunctionPass,
    NopythonTypeInference,
    PreLowerStripPhis,
    compiler,
    cpu_target,
    register_pass,
)
from gpop.program.lowering import Lowered
from gpop.program.program import Program
from gpop.program.state import state_class


class TypedFunction(NamedTuple):
    """A function for one list of argument types; ``blocks`` are Numba IR without phi nodes."""

    function: FunctionType
    arguments: tuple[str, ...]
    argument_types: tuple[Any, ...]
    blocks: dict[int, Any]
    types: dict[str, Any]
    signatures: dict[Any, Any]
    return_type: Any


@register_pass(mutates_CFG=False, analysis_only=True)
class _Keep(FunctionPass):
    """Makes the typed form the result of the compiler."""

    _name = "gpop_keep_typed_form"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.cr = TypedFunction(
            state.func_id.func,
            tuple(state.func_ir.arg_names),
            tuple(state.args),
            state.func_ir.blocks,
            state.typemap,
            state.calltypes,
            state.return_type,
        )
        return False


class _Inference(compiler.CompilerBase):
    def define_pipelines(self) -> list:
        passes = compiler.DefaultPassBuilder.define_untyped_pipeline(self.state, "gpop_inference")
        passes.add_pass(NopythonTypeInference, "types")
        passes.add_pass(PreLowerStripPhis, "phi nodes become assignments")
        passes.add_pass(_Keep, "keep the result")
        passes.finalize()
        return [passes]


def infer(function: FunctionType, argument_types: tuple[Any, ...]) -> TypedFunction:
    """Type a function; raises Numba's own errors."""
    deferred.compiler()  # it may call functions of gpop
    flags = compiler.Flags()
    flags.error_model = "numpy"
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    return compiler.compile_extra(
        cpu_target.typing_context, cpu_target.target_context, function, argument_types, None, flags, {},
        pipeline_class=_Inference,
    )  # fmt: skip


def state_type(cls: type[Program], lowered: Lowered) -> Any:
    """Type of ``self``: that of the tuple which the CPU kernels get."""
    built_in = {"out_degree": types.Array(types.uint32, 1, "C"), "iteration": types.int64}
    members = [types.Array(from_dtype(cls.vertex_fields()[name].dtype), 1, "C") for name in lowered.fields]
    members += [from_dtype(cls.scalar_parameters()[name].dtype) for name in lowered.parameters]
    members += [built_in[name] for name in lowered.built_in]
    return types.NamedTuple(members or [types.int64], state_class(lowered))

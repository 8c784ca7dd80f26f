"""What gpop takes of Numba beyond its documented interface: the file to look at for another version of it.

Three kinds. Without the first nothing works: the intermediate form that the rules of a program are checked
on, the builders of intrinsics and of arrays, functions that are called by their address. The second types
programs for the GPU. The third makes kernels leaner (inlined.py) and compiling faster (compile_faster.py):
where it is not there, or Numba is not one of the versions below, plain ``numba.njit`` does the same slower.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from typing import Any
from uuid import uuid4

import numba

from gpop.common.branches import keep_branches_within_lines
from gpop.common.deferred import uncollected
from gpop.common.errors import GpopError
from gpop.common.interrupts import held_back, let_through
from gpop.common.kernel_folder import can_keep, numba_folder, tell_not_kept
from gpop.common.machine_code import Symbols
from gpop.common.numba_version import IS_TESTED, TESTED

_range = f"gpop was tested with Numba {TESTED[0]} to {TESTED[1]}, this is {numba.__version__}"

if not IS_TESTED:
    warnings.warn(f"{_range}: results may differ, and compiling takes longer", RuntimeWarning, stacklevel=2)

try:
    from numba import from_dtype, njit, typeof
    from numba.core import (
        base,
        cgutils,
        compiler,
        compiler_machinery,
        config,
        errors,
        event,
        ir,
        lowering,
        transforms,
        typeinfer,
        types,
        utils,
    )
    from numba.core.base import BaseContext
    from numba.core.ccallback import CFunc
    from numba.core.compiler import CompilerBase, DefaultPassBuilder, run_frontend
    from numba.core.compiler_machinery import FunctionPass, register_pass
    from numba.core.cpu import CPUContext, CPUTargetOptions
    from numba.core.imputils import lower_getattr_generic
    from numba.core.postproc import PostProcessor, VariableLifetime
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys
    from numba.core.targetconfig import ConfigStack, TargetConfig
    from numba.core.typed_passes import NativeLowering, NopythonTypeInference, PreLowerStripPhis
    from numba.core.types.functions import BaseFunction
    from numba.core.typing.builtins import NumberClassAttribute
    from numba.core.typing.npydecl import NumpyRulesArrayOperator
    from numba.core.typing.templates import (
        AttributeTemplate,
        infer,
        infer_global,
        make_intrinsic_template,
    )
    from numba.core.typing.templates import _OverloadFunctionTemplate as OverloadTemplate
    from numba.extending import overload
    from numba.np.numpy_support import as_dtype, ufunc_find_matching_loop
except ImportError as error:
    raise GpopError(f"{_range}: {error}") from error

try:
    from numba import _dynfunc
    from numba.core.codegen import JITCodeLibrary, dump
except ImportError:
    _dynfunc, JITCodeLibrary, dump = None, object, None


keep_branches_within_lines()
_one_at_a_time = RLock()
HAS_PARTS = IS_TESTED and _dynfunc is not None
"""Whether functions can be compiled as parts of others only (common/inlined_parts.py)."""


def known_options(options: dict[str, Any]) -> dict[str, Any]:
    """Those options of kernels that this Numba has; the others make kernels leaner, no different."""
    return {name: value for name, value in options.items() if hasattr(CPUTargetOptions, name)}


def tell_intrinsic(define: Callable) -> None:
    """Have a call of this function in a kernel become what it defines."""
    template = make_intrinsic_template(define, define, define.__name__)
    infer(template)
    infer_global(define, numba.types.Function(template))


def kept_dispatcher(function: Callable, options: dict[str, Any]) -> Any:
    """What Numba makes of a function whose name stands for its content."""
    kernel = numba.njit(nogil=True, **known_options(options))(function)
    keep_on_disk(kernel, function.__code__.co_filename)
    give_files_names(kernel)
    pass_over_damage(kernel)
    keep_if_possible(kernel)
    load_at_once(kernel)
    compile_undisturbed(kernel)
    return kernel


def kept_callback(function: Callable, name: str, arguments: int, options: dict[str, Any]) -> CFunc:
    """The same for one of so many int64 that is called by its ``address``; it is compiled, or loaded."""
    function.__qualname__ = name
    signature = (numba.types.int64,) * arguments, numba.types.void
    kernel = CFunc(function, signature, {}, known_options(options))
    keep_on_disk(kernel, function.__code__.co_filename)
    give_files_names(kernel)
    pass_over_damage(kernel)
    keep_if_possible(kernel)
    load_at_once(kernel)
    compile_undisturbed(kernel)
    kernel.compile()
    return kernel


def entry_for_python(made: Any) -> tuple[Symbols, bytes] | None:
    """The symbols and the object file of what Numba has compiled or loaded, if they are all that it needs.

    An environment has what code takes from Python while it runs: the values of an exception, what is printed.
    """
    used = made.referenced_envs or made._find_referenced_environments()
    if made.objectmode or made.lifted or made.reload_init or any(each.consts for each in used):
        return None
    code = _object_file(made.library)
    return code and (Symbols(made.fndesc.llvm_cpython_wrapper_name, made.fndesc.env_name), code)


def entry_by_address(made: CFunc) -> tuple[Symbols, bytes] | None:
    """The same of what is called by its address; its arguments are numbers, and it takes nothing else."""
    code = _object_file(made._library)
    return code and (Symbols(made.native_name), code)


def _object_file(library: Any) -> bytes | None:
    return getattr(library, "_compiled_object", None) or getattr(library, "gpop_object_file", None)


def keep_on_disk(kernel: Any, file: str) -> None:
    """Have Numba keep what it compiles of a kernel of this file, where there is a folder for that."""
    if not can_keep(file):
        tell_not_kept(file)
        return
    with _one_at_a_time:
        asked = config.CACHE_DIR
        config.CACHE_DIR = asked or numba_folder(file)
        try:
            with suppress(RuntimeError):  # Numba's own folder is none that can be written
                kernel.enable_caching()
        finally:
            config.CACHE_DIR = asked


def give_files_names(kernel: Any) -> None:
    """Have what is kept of a kernel on disk in files of names that no other has, instead of numbered ones."""
    file = getattr(kernel._cache, "_cache_file", None)
    if hasattr(file, "_data_name") and hasattr(file, "_index_name"):
        stem = file._index_name.removesuffix(".nbi")
        file._data_name = lambda number: f"{stem}.{uuid4().hex[:16]}.nbc"


def pass_over_damage(kernel: Any) -> None:
    """Have a file that was cut, or emptied, count as not there: what it kept is made anew."""
    file = getattr(kernel._cache, "_cache_file", None)
    for name, nothing in (("_load_index", dict), ("_load_data", _nothing)):
        if hasattr(file, name):
            setattr(file, name, _unless_damaged(getattr(file, name), nothing))


def _unless_damaged(load: Callable, nothing: Callable) -> Callable:
    def loaded(*given: Any) -> Any:
        try:
            return load(*given)
        except Exception:  # there is no list of what pickle raises
            return nothing()

    return loaded


def keep_if_possible(kernel: Any) -> None:
    """Have a kernel that finds no room on disk run all the same; the next process compiles it again."""
    save = kernel._cache.save_overload

    def save_overload(signature: Any, data: Any) -> None:
        with suppress(OSError):
            save(signature, data)

    kernel._cache.save_overload = save_overload


def _nothing() -> None:
    pass


def is_kept(kernel: Any) -> bool:
    """Whether Numba keeps something of a kernel whose name stands for its content, or it is not known."""
    path = getattr(getattr(kernel._cache, "_cache_file", None), "_index_path", None)
    return path is None or os.path.exists(path)


def load_at_once(kernel: Any) -> None:
    """Have what is kept of a kernel loaded without first filling the tables of the compiler.

    These say how to compile each function of Python and NumPy that Numba knows, which takes half of the time
    of a short command (SciPy is imported to find out whether it is there). A kernel that is loaded needs none
    of them; one that is compiled has them filled then. Nor does it need extensions of Numba: to find these,
    what every installed package says of itself is read.
    """
    kept = kernel._cache
    if IS_TESTED and hasattr(kept, "_load_overload") and hasattr(kept, "_guard_against_spurious_io_errors"):
        find_extensions = getattr(kernel, "_compilation_chain_init_hook", _nothing)
        rebuild = kept._impl.rebuild

        def rebuild_and_note(target_context: Any, payload: tuple) -> Any:
            made = rebuild(target_context, payload)
            made.library.gpop_object_file = payload[0][2][0]  # Numba forgets it
            return made

        kept._impl.rebuild = rebuild_and_note

        def load_overload(signature: Any, target_context: Any) -> Any:
            rtsys.initialize(target_context)  # what code that hands out arrays calls
            with kept._guard_against_spurious_io_errors():
                found = kept._load_overload(signature, target_context)
            if found is None:
                find_extensions()
            return found

        kept.load_overload = load_overload
        kernel._compilation_chain_init_hook = _nothing


class _GoodMoments(event.Listener):
    """Between the passes of the compiler: nothing of LLVM is under way."""

    def on_start(self, event: Any) -> None:
        let_through()

    def on_end(self, event: Any) -> None:
        pass


def compile_undisturbed(kernel: Any) -> None:
    """Have nothing come between when a kernel is compiled, or loaded.

    An interrupt inside a call of LLVM leaves its lock taken, and the next call waits forever; inside what
    LLVM calls back it is lost, and LLVM goes on with nothing in its hands. So it waits for the next pass.
    """
    compile_kernel = kernel.compile

    def compile_at_once(*signature: Any) -> Any:
        with uncollected(), held_back(), event.install_listener("numba:run_pass", _GoodMoments()):
            return compile_kernel(*signature)

    kernel.compile = compile_at_once


__all__ = [
    "HAS_PARTS", "IS_TESTED", "TESTED", "AttributeTemplate", "BaseContext", "BaseFunction", "CFunc",
    "CPUContext", "CompilerBase", "ConfigStack", "DefaultPassBuilder", "FunctionPass", "JITCodeLibrary",
    "NativeLowering", "NopythonTypeInference", "NumberClassAttribute", "NumpyRulesArrayOperator",
    "OverloadTemplate", "PostProcessor", "PreLowerStripPhis", "TargetConfig", "VariableLifetime",
    "_dynfunc", "as_dtype", "base", "cgutils", "compile_undisturbed", "compiler", "compiler_machinery",
    "config", "cpu_target", "dump", "entry_by_address", "entry_for_python", "errors", "event", "from_dtype",
    "ir", "is_kept", "kept_callback", "kept_dispatcher", "known_options", "lower_getattr_generic", "lowering",
    "njit", "overload", "register_pass", "rtsys", "run_frontend", "tell_intrinsic", "transforms", "typeinfer",
    "typeof", "types", "ufunc_find_matching_loop", "utils",
]  # fmt: skip

"""Arrays that report every access to the cache simulator, for kernels compiled from their own source.

Numba compiles a kernel anew for new argument types. `TracedArray` is such a type: it behaves as the array
it wraps (``array[i:]`` is traced as well), and each ``array[i]`` and ``array[i] = x`` first goes to
`perf.cache_simulator`. So the stream of accesses that is simulated is that of the real kernels, whatever
becomes of them; nothing is rewritten. What differs from the machine code: the compiler keeps some values in
registers that are counted here as accesses to a line used just before (L1 hits).

Atomic operations, prefetches and stores past the caches go to the wrapped array and are not counted, nor are
arrays of more than one dimension (trace, counters).

Addresses are made up: arrays lie one after the other, each on a page of its own, so that results repeat.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import (
    intrinsic,
    lower_builtin,
    make_attribute_wrapper,
    models,
    overload,
    overload_attribute,
    register_model,
)

from gpop.common.inlined import KERNEL
from perf.cache_simulator import access

PAGE = 4096


class TracedArray(types.ArrayCompatible):
    """Numba type: an array, its first address in the simulation, and the cache."""

    def __init__(self, array: types.Array, cache: types.Array) -> None:
        self.array, self.cache = array, cache
        super().__init__(name=f"TracedArray({array}, {cache})")

    @property
    def as_array(self) -> types.Array:
        return self.array

    @property
    def dtype(self) -> types.Type:
        return self.array.dtype


@register_model(TracedArray)
class _TracedModel(models.StructModel):
    def __init__(self, manager, kind):
        members = [("array", kind.array), ("base", types.uint64), ("cache", kind.cache)]
        super().__init__(manager, kind, members)


for _name in ("array", "base", "cache"):
    make_attribute_wrapper(TracedArray, _name, _name)


@lower_builtin("__array__", TracedArray)
def _wrapped(context, builder, signature, args):
    """What atomic operations and prefetches see; argument and result are pointers."""
    return cgutils.create_struct_proxy(signature.args[0])(context, builder, ref=args[0])._get_ptr_by_name(
        "array"
    )


@intrinsic
def traced(typingctx, array, base, cache):
    """``array`` as it appears to a kernel that is simulated."""
    kind = TracedArray(array, cache)

    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(kind)(context, builder)
        made.array, made.base, made.cache = args
        return made._getvalue()

    return kind(array, types.uint64, cache), codegen


@overload(operator.getitem, jit_options=KERNEL)
def _get(array, index):
    if isinstance(array, TracedArray) and isinstance(index, types.SliceType):

        def part(array, index):
            base = array.base + np.uint64(index.start) * np.uint64(array.array.itemsize)
            return traced(array.array[index], base, array.cache)

        return part

    if isinstance(array, TracedArray):

        def get(array, index):
            access(array.cache, array.base + np.uint64(index) * np.uint64(array.array.itemsize))
            return array.array[index]

        return get


@overload(operator.setitem, jit_options=KERNEL)
def _set(array, index, value):
    if isinstance(array, TracedArray):

        def set(array, index, value):
            access(array.cache, array.base + np.uint64(index) * np.uint64(array.array.itemsize))
            array.array[index] = value

        return set


@overload(len, jit_options=KERNEL)
def _len(array):
    if isinstance(array, TracedArray):
        return lambda array: len(array.array)


@overload_attribute(TracedArray, "size", jit_options=KERNEL)
def _size(array):
    return lambda array: array.array.size


@overload_attribute(TracedArray, "itemsize", jit_options=KERNEL)
def _itemsize(array):
    return lambda array: array.array.itemsize


class Addresses:
    """Where arrays lie in the simulation; an array keeps its place, seen through whatever name."""

    def __init__(self) -> None:
        self._bases: dict[int, int] = {}
        self._next = PAGE

    def of(self, array: np.ndarray) -> int:
        pointer = array.ctypes.data
        if pointer not in self._bases:
            self._bases[pointer] = self._next
            self._next += (array.nbytes // PAGE + 2) * PAGE
        return self._bases[pointer]

    def forget(self) -> None:
        """Arrays may have been freed and others have taken their place."""
        self._bases.clear()


def is_traced(value: Any) -> bool:
    """Whether a member of a named tuple is an array that is traced."""
    return isinstance(value, np.ndarray) and value.ndim == 1


def with_tracing(kernel: Any, plain: int) -> Any:
    """Compile ``kernel(*plain arguments, *named tuples)`` for traced members of the named tuples.

    Returns ``call(cache, addresses, *arguments)``.
    """
    compiled = {}

    def call(cache: np.ndarray, addresses: Addresses, *arguments: Any) -> Any:
        given = arguments[plain:]
        bases = np.array(
            [addresses.of(value) if is_traced(value) else 0 for values in given for value in values],
            np.uint64,
        )
        shape = tuple(tuple(is_traced(value) for value in values) for values in given)
        if shape not in compiled:
            compiled[shape] = _wrap(kernel, plain, given)
        return compiled[shape](cache, bases, *arguments)

    return call


def _wrap(kernel: Any, plain: int, given: tuple) -> Any:
    names: dict[str, Any] = {"traced": traced, "kernel": njit(**KERNEL)(kernel), "np": np}
    position, tuples = 0, []
    for i, values in enumerate(given):
        names[f"Tuple{i}"] = type(values)
        members = []
        for name, value in zip(type(values)._fields, values, strict=True):
            member = f"tuple{i}.{name}"
            if is_traced(value):
                member = f"traced({member}, bases[{position}], cache)"
            members.append(member)
            position += 1
        tuples.append(f"Tuple{i}({', '.join(members)})")
    arguments = [f"plain{i}" for i in range(plain)] + [f"tuple{i}" for i in range(len(given))]
    inner = arguments[:plain] + tuples
    source = f"def simulated(cache, bases, {', '.join(arguments)}):\n    return kernel({', '.join(inner)})\n"
    exec(source, names)
    return njit(nogil=True, **KERNEL)(names["simulated"])

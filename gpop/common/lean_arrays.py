"""Elements of arrays in kernels, in a tenth of the instructions that Numba writes for LLVM.

Numba puts an array into memory, which it clears first, and reads its parts from there, each time that an
element is looked at: some fifty instructions, of which LLVM leaves three. Here parts are taken out of the
value: kernels are a third shorter before LLVM, and the same after it. Only what kernels do is done so: an
integer for every axis, elements that are numbers. The rest is left to Numba, and so is everything where
bounds are checked.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin

from gpop.common.deferred import Later

numpys = Later("numba.np.arrayobj")

WORD = ir.IntType(64)


def part(context: Any, builder: Any, kind: types.Array, array: Any, name: str, *axis: int) -> Any:
    """A field of an array, or of its ``shape`` or ``strides`` that of an axis."""
    place = context.data_model_manager[kind].get_field_position(name)
    return builder.extract_value(array, [place, *axis])


def array_value(context: Any, builder: Any, kind: types.Array, data: Any, shape: list, strides: list) -> Any:
    """An array of this type over ``data``, which nobody owns."""
    model = context.data_model_manager[kind]
    value = ir.Constant(model.get_value_type(), None)
    size = shape[0] if shape else WORD(1)
    for extent in shape[1:]:
        size = builder.mul(size, extent, flags=["nsw"])
    element = WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    for name, known in (("nitems", size), ("itemsize", element), ("data", data)):
        value = builder.insert_value(value, known, model.get_field_position(name))
    for name, known in (("shape", shape), ("strides", strides)):
        for axis, each in enumerate(known):
            value = builder.insert_value(value, each, [model.get_field_position(name), axis])
    return value


def element_pointer(
    context: Any, builder: Any, kind: types.Array, array: Any, index_types: tuple, indices: list
) -> Any:
    """Address of an element; an index below 0 counts from the end."""

    def at(axis: int) -> Any:
        given, index = index_types[axis], indices[axis]
        if not given.signed:
            return context.cast(builder, index, given, types.uintp)
        index = context.cast(builder, index, given, types.intp)
        if isinstance(index, ir.Constant) and index.constant >= 0:
            return index
        from_end = builder.add(index, part(context, builder, kind, array, "shape", axis))
        return builder.select(builder.icmp_signed("<", index, WORD(0)), from_end, index)

    data, axes = part(context, builder, kind, array, "data"), range(kind.ndim)
    if kind.layout == "C" or (kind.layout == "F" and kind.ndim == 1):
        place = at(0)
        for axis in axes[1:]:
            extent = part(context, builder, kind, array, "shape", axis)
            place = builder.add(builder.mul(place, extent), at(axis))
        return builder.gep(data, [place])
    offset = WORD(0)
    for axis in axes:
        stride = part(context, builder, kind, array, "strides", axis)
        offset = builder.add(offset, builder.mul(at(axis), stride))
    byte = ir.IntType(8).as_pointer()
    return builder.bitcast(builder.gep(builder.bitcast(data, byte), [offset]), data.type)


def _indices(context: Any, builder: Any, kind: types.Array, given: Any, index: Any) -> tuple | None:
    """Types and values of one integer for each axis, or None."""
    several = isinstance(given, types.BaseTuple)
    found = tuple(given) if several else (given,)
    known = kind.ndim == len(found) > 0 and all(isinstance(each, types.Integer) for each in found)
    if context.enable_boundscheck or not known or not isinstance(kind.dtype, types.Number | types.Boolean):
        return None
    values = [builder.extract_value(index, axis) for axis in range(kind.ndim)] if several else [index]
    return found, values


def _get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, given = signature.args
    found = _indices(context, builder, kind, given, arguments[1])
    if found is None:
        one = isinstance(given, types.Integer)
        left = numpys.getitem_arraynd_intp if one else numpys.getitem_array_tuple
        return left(context, builder, signature, arguments)
    return numpys.load_item(
        context, builder, kind, element_pointer(context, builder, kind, arguments[0], *found)
    )


def _put(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, given, valued = signature.args
    found = _indices(context, builder, kind, given, arguments[1])
    if found is None:
        return numpys.setitem_array(context, builder, signature, arguments)
    pointer = element_pointer(context, builder, kind, arguments[0], *found)
    value = context.cast(builder, arguments[2], valued, kind.dtype)
    return numpys.store_item(context, builder, kind, value, pointer)


@cache
def install() -> None:
    """Have Numba take elements so."""
    for index in (types.Integer, types.BaseTuple):
        lower_builtin(operator.getitem, types.Array, index)(_get)
        lower_builtin(operator.setitem, types.Array, index, types.Any)(_put)

"""Numba's type of a `Reference`, and how its fields are read in kernels (by_reference.py)."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import NativeValue, infer_getattr, models, register_model, unbox

from gpop.common.by_reference import SLOT, ReferenceKind
from gpop.common.lean_arrays import array_value
from gpop.common.numba_private import AttributeTemplate, lower_getattr_generic

WORD, PLACE = ir.IntType(64), ir.IntType(32)


class ReferenceType(types.Type):
    """Named as its kind, and with the types of its fields."""

    def __init__(self, kind: ReferenceKind) -> None:
        self.fields = {name: field.numba_type() for name, field in kind.fields.items()}
        self.places, self.size = kind.places, kind.size
        super().__init__(kind.name)


def opened(kind: ReferenceKind) -> Any:
    """What `gpop.common.by_reference.opener` defines: the address as it is."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], WORD.as_pointer())

    return kind.numba_type()(types.int64), codegen


@register_model(ReferenceType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: ReferenceType) -> None:
        super().__init__(manager, kind, WORD.as_pointer())


@unbox(ReferenceType)
def _unbox(kind: ReferenceType, obj: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(obj, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, WORD.as_pointer()))


@infer_getattr
class _Fields(AttributeTemplate):
    key = ReferenceType

    def generic_resolve(self, kind: ReferenceType, attribute: str) -> types.Type | None:
        return kind.fields.get(attribute)


@lower_getattr_generic(ReferenceType)
def _load_field(context: Any, builder: Any, kind: ReferenceType, table: Any, attribute: str) -> Any:
    field, at = kind.fields[attribute], kind.places[attribute]

    def load(place: int, of: Any) -> Any:
        slot = builder.gep(table, [ir.Constant(PLACE, place)])
        loaded = builder.load(builder.bitcast(slot, of.as_pointer()))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(field, ReferenceType):
        pointer, size = load(at, WORD.as_pointer()), ir.Constant(WORD, SLOT * field.size)
        pointer.set_metadata("dereferenceable", builder.module.add_metadata([size]))
        return pointer
    if not isinstance(field, types.Array):
        model = context.data_model_manager[field]
        return model.from_data(builder, load(at, model.get_data_type()))
    element = context.get_data_type(field.dtype)
    shape = [load(at + 1 + axis, WORD) for axis in range(field.ndim)]
    strides = [ir.Constant(WORD, context.get_abi_sizeof(element))]
    if field.layout == "C":
        for axis in range(field.ndim - 1, 0, -1):
            strides.insert(0, builder.mul(strides[0], shape[axis]))
    else:
        strides = [load(at + 1 + field.ndim + axis, WORD) for axis in range(field.ndim)]
    return array_value(context, builder, field, load(at, element.as_pointer()), shape, strides)

"""Named tuples of arrays that kernels are given as one address.

Numba passes a named tuple by value: an array is seven numbers, so a workspace of forty arrays is three
hundred parameters of every function that it is handed to. To write, read and optimise them was much of what
compiling took, and a call from Python took every array apart. A `Reference` is the address of a table in
memory. A kernel is given it as it is, or opens an address (`opener`), and reads a field where it uses it.

Table: slots of 8 bytes, field after field. A number is one slot, and so is another `Reference`. An array is
its address and its length in each dimension, and where it is not contiguous its strides in bytes. While a
kernel runs its tables do not change, and are as long as their types say: the compiler is told both, so that
it reads a field once, before the loop that uses it.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from itertools import chain
from struct import pack_into
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import NativeValue, infer_getattr, intrinsic, models, register_model, unbox

from gpop.common.numba_private import AttributeTemplate, array_value, lower_getattr_generic

SLOT = 8
"""Bytes of a slot."""

WORD, PLACE = ir.IntType(64), ir.IntType(32)


class ReferenceType(types.Type):
    """Numba's type of a `Reference`: the name of the tuple's class, and the names and types of its fields.

    Its name ends in a hash of them, because it becomes part of the name of every function that takes one.
    """

    def __init__(self, of: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.fields, self.places, at = dict(fields), {}, 0
        for name, field in fields:
            self.places[name] = at
            at += _slots(field)
        self.size = at
        digest = hashlib.sha256(str([(name, str(field)) for name, field in fields]).encode()).hexdigest()
        super().__init__(f"{of}_{digest[:16]}")


def _slots(field: types.Type) -> int:
    """How many a field takes.

    Examples
    --------
    >>> [_slots(field) for field in (types.int32, types.uint8[::1], types.uint8[:, ::1], types.uint8[:, :])]
    [1, 2, 3, 5]
    """
    if not isinstance(field, types.Array):
        return 1
    return 1 + field.ndim * (1 if field.layout == "C" else 2)


def _type_of(value: Any) -> types.Type:
    """Its type; arrays that may not be written are no others for kernels, which do not write those."""
    if isinstance(value, np.ndarray):
        return _array_type(value.dtype, value.ndim, value.flags.c_contiguous, value.flags.aligned)
    if isinstance(value, np.generic):
        return _number_type(value.dtype)
    return value.kind if isinstance(value, Reference) else numba.typeof(value)


@cache
def _array_type(dtype: np.dtype, ndim: int, contiguous: bool, aligned: bool) -> types.Array:
    return types.Array(from_dtype(dtype), ndim, "C" if contiguous else "A", aligned=aligned)


@cache
def _number_type(dtype: np.dtype) -> types.Type:
    return from_dtype(dtype)


@cache
def _kind(of: str, names: tuple[str, ...], kinds: tuple[types.Type, ...]) -> ReferenceType:
    return ReferenceType(of, tuple(zip(names, kinds, strict=True)))


def _form(value: Any) -> Any:
    """What the type of a field follows from, of objects that are quickly compared."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.aligned
    if isinstance(value, np.generic):
        return value.dtype
    return value.kind if isinstance(value, Reference) else type(value)


def _slots_of(value: Any, kind: types.Type) -> Iterable[int]:
    """What stands in the table for a field."""
    if isinstance(value, np.ndarray):
        address = value.__array_interface__["data"][0]
        strides = () if kind.layout == "C" else (stride % 2**64 for stride in value.strides)
        return (address, *value.shape, *strides)
    if isinstance(value, Reference):
        return (value.address,)
    if isinstance(value, np.generic):
        return (int.from_bytes(value.tobytes(), "little"),)
    return (int.from_bytes(np.asarray(value).tobytes(), "little"),)


class Reference:
    """The table of a named tuple, whose arrays must live as long as it is used (references in it do).

    Examples
    --------
    >>> from collections import namedtuple
    >>> Pair = namedtuple("Pair", "size, data")
    >>> pair = Pair(2, np.array([7, 8]))
    >>> reference = Reference(pair)
    >>> open_pair = opener(reference.kind)
    >>> @numba.njit
    ... def last(address):
    ...     pair = open_pair(address)
    ...     return pair.data[pair.size - 1]
    >>> last(reference.address)
    8
    """

    __slots__ = ("_numba_type_", "address", "forms", "inner", "kind", "table")

    def __init__(self, values: tuple) -> None:
        self.forms = tuple(map(_form, values))
        kinds = tuple(map(_type_of, values))
        self._numba_type_ = self.kind = _kind(type(values).__name__, values._fields, kinds)
        slots = chain.from_iterable(map(_slots_of, values, kinds))
        self.table = np.fromiter(slots, np.uint64, self.kind.size)
        self.address = self.table.ctypes.data
        self.inner = [value for value in values if isinstance(value, Reference)]  # else their tables may go

    def renew(self, values: tuple) -> bool:
        """Have other values of the same types in the table; False, and nothing done, for other types.

        Whose kernels read the table meanwhile sees some of either.
        """
        if tuple(map(_form, values)) != self.forms:
            return False
        slots = chain.from_iterable(map(_slots_of, values, self.kind.fields.values()))
        pack_into(f"{self.kind.size}Q", self.table, 0, *slots)
        return True


_made: dict[tuple, tuple[Reference, tuple]] = {}
"""What `reference_of` has made, by the identities of the fields; with the numbers, and weakly the arrays."""

_gone: list[weakref.ref] = []
"""Arrays that are no more, noted by a function of C: an interrupt in one of Python's would be lost."""


def reference_of(values: tuple) -> Reference:
    """The one that was made for these very objects before, else a new one.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Pair = namedtuple("Pair", "size, data")
    >>> pair = Pair(np.int64(2), np.array([7, 8]))
    >>> [reference_of(pair) is reference_of(Pair(size, pair.data)) for size in (pair.size, 3)]
    [True, False]
    """
    if _gone:  # before another object is taken for one of them
        _forget_gone()
    key = (type(values), *map(id, values))
    made = _made.get(key)
    if made is None:
        held = tuple(
            weakref.ref(each, _gone.append) if isinstance(each, np.ndarray) else each for each in values
        )
        made = _made[key] = Reference(values), held
    return made[0]


def _forget_gone() -> None:
    """Forget what was made of them; done again where an interrupt comes between."""
    noted = len(_gone)
    for key, (_, held) in list(_made.items()):
        if [each for each in held if isinstance(each, weakref.ref) and each() is None]:
            _made.pop(key, None)
    del _gone[:noted]


_derived: dict[tuple, Reference] = {}

MOST = 256
"""Of those; they are small."""


def derived(make: Callable[[], tuple], *of: Hashable) -> Reference:
    """A reference to what is made of others' arrays, and of what else is named: made once for these.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Pair, Data = namedtuple("Pair", "size, data"), namedtuple("Data", "data")
    >>> pair = Pair(2, np.array([7, 8]))
    >>> whole = reference_of(pair)
    >>> derived(lambda: Data(pair.data), whole, "data") is derived(lambda: Data(pair.data), whole, "data")
    True
    """
    if of not in _derived:
        if len(_derived) >= MOST:
            _derived.clear()
        _derived[of] = Reference(make())
    return _derived[of]


def opener(kind: ReferenceType) -> Any:
    """Function of kernels that takes an address (int64) for a reference of this kind."""

    @intrinsic
    def open_reference(typingctx: Any, address: types.Type) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], WORD.as_pointer())

        return kind(types.int64), codegen

    return open_reference


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
    itemsize = ir.Constant(WORD, context.get_abi_sizeof(element))
    data = load(at, element.as_pointer())
    return array_value(context, builder, field, data, shape, strides, itemsize)

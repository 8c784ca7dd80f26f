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

import numpy as np

from gpop.common.deferred import Later, intrinsic, when_compiling
from gpop.common.kinds import ArrayKind, Kind, kind_of

_types = Later("gpop.common.reference_type")

SLOT = 8
"""Bytes of a slot."""


class ReferenceKind:
    """The kind of a `Reference`: the name of the tuple's class, and the names and kinds of its fields.

    Its name ends in a hash of them, because it becomes part of the name of every function that takes one.
    """

    def __init__(self, of: str, fields: tuple[tuple[str, Kind], ...]) -> None:
        self.fields, self.places, at = dict(fields), {}, 0
        for name, field in fields:
            self.places[name] = at
            at += _slots(field)
        self.size = at
        digest = hashlib.sha256(str(fields).encode()).hexdigest()
        self.name = f"{of}_{digest[:16]}"

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple:
        return _kind, (self.name.rpartition("_")[0], tuple(self.fields), tuple(self.fields.values()))

    def numba_type(self) -> Any:
        """Numba's type of it."""
        return _type_of(self)


@cache
def _type_of(kind: ReferenceKind) -> Any:
    return _types.ReferenceType(kind)


def _slots(field: Kind) -> int:
    """How many a field takes.

    Examples
    --------
    >>> from gpop.common.kinds import NumberKind
    >>> [_slots(field) for field in (NumberKind("int32"), ArrayKind("uint8"), ArrayKind("uint8", 2, "A"))]
    [1, 2, 5]
    """
    if not isinstance(field, ArrayKind):
        return 1
    return 1 + field.ndim * (1 if field.layout == "C" else 2)


def _form(value: Any) -> Any:
    """What its kind follows from, of objects that are quickly compared."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.aligned
    return value.kind if isinstance(value, Reference) else kind_of(value)


def _kind_of_form(form: Any) -> Kind:
    """The kind; arrays that may not be written are no others for kernels, which do not write those."""
    return _array_kind(*form) if type(form) is tuple else form


@cache
def _array_kind(dtype: np.dtype, ndim: int, contiguous: bool, aligned: bool) -> ArrayKind:
    return ArrayKind(dtype.name, ndim, "C" if contiguous else "A", aligned=aligned)


@cache
def _kind(of: str, names: tuple[str, ...], kinds: tuple[Kind, ...]) -> ReferenceKind:
    return ReferenceKind(of, tuple(zip(names, kinds, strict=True)))


def _slots_of(value: Any, kind: Kind) -> Iterable[int]:
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
    >>> import numba
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

    __slots__ = ("address", "forms", "inner", "kind", "table")

    def __init__(self, values: tuple) -> None:
        forms = tuple(map(_form, values))
        kinds = tuple(map(_kind_of_form, forms))
        # A number of NumPy is known by its class again.
        self.forms = tuple(
            type(value) if isinstance(value, np.generic) else form
            for value, form in zip(values, forms, strict=True)
        )
        self.kind = _kind(type(values).__name__, values._fields, kinds)
        slots = chain.from_iterable(map(_slots_of, values, kinds))
        self.table = np.fromiter(slots, np.uint64, self.kind.size)
        self.address = self.table.ctypes.data
        self.inner = [value for value in values if isinstance(value, Reference)]  # else their tables may go

    @property
    def kind_of_reference(self) -> ReferenceKind:
        """What `gpop.common.kinds.kind_of` says of it."""
        return self.kind

    @property
    def _numba_type_(self) -> Any:
        return self.kind.numba_type()

    def renew(self, values: Iterable) -> bool:
        """Have other arrays, numbers of NumPy and references there; False, and nothing done, for other types.

        Whose kernels read the table meanwhile sees some of either. Every run does this, so it calls nothing
        for a value: after a loop that has filled the caches each function of Python takes 3 us.
        """
        slots: list[int] = []
        inner: list[Reference] = []
        for value, form in zip(values, self.forms, strict=True):
            if type(value) is np.ndarray and type(form) is tuple:
                flags = value.flags
                if (value.dtype, value.ndim, flags.c_contiguous, flags.aligned) != form:
                    return False
                slots.append(value.__array_interface__["data"][0])
                slots += value.shape
                if not form[2]:
                    slots += [stride % 2**64 for stride in value.strides]
            elif type(value) is form:
                slots.append(int.from_bytes(value.tobytes(), "little"))
            elif type(value) is Reference and value.kind is form:
                slots.append(value.address)
                inner.append(value)
            else:
                return False
        pack_into(f"{self.kind.size}Q", self.table, 0, *slots)
        self.inner = inner
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


def opener(kind: ReferenceKind) -> Any:
    """Function of kernels that takes an address (int64) for a reference of this kind."""

    @intrinsic
    def open_reference(typingctx: Any, address: Any) -> Any:
        return _types.opened(kind)

    return open_reference


when_compiling(lambda: _types.ReferenceType)

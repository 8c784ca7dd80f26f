"""What a program keeps: `VertexField`, one value per vertex, and `Parameter`, one scalar; and `HARMLESS`.

Both are descriptors of a `gpop.program.program.Program`: on the class they say type and first value, on a
program they are an array of length ``n`` and a NumPy scalar.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.arguments import plain
from gpop.common.errors import UsageError
from gpop.program.recipes import pattern_of
from gpop.program.values import device_kind

DTYPES = tuple(
    np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"
    )
)  # fmt: skip
"""Types that compiled code computes with on every target."""

SCALARS = (bool, int, float, np.generic)


def _scalar_dtype(dtype: Any, what: str) -> np.dtype:
    """One of `DTYPES` (in the byte order of the machine, where another was asked for), or a `UsageError`."""
    try:
        found = np.dtype(dtype).newbyteorder("=")
    except TypeError:
        found = None
    if found is None or found not in DTYPES:  # separately: None equals float64
        name = repr(dtype) if found is None else found
        raise UsageError(f"{what} of type {name}: expected one of {', '.join(map(str, DTYPES))}")
    return found


def _scalar(dtype: np.dtype, value: Any, what: str) -> np.generic:
    """The value in this type, or a `UsageError`; a fraction is no whole number, and None not NaN."""
    try:
        scalar = dtype.type(value)
        lossless = value is not None and not isinstance(value, str)
        lossless &= isinstance(scalar, np.generic) and (dtype.kind not in "iu" or scalar == value)
    except (TypeError, ValueError, OverflowError):
        lossless = False
    if not lossless:
        raise UsageError(f"{what} = {plain(value)!r}: expected a value of type {dtype}")
    return scalar


def _series(dtype: np.dtype, values: Any, what: str) -> np.ndarray:
    """Several values in this type, or a `UsageError`."""
    if not len(values):
        raise UsageError(f"{what} = {values!r}: expected a value of type {dtype}, or a list of some")
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == dtype.kind == "f":
        return values.astype(dtype)  # as one by one, in a call
    return np.array([_scalar(dtype, value, f"{what}, value {i}") for i, value in enumerate(values)], dtype)


class _Harmless:
    """Type of `HARMLESS`."""

    def __repr__(self) -> str:
        return "gpop.HARMLESS"


HARMLESS = _Harmless()
"""``inactive_message = gpop.HARMLESS``: what ``scatterFunc`` returns for an inactive vertex does no harm."""


class VertexField:
    """One value of a scalar type per vertex; on a program it is a NumPy array of length ``n``.

    Assigning an array of a device (CuPy's, Numba's, a tensor of PyTorch) makes it the field: a run with
    ``target="gpu"`` works in it and leaves it there.

    Parameters
    ----------
    dtype : NumPy scalar type
        bool, an integer of 8 to 64 bits, float32 or float64.
    fill : scalar
        Value of every vertex in a new program.

    Raises
    ------
    UsageError
        For another type, or a value that it does not hold.

    Examples
    --------
    >>> import gpop
    >>> class Labels(gpop.Program):
    ...     label = VertexField(np.uint32, 7)
    >>> Labels(gpop.Graph.from_edges([0, 1], [1, 2], n=3)).label
    array([7, 7, 7], dtype=uint32)
    """

    def __init__(self, dtype: Any, fill: Any = 0) -> None:
        self.dtype = _scalar_dtype(dtype, "vertex field")
        self.fill = fill
        _scalar(self.dtype, fill, "fill")
        self.pattern = pattern_of(fill, self.dtype)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, program: Any, owner: type) -> Any:
        if program is None:
            return self
        array = program._fields.made.get(self.name)
        return program._fields.shown(self.name) if array is None else array

    def __set__(self, program: Any, value: Any) -> None:
        """``program.field = values`` copies into the field's own array; a device array is taken as it is.

        Values that a field of whole numbers would cut are refused, in one pass over them.
        """
        kind = device_kind(value)
        if kind is not None:
            shape, dtype, fits = kind
            if shape != (program.graph.n,) or dtype != self.dtype:
                raise UsageError(
                    f"field {self.name}: a device array of {dtype}{shape}: "
                    f"expected {self.dtype}({program.graph.n},)"
                )
            if not fits:
                raise UsageError(
                    f"field {self.name}: a device array with gaps, or that may not be written: expected one "
                    "that a run can work in"
                )
            program._fields.put_away(self.name, value)
        elif isinstance(value, SCALARS) or value is None:
            program._fields.assign_all(self.name, _scalar(self.dtype, value, f"field {self.name}"))
        else:
            program._fields[self.name][:] = self._values(value, program.graph.n)

    def _values(self, given: Any, length: int) -> np.ndarray:
        """One value for each vertex, or a `UsageError`; none is cut to a whole number of the type."""
        try:
            values = np.asarray(given)
        except (TypeError, ValueError):  # lists that differ in length
            values = np.array(None)
        if values.shape == () and values.dtype.kind in "biuf":
            return np.broadcast_to(_scalar(self.dtype, values[()], f"field {self.name}"), length)
        what, expected = f"field {self.name}", f"expected {length} values of type {self.dtype}, or one"
        if values.dtype.kind not in "biufO" or values.shape != (length,):
            found = f"{values.dtype} of shape {values.shape}" if values.shape else type(given).__name__
            raise UsageError(f"{what}: {found}: {expected}")
        if self.dtype.kind not in "iu" or np.can_cast(values.dtype, self.dtype):
            if values.dtype.kind != "O":
                return values
        try:
            with np.errstate(invalid="ignore"):
                kept = values.astype(self.dtype)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"{what}: a list of other things than numbers: {expected}") from None
        lost = np.flatnonzero(kept != values) if self.dtype.kind in "iu" else ()
        if len(lost):
            wrong = plain(values[lost[0]])
            raise UsageError(f"{what}, vertex {lost[0]}: {wrong!r}: expected a value of type {self.dtype}")
        return kept


class Parameter:
    """One scalar that the functions read; a program (or a callback between iterations) sets it.

    Assigning several values gives it one for each iteration, and the last of them in all that follow.

    Parameters
    ----------
    dtype : NumPy scalar type
        bool, an integer of 8 to 64 bits, float32 or float64.
    default : scalar
        Its value in a new program.

    Raises
    ------
    UsageError
        For another type, or a default that it does not hold.

    Examples
    --------
    >>> import gpop
    >>> class Decay(gpop.Program):
    ...     rate = Parameter(np.float32, 0.5)
    >>> decay = Decay(gpop.Graph.from_edges([0], [1], n=2))
    >>> decay.rate = 0.25
    >>> decay.rate
    np.float32(0.25)
    >>> decay.rate = [0.5, 0.25, 0.125]
    >>> decay.rate
    np.float32(0.5)
    """

    def __init__(self, dtype: Any, default: Any = 0) -> None:
        self.dtype = _scalar_dtype(dtype, "parameter")
        self.default = _scalar(self.dtype, default, "default")

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, program: Any, owner: type) -> Any:
        return self if program is None else program._parameters[self.name]

    def __set__(self, program: Any, value: Any) -> None:
        what = f"parameter {self.name}"
        if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
            series = _series(self.dtype, value, what)
            program._series = {**program._series, self.name: series}
            value = series[0]
        elif program._series:
            program._series = {name: each for name, each in program._series.items() if name != self.name}
        program._parameters[self.name] = _scalar(self.dtype, value, what)

"""A value that is made when somebody looks at it, and objects that have such values for attributes."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from gpop.common.interrupts import held_back


class OnDemand:
    """A value that nobody has looked at yet.

    Examples
    --------
    >>> OnDemand(lambda: 6 * 7).value
    42
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make: Callable[[], Any] | None = make
        self._value: Any = None

    @property
    def value(self) -> Any:
        """Made once, whoever looks at the same time or interrupts; what it is made of is let go."""
        # Most values are never looked at: the lock is made by who looks, and is the first one's for all.
        with self.__dict__.setdefault("_one_at_a_time", RLock()), held_back():
            if self._make is not None:
                self._value = self._make()
                self._make = None
            return self._value


class Retold(OnDemand):
    """The same of what is made in a moment and may be made twice: nobody is locked out or held back for it.

    An attribute that is given so (`WithDemands`) is the first that was made, whoever looks.

    Examples
    --------
    >>> Retold(lambda: 6 * 7).value
    42
    """

    @property
    def value(self) -> Any:
        """Made for each who looks here."""
        return self._make()


class WithDemands:
    """Base of frozen dataclasses: an attribute that is given as `OnDemand` is made when it is looked at.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Answer(WithDemands):
    ...     number: int
    >>> Answer(OnDemand(lambda: 6 * 7))
    Answer(number=42)
    """

    def __post_init__(self) -> None:
        # Out of the way of attribute lookup, which then comes to __getattr__.
        waiting = {name: value for name, value in self.__dict__.items() if isinstance(value, OnDemand)}
        if waiting:
            for name in waiting:
                del self.__dict__[name]
            self.__dict__["_waiting"] = waiting

    @classmethod
    def made(cls, waiting: dict[str, OnDemand], **attributes: Any) -> Self:
        """The same of what is known to wait and of other attributes: in a third of the time."""
        new = object.__new__(cls)
        vars(new).update(attributes, _waiting=waiting)
        return new

    def __dir__(self) -> list[str]:
        """Attributes that nobody has looked at are there, too: editors complete them."""
        return [*super().__dir__(), *self.__dict__.get("_waiting", ())]

    if not TYPE_CHECKING:  # else every attribute would seem to be there

        def __getattr__(self, name: str) -> Any:
            waiting = self.__dict__.get("_waiting", {}).get(name)
            if waiting is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return self.__dict__.setdefault(name, waiting.value)

    def __getstate__(self) -> dict[str, Any]:
        """Attributes, all of them made."""
        made = {name: getattr(self, name) for name in self.__dict__.get("_waiting", ())}
        return {name: value for name, value in self.__dict__.items() if name != "_waiting"} | made

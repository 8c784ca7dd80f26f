"""A value that is made when somebody looks at it, and objects that have such values for attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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


def looked_at(value: Any) -> Any:
    """The value itself, which is made if it waits.

    Examples
    --------
    >>> looked_at(42), looked_at(OnDemand(lambda: 42))
    (42, 42)
    """
    return value.value if isinstance(value, OnDemand) else value


class Together(Mapping[str, Retold]):
    """Attributes of these names that are made together, when somebody looks at one of them.

    Examples
    --------
    >>> together = Together(("one", "two"), lambda: {"one": 1, "two": 2})
    >>> together["two"].value, list(together)
    (2, ['one', 'two'])
    """

    def __init__(self, names: tuple[str, ...], make: Callable[[], dict[str, Any]]) -> None:
        self._names = names
        self._make: Callable[[], dict[str, Any]] | None = make

    def __getitem__(self, name: str) -> Retold:
        if name not in self._names:
            raise KeyError(name)
        return Retold(lambda: looked_at(self._all()[name]))

    def _all(self) -> dict[str, Any]:
        """Those that were made first, whoever looks at the same time; what they are made of is let go."""
        make = self._make
        if make is not None:
            vars(self).setdefault("_made", make())
            self._make = None
        return vars(self)["_made"]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


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
    def _made(cls, waiting: Mapping[str, OnDemand], **attributes: Any) -> Self:
        """The same of what is known to wait and of other attributes: in a third of the time."""
        new = object.__new__(cls)
        vars(new).update(attributes, _waiting=waiting)
        return new

    @classmethod
    def _of_both(cls, attributes: dict[str, Any]) -> Self:
        """The same of attributes some of which wait."""
        new = object.__new__(cls)
        kept, waiting = vars(new), {}
        for name, value in attributes.items():
            (waiting if isinstance(value, OnDemand) else kept)[name] = value
        kept["_waiting"] = waiting
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

"""A compiled function: its machine code where that is kept, else Numba's dispatcher of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any

from gpop.common.deferred import compiler
from gpop.common.interrupts import held_back
from gpop.common.kernel_folder import can_keep
from gpop.common.kinds import Kind, kind_of
from gpop.common.machine_code import load_function, place_of, store

_one_at_a_time = RLock()


class Kernel:
    """A function that is compiled, or loaded, when it is first called with arguments of some kinds.

    Calls go to machine code as long as all that were asked for is kept; from the first that is not, to Numba.
    ``named``: whether the function's name stands for all that goes into it; else only Numba keeps it.
    """

    def __init__(self, function: Callable, options: dict[str, Any], named: bool) -> None:
        self.py_func, self.options, self.named = function, options, named
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self._loaded: dict[tuple[Kind, ...], Callable] = {}
        self._dispatcher: Any = None

    def __call__(self, *given: Any) -> Any:
        if self._dispatcher is None:
            kinds = tuple(map(kind_of, given))
            found = self._loaded.get(kinds) or (None if None in kinds else self._load(kinds))
            if found is not None:
                return found(*given)
            return self._call_first(given, kinds)
        return self._dispatcher(*given)

    def _call_first(self, given: tuple, kinds: tuple[Kind | None, ...]) -> Any:
        """Have Numba compile, or load, what these arguments want; keep its machine code."""
        types = tuple(map(compiler().typeof, given))
        result = self.dispatcher(*given)
        if None not in kinds:
            self._keep(kinds, types)
        return result

    def compile(self, kinds: tuple[Kind, ...]) -> Callable:
        """What is called with arguments of these kinds."""
        found = self._loaded.get(kinds) or self._load(kinds)
        if found is None:
            types = tuple(kind.numba_type() for kind in kinds)
            found = self.dispatcher.compile(types)
            self._keep(kinds, types)
        return found

    @property
    def signatures(self) -> list[Any]:
        """For what it is compiled or loaded."""
        return [*self._loaded, *(self._dispatcher.signatures if self._dispatcher is not None else ())]

    @property
    def targetoptions(self) -> dict[str, Any]:
        """Options as Numba looks at them where another kernel calls this one."""
        return self.dispatcher.targetoptions

    def is_kept(self, kinds: tuple[Kind, ...]) -> bool:
        """Whether there is machine code for these kinds; where none is ever kept, whether Numba has it."""
        place = self._place(kinds)
        if place is None:
            return can_keep(self.py_func.__code__.co_filename) and compiler().is_kept(self.dispatcher)
        return place.exists()

    @property
    def dispatcher(self) -> Any:
        """Numba's own, which keeps what it compiles, too."""
        if self._dispatcher is None:
            with held_back():
                made = compiler().kept_dispatcher(self.py_func, self.options)
            with _one_at_a_time:
                self._dispatcher = self._dispatcher or made
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """Its type where it is called by another kernel."""
        return compiler().typeof(self.dispatcher)

    def _place(self, kinds: tuple[Kind, ...]) -> Path | None:
        return place_of(self.__qualname__, self.py_func.__code__.co_filename, kinds) if self.named else None

    def _load(self, kinds: tuple[Kind, ...]) -> Callable | None:
        with _one_at_a_time:
            if kinds not in self._loaded:
                found = load_function(self._place(kinds), self.__name__)
                if found is None:
                    return None
                self._loaded[kinds] = found
            return self._loaded[kinds]

    def _keep(self, kinds: tuple[Kind, ...], types: tuple) -> None:
        with held_back():
            made = self.dispatcher.overloads.get(types)
            found = made and compiler().entry_for_python(made)
            if found:
                store(self._place(kinds), *found)

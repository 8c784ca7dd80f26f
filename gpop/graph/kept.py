"""Kept data: what was built for a graph and stays with it, with its bytes, until it is dropped.

Every graph has one `Store`. An entry has a `Kind`, a key within the kind, a value, and the arrays that it
holds, whose bytes are counted (`gpop.graph.kept_bytes`).

Graphs that are made of a graph (its reverse, its symmetric copy, its other orders) are entries with a store
of their own, and what is kept with them is listed and dropped with them: stores are a tree.

Where what is kept on the host would pass a limit, and where memory is short before something is built, the
entries of the whole tree go, the least recently used first. What a run uses now stays: all that was asked
for since the run began, and graphs that a run is on. A graph that is made of others counts as used when
they are. Recency is a number from one clock of the process, written when an entry is asked for.

What is made of entries and takes no room of its own is *noted*: it is there until one of them comes or goes.

Who changes a store holds the graph (`gpop.graph.exclusive`), or does nothing that cannot happen twice:
entries are put whole, and found or not.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from enum import StrEnum
from typing import Any

from gpop.common.errors import UsageError
from gpop.common.memory import available_bytes, require_memory
from gpop.graph.kept_bytes import Kept, KeptList, addresses, bytes_of

LIMIT: int | None = None
"""Most bytes of host memory that are kept with a graph; None: `SHARE` of what was available at first."""

SHARE = 0.75

SMALL = 1 << 20
"""For less nobody asks the system how much memory it has: that takes longer than to fill it."""

MOST_NOTED = 64
"""Notes of a graph; they are small, since the arrays are those of entries."""

clock = itertools.count(1)
"""Of the process: says what was asked for before what."""

stores: weakref.WeakSet[Store] = weakref.WeakSet()  # of the process


class Kind(StrEnum):
    """What is kept; the key within the kind is beside it."""

    DEGREES = "out-degrees"  # None
    OUT_WEIGHTS = "out-weights"  # None: their sum for each vertex
    SHARES = "shares of edges"  # type, whether by weights: what an out-edge of each vertex gets of its rank
    IDS = "original ids"  # None: the vertex of each
    REVERSE = "reverse"  # None
    SEARCHES = "searches"  # None: what breadth-first searches work in, while none does; or "likely sources"
    SYMMETRIC = "symmetric copy"  # None
    BOTH_WAYS = "edges both ways"  # None
    REORDERED = "reordered"  # name of the order
    BINS = "bins"  # bits of a partition
    WEIGHTS = "narrow weights"  # None
    BY_WEIGHT = "edges by weight"  # None
    PAIRS = "edges in pairs"  # None
    PLAN = "plan of blocks"  # sizes of units and sources
    BLOCKS = "blocks"  # the same, and whether there are weights
    HYB = "hyb"  # whether there are weights
    WORKSPACE = "workspace"  # bits of a partition, or "blocks"
    TIMES = "times of ways"  # None: by what was decided for a program (`gpop.cpu.trial`); or of a search
    PROGRAM = "program"  # its class
    PART = "part of a rank"  # bits of a partition
    DEVICE = "device"  # bits of a partition, whether the graph is turned round; what else of streamed edges
    PINNED = "pinned"  # bits of a partition, whether the graph is turned round, name of the array


class _Entry:
    __slots__ = ("about", "bytes", "graph", "holds", "used", "value")

    def __init__(self, value: Any, holds: Any, graph: Any | None, about: str) -> None:
        self.value, self.holds, self.graph, self.about = value, holds, graph, about
        self.bytes = sum(bytes_of(holds, set()))  # at most: what is shared is counted, too
        self.used = next(clock)

    def latest(self) -> int:
        """When it, or what is kept with its graph, was last asked for."""
        inner = () if self.graph is None else self.graph.store._entries.values()
        return max((self.used, *(entry.latest() for entry in inner)))


class _Note:
    __slots__ = ("used", "uses", "value")

    def __init__(self, value: Any, uses: list[_Entry]) -> None:
        self.value, self.uses, self.used = value, uses, 0


class Store:
    """What is kept with one graph, whose ``own`` arrays are not counted; see the module's banner."""

    def __init__(self, own: Any) -> None:
        self.lock = threading.RLock()
        """Held by the run that is on the graph (`gpop.graph.exclusive`)."""
        self._own = own
        self._entries: dict[tuple[Kind, Hashable], _Entry] = {}
        self._parent: weakref.ref[Store] | None = None
        self.began: dict[int, int] = {}
        """When the run of each thread began (`gpop.graph.exclusive`)."""
        self._noted: dict[Hashable, _Note] = {}
        self._most: int | None = None
        stores.add(self)

    def get(self, kind: Kind, key: Hashable = None) -> Any:
        """What is kept under this key, from now on the most recently used; None where nothing is."""
        entry = self._entries.get((kind, key))
        if entry is None:
            return None
        entry.used = next(clock)
        return entry.value

    def put(
        self, kind: Kind, value: Any, key: Hashable = None, *, about: str = "", holds: Any = None,
        graph: Any | None = None,
    ) -> Any:  # fmt: skip
        """Keep ``value``, and return it.

        ``holds``: its arrays, in tuples, lists and dicts (the value itself where that is one of these), or
        their `Bytes`; ``graph``: the graph that it is, made of the store's own; ``about``: for people.
        """
        entry = _Entry(value, value if holds is None else holds, graph, about)
        if kind is not Kind.PROGRAM or (kind, key) in self._entries:  # no run is made of what an app works in
            self.forget()
        self._entries[kind, key] = entry
        if graph is not None:
            graph.store._parent = weakref.ref(self)
        self._keep_within(0, entry)
        return value

    def put_first(self, kind: Kind, array: Any) -> Any:
        """The array that is kept: this one, or another thread's, which runs have the address of by now."""
        entry = self._entries.setdefault((kind, None), _Entry(array, array, None, ""))
        self.forget()
        self._keep_within(0, entry)
        return entry.value

    def take(self, kind: Kind, key: Hashable = None) -> Any:
        """The same as `get`; it is kept no longer."""
        self.forget()  # notes hold the arrays of entries
        entry = self._entries.pop((kind, key), None)
        if entry is None:
            return None
        if entry.graph is not None:
            entry.graph.store._parent = None
        return entry.value

    def note(self, key: Hashable, value: Any) -> None:
        """Have `noted` give ``value``, made of entries in this run, as long as they are what they are now."""
        if len(self._noted) >= MOST_NOTED:
            self.forget()
        self._tell_entries()
        began = self.began.get(threading.get_ident(), 0)
        used = [entry for entry in list(self._entries.values()) if entry.used > began]
        self._noted[key] = _Note(value, used)

    def noted(self, key: Hashable) -> Any:
        """What was noted under this key, whose entries are now in use; None where nothing is."""
        note = self._noted.get(key)
        if note is None:
            return None
        note.used = next(clock)  # every call of microseconds asks: its entries are told later
        return note.value

    def _tell_entries(self) -> None:
        """Have entries know when notes that are made of them were last asked for."""
        for note in list(self._noted.values()):
            for entry in note.uses:
                entry.used = max(entry.used, note.used)

    def forget(self) -> None:
        """Let go of notes: an entry that they are made of is not what it was."""
        self._tell_entries()
        self._noted.clear()

    def discard(self, kind: Kind, unwanted: Callable[[Any], bool] = lambda key: True) -> None:
        """Let go of what is kept of a kind with this graph itself: of all, or of some keys."""
        for key in [key for key in list(self._entries) if key[0] == kind and unwanted(key[1])]:
            self.take(*key)

    def has(self, kind: Kind, value: Any = None) -> bool:
        """Whether anything of a kind, or this very object, is kept with this graph itself."""
        found = [entry.value for (each, _), entry in list(self._entries.items()) if each == kind]
        return any(value is None or each is value for each in found)

    def drop(self, kind: str | None = None) -> None:
        """Let go of a kind, or of everything, here and with graphs made of this one.

        Raises
        ------
        UsageError
            If there is no such kind, or a run from whose callback this is called is on one of the graphs.
        """
        if kind not in (None, *Kind):
            raise UsageError(f"kind {kind!r}: expected one of {', '.join(Kind)}")
        for entry in list(self._entries.values()):
            if entry.graph is not None:
                entry.graph.drop(kind)
        for each in Kind if kind is None else (Kind(kind),):
            self.discard(each)

    def listed(self) -> KeptList:
        """Everything that is kept, and with graphs made of this one."""
        seen = addresses(self._own)
        return KeptList(
            Kept(str(kind), about, *bytes_of(entry.holds, seen))
            for _, (kind, _), entry, about in self._walk()
        )

    def require(self, nbytes: int, what: str) -> None:
        """Have ``nbytes`` free on the host, if need be by dropping what was not used for longest.

        Raises
        ------
        NotEnoughMemory
        """
        if nbytes < SMALL:
            return
        self._keep_within(nbytes)
        self.make_room(lambda: nbytes <= available_bytes())
        require_memory(nbytes, what)

    def make_room(
        self, enough: Callable[[], bool], *, device: bool = False, spared: _Entry | None = None
    ) -> None:
        """Drop one entry after the other, the least recently used first, until there is ``enough``.

        ``device``: only such as have arrays there.
        """
        root = self._root()
        for store in {id(store): store for store, *_ in root._walk()}.values():
            store._tell_entries()
        found = sorted(root._walk(), key=lambda found: found[2].latest())
        for store, key, entry, _ in found:
            if enough():
                return
            wanted = not device or bytes_of(entry.holds, set())[1]
            if wanted and entry is not spared and not store._in_use(entry):
                store.take(*key)

    def _root(self) -> Store:
        parent = None if self._parent is None else self._parent()
        return self if parent is None else parent._root()

    def _walk(self, of: str = "") -> Iterator[tuple[Store, tuple[Kind, Hashable], _Entry, str]]:
        """Entries of this store, each with the store that it is in, and of graphs that are entries."""
        for key, entry in list(self._entries.items()):
            yield self, key, entry, of + entry.about
            if entry.graph is not None:
                name = f"{key[0]} {entry.about}" if entry.about else str(key[0])
                yield from entry.graph.store._walk(f"{of}{name}: ")

    def _at_most(self) -> int:
        """An upper bound of the bytes in the tree, of what was counted when entries were put."""
        entries = list(self._entries.values())
        inner = sum(each.graph.store._at_most() for each in entries if each.graph is not None)
        return inner + sum(each.bytes for each in entries)

    def _keep_within(self, wanted: int, spared: _Entry | None = None) -> None:
        """Keep within the limit when ``wanted`` bytes are added; ``spared`` was just put and stays."""
        root = self._root()
        kept = root._at_most()
        if LIMIT is None and kept + wanted < SMALL:
            return
        if LIMIT is None and root._most is None:
            root._most = int(SHARE * (available_bytes() + root._host_bytes()))
        limit = root._most if LIMIT is None else LIMIT
        if kept + wanted > limit:
            root.make_room(lambda: root._host_bytes() + wanted <= limit, spared=spared)

    def _host_bytes(self) -> int:
        return sum(each.host_bytes for each in self.listed())

    def _in_use(self, entry: _Entry) -> bool:
        if self.lock._is_owned():
            if entry.used > self.began.get(threading.get_ident(), 0):
                return True
        elif self.is_held():
            return True
        return entry.graph is not None and entry.graph.store._any_in_use()

    def _any_in_use(self) -> bool:
        return self.lock._is_owned() or self.is_held() or any(map(self._in_use, list(self._entries.values())))

    def is_held(self) -> bool:
        """Whether another thread is in a run on the graph."""
        free = self.lock.acquire(blocking=False)
        if free:
            self.lock.release()
        return not free

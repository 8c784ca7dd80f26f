"""Checkpoints: what a run needs to go on later, on as many ranks as there are then.

A folder. ``checkpoint.json`` names the run (program, graph, how it began), how far it is, the program's
parameters, and the files that hold the rest. It is replaced last, in one step, so a run that is killed at any
moment leaves the checkpoint before whole. ``iteration-N/`` has a file for each rank, an ``.npz`` with the
rank's own range of every field and its active vertices, in the order of their lists: with that order a run
that goes on is bitwise the run that was not interrupted, at a fixed mode.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from gpop.common.arguments import as_count
from gpop.common.array_hash import hash_array
from gpop.common.errors import UsageError
from gpop.common.replacing import replacing
from gpop.plan.engine import Engine
from gpop.plan.plan import Plan
from gpop.program.program import Program
from gpop.program.recipes import Unset
from gpop.ranks.world import World

INDEX = "checkpoint.json"
TOLD = "name", "vertices", "edges", "iteration", "files", "parameters"
"""What every one says."""
UNTOLD = "fields and edges"
"""What a run on several ranks does not say of how it began."""

SAMPLE = 1 << 12
"""Edges of a graph, about, by which it is told from others with as many: it may be larger than memory."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a run leaves what it needs to go on, and how often.

    Attributes
    ----------
    folder : str or path
        Made if it is not there. A run that finds a checkpoint of the same program and graph in it, which
        began with the same frontier and parameters, goes on from there, on any number of ranks; one that
        ends by itself or at its limit removes it.
    iterations : int, optional
        After every so many iterations.
    seconds : float, optional
        After so many seconds; 60 where neither is given.

    Raises
    ------
    UsageError
        For a number that is not above 0.

    Examples
    --------
    >>> import gpop, tempfile
    >>> ring = gpop.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> folder = tempfile.mkdtemp()
    >>> gpop.bfs(ring, 0, iterations=1, checkpoint=gpop.Checkpoint(folder, iterations=1)).level
    array([ 0,  1, -1, -1], dtype=int32)
    """

    folder: str | os.PathLike
    iterations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None and as_count("checkpoint iterations", self.iterations) < 1:
            raise UsageError(f"checkpoint iterations = {self.iterations}: expected 1 or more")
        if self.seconds is not None and not self.seconds > 0:
            raise UsageError(f"checkpoint seconds = {self.seconds}: expected a number above 0")


class Left(NamedTuple):
    """What a run goes on from: vertices that were active here (None: all are), and the iteration."""

    frontier: np.ndarray | None
    iteration: int


def beginning(program: Program, sources: np.ndarray | None) -> str:
    """Which vertices a run begins with, and the values of its parameters in every iteration."""
    digest = hashlib.sha256(b"all" if sources is None else np.unique(sources).astype("<u4").tobytes())
    for name, value in sorted({**program._parameters, **program._series}.items()):
        digest.update(name.encode() + np.asarray(value).tobytes())
    return digest.hexdigest()[:24]


def holdings(plan: Plan) -> str:
    """What the fields hold at the beginning, and some of the edges."""
    graph, fields = plan.program.graph, plan.program._fields
    known = (graph.indptr, graph.indices, graph.weights)
    some = [each[:: max(len(each) // SAMPLE, 1)] for each in known if each is not None]
    # What is anything until the run sets it is something else each time.
    told = [name for name in plan.lowered.fields if not isinstance(fields.recipes.get(name), Unset)]
    held = [hash_array(array) for array in (*some, *(fields[name] for name in told))]
    return hashlib.sha256(repr(held).encode()).hexdigest()[:24]


class Keeper:
    """Writes and reads the checkpoints of one run; ``called``: that a callback sees its iterations."""

    def __init__(
        self,
        asked: Checkpoint,
        plan: Plan,
        world: World | None,
        sources: np.ndarray | None,
        called: bool = False,
    ) -> None:
        if not isinstance(asked, Checkpoint):
            raise UsageError(f"checkpoint {asked!r}: expected a gpop.Checkpoint, such as Checkpoint(folder)")
        self.asked, self.plan, self.world, self.called = asked, plan, world, called
        self.folder = Path(asked.folder)
        self.seconds = 60.0 if asked.iterations is None and asked.seconds is None else asked.seconds
        self.written = time.perf_counter()
        if type(plan.program).track_touched:
            raise UsageError(
                f"{type(plan.program).__name__} tracks what it touches: checkpoint: expected None"
            )
        self.began = beginning(plan.program, sources)
        # A rank has a part of the graph, and need not have set the fields of others.
        self.held = None if world is not None else holdings(plan)

    def names(self) -> dict[str, Any]:
        """What a checkpoint must say to be one of this run."""
        graph = self.plan.program.graph
        return {
            "program": self.plan.lowered.key, "vertices": graph.n, "edges": graph.m,
            "frontier and parameters": self.began, UNTOLD: self.held,
        }  # fmt: skip

    def rows(self, iteration: int) -> int | None:
        """Iterations until the next one is due; None where seconds alone decide."""
        every = self.asked.iterations
        return None if every is None else every - iteration % every

    def due(self, iteration: int) -> bool:
        """Whether to write one now; the same on all ranks."""
        every = self.asked.iterations
        due = every is not None and iteration % every == 0
        late = self.seconds is not None and time.perf_counter() - self.written > self.seconds
        return due or bool(late if self.world is None else self.world.first_ones(late))

    # --- writing -------------------------------------------------------------------------------

    def write(self, engine: Engine, iteration: int) -> None:
        """Write a checkpoint; the one before is removed when this is whole."""
        program, world = self.plan.program, self.world
        first, last = engine.range
        rank, size = (0, 1) if world is None else (world.rank, world.size)
        inner = self.folder / f"iteration-{iteration}"
        self._make(inner)
        path = inner / f"rank-{rank}.npz"
        fields = {f"field_{name}": program._fields[name][first:last] for name in self._changed()}
        active = {} if program.all_active else {"active": engine.active_now()}
        with replacing(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, **fields, **active)
        entry = {"file": f"{inner.name}/{path.name}", "first": int(first), "last": int(last)}
        entry["bytes"] = path.stat().st_size
        entries = [entry] if world is None else world.everyones(entry)
        if rank == 0:
            said = self.names() | {
                "name": type(program).__name__, "iteration": iteration, "ranks": size, "files": entries,
                "parameters": {name: _number(value) for name, value in program._parameters.items()},
                "series": {name: [*map(_number, values)] for name, values in program._series.items()},
            }  # fmt: skip
            with replacing(self.folder / INDEX) as temporary:
                temporary.write_text(json.dumps(said | {"own": _own(said)}, indent=1) + "\n")
            self._remove(except_for=inner)
        self.written = time.perf_counter()
        if world is not None:
            world.checkpoint = f"{self.folder} (iteration {iteration})"

    def _changed(self) -> list[str]:
        """Fields that the run may have changed: a callback sets whatever it has looked at."""
        fields, written = self.plan.program._fields, self.plan.lowered.written
        seen = fields.made.items() if self.called else ()
        set_there = (name for name, array in seen if name not in fields.away and array.flags.writeable)
        return [*dict.fromkeys((*written, *set_there))]

    def remove(self) -> None:
        """The run is over: there is nothing to go on with."""
        if self.world is not None:
            self.world.barrier()
        if self.world is None or self.world.rank == 0:
            (self.folder / INDEX).unlink(missing_ok=True)
            self._remove()

    def _make(self, inner: Path) -> None:
        try:
            inner.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{inner}: cannot be written: {error.strerror or error}") from None

    def _remove(self, except_for: Path | None = None) -> None:
        for old in self.folder.glob("iteration-*"):
            if old != except_for and _is_of_a_checkpoint(old):
                shutil.rmtree(old, ignore_errors=True)

    # --- reading -------------------------------------------------------------------------------

    def left(self, part: tuple[int, int], most: int) -> Left | None:
        """What an earlier run has left, its fields set in the program; None where there is nothing.

        Raises
        ------
        UsageError
            If it is of another program or graph, of a later iteration than the ``most`` that this run has, or
            a file is missing or not as it was written.
        """
        index = self.folder / INDEX
        try:
            said = json.loads(index.read_text()) if index.is_file() else None
        except ValueError:
            said = {}
        if self.world is not None:
            said = self.world.first_ones(said)
        if said is None:
            return None
        whole = isinstance(said, dict) and said.keys() >= {*TOLD}
        if not whole or said.pop("own", None) not in (None, _own(said)):  # older ones have no mark
            raise UsageError(f"{index}: not as it was written: expected JSON, or an empty folder")
        for name, expected in self.names().items():
            if said.get(name) != expected and not (name == UNTOLD and None in (said.get(name), expected)):
                raise UsageError(
                    f"{index}: of another run ({said['name']}, {said['vertices']} vertices, {said['edges']} "
                    f"edges): expected the same {name}, or an empty folder"
                )
        if said["iteration"] > most:
            raise UsageError(
                f"{index}: of iteration {said['iteration']}: expected {most} at most, where this run ends, "
                "or an empty folder"
            )
        program = self.plan.program
        for name, value in said["parameters"].items():
            program._parameters[name] = program._parameters[name].dtype.type(value)
        kinds = {name: value.dtype for name, value in program._parameters.items()}
        program._series = {
            name: np.array([*map(kinds[name].type, values)], kinds[name])
            for name, values in said.get("series", {}).items()  # older ones do not say
        }
        first, last = part
        active = [self._take(entry, first, last) for entry in said["files"]]
        frontier = None if program.all_active else np.concatenate(active).astype(np.uint32)
        return Left(frontier, said["iteration"])

    def _take(self, entry: dict[str, Any], first: int, last: int) -> np.ndarray:
        """Set what a file holds of a range of vertices; the active vertices of all that it holds."""
        path = self.folder / entry["file"]
        if not path.is_file() or path.stat().st_size != entry["bytes"]:
            raise UsageError(f"{path}: missing or cut short: expected {entry['bytes']} bytes")
        begin, end = max(first, entry["first"]), min(last, entry["last"])
        try:
            with np.load(path, allow_pickle=False) as held:
                for name in held.files if begin < end else ():
                    if name.startswith("field_"):
                        values = held[name][begin - entry["first"] : end - entry["first"]]
                        self.plan.program._fields[name.removeprefix("field_")][begin:end] = values
                return held["active"] if "active" in held.files else np.empty(0, np.uint32)
        except (OSError, EOFError, ValueError, BadZipFile):
            raise UsageError(f"{path}: damaged: expected what was written, or an empty folder") from None


def _is_of_a_checkpoint(folder: Path) -> bool:
    """Whether nothing is in a folder but what ranks write; others may have folders of such names, too."""
    numbered = folder.name.removeprefix("iteration-").isdecimal() and folder.is_dir()
    return numbered and all(path.name.lstrip(".").startswith("rank-") for path in folder.iterdir())


def _own(said: dict[str, Any]) -> str:
    """A mark of all that an index says."""
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]


def _number(value: np.generic) -> Any:
    """A parameter as JSON can say it, and so that its type makes the same of it again."""
    return value.item() if value.dtype.kind != "f" else repr(float(value))

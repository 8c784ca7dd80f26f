"""``python -m perf mapped``: runs on graphs that stay on disk, beside the disk's own speed.

    python -m perf mapped --graph rmat:scale=22,permute --road road:width=2000,height=2000 --folder /var/tmp

Both graphs are written with their layouts to the folder, unless they are there, and run from it with room for
a part of what the run reads (``--share``, a quarter). The system does not impose that room: GPOP_MEMORY says
how much the engine may count on, and it keeps within by dropping what is behind; the most bytes of the layout
that were in memory (``mincore``, asked every few milliseconds) stand beside it. Before each measurement the
pages of all files are dropped.

``disk``: one of the layout's files from its beginning to its end, blocks of 4 MB: past the system's cache
(O_DIRECT) into buffers that are used again and into fresh memory, through the cache, and mapped.
``PageRank``: bytes that the readers asked for by the seconds of all iterations, and that over the disk's
speed; and, as a disk may be faster than a run in memory, its seconds over those that reading at that speed or
computing in memory takes alone, whichever is longer: 1 where one goes on wholly beside the other. Beside them
what the system counts as read from disk (``/proc/self/io``), and processor seconds, of all threads and of
the system on their behalf: where a disk is fast they, over the cores there are, are what a run takes.
``--pace`` adds the same with a disk of which this process may read only so much a second
(`perf.paced_disk`). ``BFS``: bytes that a search of the road has brought in (``mincore`` before and after),
and their share of all files. Results are compared with a run in memory.
"""

from __future__ import annotations

import argparse
import itertools
import mmap
import os
import resource
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import gpop
from gpop.common.command import exit_code
from gpop.common.memory import bytes_of
from gpop.common.spill import POPULATE, advise, mapped, resident_bytes
from gpop.convert import main as convert
from perf.graphs import name_of
from perf.paced_disk import paced
from perf.parser import with_out
from perf.provenance import perf_command, written

BLOCK = 1 << 22
READERS = 2
POLL = 0.005


def evict(folder: Path) -> None:
    """Drop the pages of all files; those that are mapped in this process must have been let go."""
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _together(task: Callable[[], None], threads: int) -> float:
    """Seconds of so many threads that do the same."""
    team = [threading.Thread(target=task) for _ in range(threads)]
    begin = time.perf_counter()
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    return time.perf_counter() - begin


def _direct(path: Path, size: int, threads: int, fresh: bool) -> float:
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    places = iter(range(0, size, BLOCK))
    rooms = iter([mmap.mmap(-1, BLOCK) for _ in range(threads)])

    def read() -> None:
        room = next(rooms)
        room[:] = bytes(BLOCK)
        for place in places:
            os.preadv(file, [mmap.mmap(-1, BLOCK) if fresh else room], place)

    try:
        return _together(read, threads)
    finally:
        os.close(file)


def _cached(path: Path, size: int, threads: int) -> float:
    file = os.open(path, os.O_RDONLY)
    places = iter(range(0, size, BLOCK))

    def read() -> None:
        room = bytearray(BLOCK)
        for place in places:
            os.preadv(file, [room], place)

    try:
        return _together(read, threads)
    finally:
        os.close(file)


def _mapped(path: Path, size: int, threads: int) -> float:
    array = mapped(path, np.uint8)
    places = iter(range(0, size, BLOCK))

    def read() -> None:
        for place in places:
            advise(array[place : min(size, place + BLOCK)], POPULATE)

    seconds = _together(read, threads)
    advise(array, mmap.MADV_DONTNEED)  # pages that are mapped cannot be dropped
    return seconds


WAYS = {
    "O_DIRECT, 1 thread": lambda path, size: _direct(path, size, 1, False),
    "O_DIRECT, 2 threads": lambda path, size: _direct(path, size, READERS, False),
    "O_DIRECT, 2 threads, fresh memory": lambda path, size: _direct(path, size, READERS, True),
    "cache, 1 thread": lambda path, size: _cached(path, size, 1),
    "cache, 2 threads": lambda path, size: _cached(path, size, READERS),
    "mapped, 1 thread": lambda path, size: _mapped(path, size, 1),
    "mapped, 2 threads": lambda path, size: _mapped(path, size, READERS),
}


def disk_speeds(path: Path, rounds: int) -> dict[str, float]:
    """Bytes a second of each way to read a file, the median of some rounds that take turns."""
    size = path.stat().st_size
    found: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, way in WAYS.items():
            evict(path.parent)
            found[name].append(size / way(path, size))
    return {name: statistics.median(speeds) for name, speeds in found.items()}


def written_graph(spec: str, folder: Path, memory: str) -> Path:
    """The folder of a graph, written with its layouts if it is not there."""
    path = folder / f"{name_of(spec)}.mapped"
    if not path.exists() and convert([spec, str(path), "--layout", "--memory", memory]):
        raise SystemExit(2)
    return path


@contextmanager
def room_of(nbytes: int) -> Iterator[None]:
    """The engine may count on so many bytes."""
    before = os.environ.get("GPOP_MEMORY")
    os.environ["GPOP_MEMORY"] = str(nbytes)
    try:
        yield
    finally:
        if before is None:
            del os.environ["GPOP_MEMORY"]
        else:
            os.environ["GPOP_MEMORY"] = before


class Watch:
    """The most bytes of some arrays that are in memory while it is open."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.most, self._arrays, self._over = 0, arrays, threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._over.wait(POLL):
            self.most = max(self.most, sum(map(resident_bytes, self._arrays)))

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def bytes_from_disk() -> int:
    """Bytes that this process has had read from disk."""
    for line in Path("/proc/self/io").read_text().splitlines():
        name, _, value = line.partition(": ")
        if name == "read_bytes":
            return int(value)
    return 0


def processor_seconds() -> float:
    """Of this process until now, its own and the system's on its behalf."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def pagerank_table(path: Path, share: float, iterations: int, rounds: int) -> None:
    """PageRank with room for a share of what it reads."""
    files = [path / name for name in ("refs", "targets")]
    speeds = disk_speeds(files[0], rounds)
    print(f"disk, {files[0].stat().st_size / 1e6:.0f} MB of {path.name}")
    for name, speed in speeds.items():
        print(f"  {name:36}{speed / 1e6:9.0f} MB/s")
    graph = gpop.load(path)
    layout = sum(file.stat().st_size for file in files)
    limit = int(layout * share)
    expected = gpop.pagerank(graph, iterations=iterations, residency="memory")
    used = processor_seconds()
    in_memory = gpop.pagerank(graph, iterations=iterations, residency="memory").run.seconds
    used = processor_seconds() - used
    print(f"PageRank, {graph.m:,} edges, {iterations} iterations, {layout / 1e6:.0f} MB of blocks", end=", ")
    print(f"room for {limit / 1e6:.0f} MB, {in_memory:.2f} s in memory ({used:.2f} of processors)")
    columns = f"{'seconds':>9}{'processors':>12}{'GB read':>9}{'asked':>8}{'MB/s':>7}{'most in memory':>16}"
    print(f"{'':4}{columns}  same")
    rates, bounds = [], []
    for _ in range(rounds):
        arrays = graph.facts.mapped.arrays.arrays
        for array in arrays.values():
            advise(array, mmap.MADV_DONTNEED)
        evict(path)
        before, used = bytes_from_disk(), processor_seconds()
        with room_of(limit), Watch([arrays[file.name] for file in files]) as watch:
            found = gpop.pagerank(graph, iterations=iterations)
        used = processor_seconds() - used
        disk = found.trace.summary["disk"]
        read = bytes_from_disk() - before
        rates.append(disk["asked_bytes"] / found.run.seconds)
        reading = {name: disk["asked_bytes"] / speed for name, speed in speeds.items()}
        bounds.append({name: found.run.seconds / max(each, in_memory) for name, each in reading.items()})
        same = np.array_equal(found.rank, expected.rank) and disk["residency"] == "mapped"
        print(
            f"{'':4}{found.run.seconds:9.2f}{used:12.2f}{read / 1e9:9.2f}{disk['asked_bytes'] / 1e9:8.2f}"
            f"{rates[-1] / 1e6:7.0f}{watch.most / 1e6:13.0f} MB  {same}"
        )
    rate = statistics.median(rates)
    print(f"  {'':36}{'of its speed':>14}{'of the longer of reading and computing alone':>48}")
    for name, speed in speeds.items():
        bound = statistics.median(each[name] for each in bounds)
        print(f"  {name:36}{rate / speed:14.2f}{bound:48.2f}")


def bfs_table(path: Path, rounds: int) -> None:
    """BFS on a road: whole, and its first levels."""
    graph = gpop.load(path)
    arrays = graph.facts.mapped.arrays.arrays
    print(f"BFS, {graph.n:,} vertices, {graph.m:,} edges, {graph.facts.mapped.nbytes / 1e6:.0f} MB of files")
    print(f"{'mode':>8}{'levels':>8}{'reached':>11}{'seconds':>9}{'MB read':>9}{'of files':>10}  same")
    for mode, levels in itertools.product(("auto", "sc"), (100, None)):
        options = {"mode": mode, "iterations": levels}
        for _ in range(rounds):
            for array in arrays.values():
                advise(array, mmap.MADV_DONTNEED)
            evict(path)
            before = sum(map(resident_bytes, arrays.values()))
            found = gpop.bfs(graph, graph.n // 2, residency="mapped", **options)
            read = sum(map(resident_bytes, arrays.values())) - before
            expected = gpop.bfs(graph, graph.n // 2, residency="memory", **options)
            reached = int((found.level >= 0).sum())
            print(
                f"{mode:>8}{found.run.iterations:8}{reached:11,}{found.run.seconds:9.2f}{read / 1e6:9.1f}"
                f"{read / graph.facts.mapped.nbytes:10.3f}  {np.array_equal(found.level, expected.level)}"
            )


def _run(argv: list[str]) -> None:
    parser = with_out("mapped", __doc__)
    parser.add_argument("--graph", default="rmat:scale=22,permute", help="for PageRank")
    parser.add_argument("--road", default="road:width=2000,height=2000", help="for BFS")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="where graphs are written")
    parser.add_argument("--memory", type=_memory, default="1GB", help="to write them with")
    parser.add_argument("--share", type=float, default=0.25, help="of what PageRank reads, in memory")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--pace", type=_memory, metavar="SIZE", help="of the disk a second, once more with that"
    )
    given = parser.parse_args(argv)
    graph = written_graph(given.graph, given.folder, given.memory)
    road = written_graph(given.road, given.folder, given.memory)
    with written(given.out, perf_command("mapped", argv)):
        for pace in dict.fromkeys([None, given.pace]):
            if pace is not None:
                print(f"at most {pace} of the disk a second")
            with paced(given.folder, bytes_of(pace or "")):
                pagerank_table(graph, given.share, given.iterations, given.rounds)
            print()
        bfs_table(road, 1)


def _memory(text: str) -> str:
    if bytes_of(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a size such as 1GB")
    return text


def main(argv: list[str]) -> int:
    """Measure and print the tables."""
    return exit_code(lambda: _run(argv))

"""Runs on graphs whose edges stay on disk: the same answers, what is active is read, nothing is harmed."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.common import spill
from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.common.spill import POPULATE, advise, in_large_pieces, lies_in_file, resident_bytes
from gpop.cpu import read_ahead
from gpop.cpu.disk import Disk
from gpop.cpu.read_ahead import ReadAhead
from gpop.generate import generate
from gpop.layout import mapped_build
from gpop.layout.mapped_file import check
from tests.quick import quick

MODES = ("auto", "sc", "pc", "pull")


@pytest.fixture(scope="module")
def graph() -> gpop.Graph:
    return generate("rmat", scale=12, degree=16, weights=(1, 200))


@pytest.fixture(scope="module")
def folder(graph, tmp_path_factory) -> Path:
    """With several units for each thread."""
    path = tmp_path_factory.mktemp("disk") / "graph.mapped"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped_build, "UNIT_EDGES", 1 << 11)
        graph.save(path)
    return path


@pytest.fixture
def opened(folder) -> gpop.Graph:
    return gpop.load(folder)


@pytest.mark.parametrize("residency", ["mapped", "memory"])
@pytest.mark.parametrize("mode", quick(MODES, "auto", "pc"))
@pytest.mark.parametrize("threads", [1, 3])
def test_ranks_are_bitwise_the_same(graph, opened, residency, mode, threads):
    expected = gpop.pagerank(graph, iterations=4, mode=mode, threads=threads)
    found = gpop.pagerank(opened, iterations=4, mode=mode, threads=threads, residency=residency)
    assert np.array_equal(found.rank, expected.rank)
    assert found.trace.summary["disk"]["residency"] == residency


@pytest.mark.parametrize("mode", quick(MODES, "auto"))
@pytest.mark.parametrize("residency", ["mapped", "memory"])
def test_levels_are_the_same(graph, opened, mode, residency):
    source = int(np.argmax(graph.out_degree))
    expected, found = (
        gpop.bfs(graph, source, method="messages", mode=mode),
        gpop.bfs(opened, source, method="messages", mode=mode, residency=residency),
    )
    assert np.array_equal(found.level, expected.level)
    assert found.trace.column("active_edges").tolist() == expected.trace.column("active_edges").tolist()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "sc", "pc"])
@pytest.mark.parametrize("options", [{}, {"interleave": False}, {"partition_size": 64}])
def test_distances_are_the_same(graph, opened, mode, options):
    source = int(np.argmax(graph.out_degree))
    expected = gpop.sssp(graph, source, mode=mode, **options)
    found = gpop.sssp(opened, source, mode=mode, residency="mapped", **options)
    assert np.array_equal(found.distance, expected.distance)


def test_auto_goes_by_what_is_available(opened, monkeypatch):
    assert gpop.pagerank(opened, iterations=2).trace.summary["disk"]["residency"] == "memory"
    monkeypatch.setenv("GPOP_MEMORY", "100KB")
    found = gpop.pagerank(opened, iterations=2)
    assert found.trace.summary["disk"]["residency"] == "mapped"
    assert found.trace.summary["mode"] == "pull"  # bins would want room for messages


def test_memory_is_refused_where_there_is_too_little(opened, monkeypatch):
    monkeypatch.setenv("GPOP_MEMORY", "1100KB")
    monkeypatch.setattr("gpop.cpu.disk.resident_bytes", lambda array: -(1 << 20))  # nobody asks for less
    with pytest.raises(NotEnoughMemory, match="its layout needs"):
        gpop.bfs(opened, 0, residency="memory")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"residency": "mapped"}, "in memory: expected a graph that gpop.load has opened"),
        ({"residency": "tape"}, "residency 'tape': expected one of auto, memory, mapped"),
        (
            {"residency": "mapped", "target": "python"},
            "target 'python': residency 'mapped': expected one of auto",
        ),
    ],
)
def test_refused(graph, options, said):
    with pytest.raises(UsageError, match=said):
        gpop.bfs(graph, 0, **options)


def test_a_copy_of_what_was_opened_is_not_on_disk(opened):
    with pytest.raises(
        UsageError, match="would run on .* in memory: .* not its symmetric, reversed or reord"
    ):
        gpop.pagerank(opened, reorder="degree", residency="mapped")


def evict(opened: gpop.Graph) -> None:
    for name, array in opened.facts.mapped.arrays.arrays.items():
        advise(array, mmap.MADV_DONTNEED)
        with open(opened.facts.mapped.arrays.folder / name, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def test_only_what_is_active_is_read(tmp_path):
    """A search that ends after a few levels of a road looks at a few pages."""
    generate("road", width=300, height=300).save(tmp_path / "road.mapped")
    subprocess.run(["sync", "-f", str(tmp_path)], check=True)
    opened = gpop.load(tmp_path / "road.mapped")
    evict(opened)
    arrays = opened.facts.mapped.arrays
    if sum(map(resident_bytes, arrays.arrays.values())) > arrays.arrays["indptr"].nbytes:
        pytest.skip("this file system keeps its pages in memory")
    found = gpop.bfs(opened, opened.n // 2, iterations=8, residency="mapped", mode="sc")
    disk = found.trace.summary["disk"]
    assert 0 < disk["new_bytes"] < disk["file_bytes"] / 10
    assert disk["file_bytes"] == opened.facts.mapped.nbytes


def test_messages_lie_in_a_file(opened, monkeypatch):
    made = []
    monkeypatch.setattr(
        "gpop.common.spill.Spill.array",
        lambda self, count, dtype: made.append(count) or np.zeros(count, dtype),
    )
    gpop.bfs(opened, 0, residency="mapped", mode="pc")
    assert max(made) * 8 >= opened.facts.mapped.bins.messages * 4


def wait_for(condition) -> None:
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come to that")


@pytest.fixture
def reader(monkeypatch, tmp_path):
    """One that has room for a third of the layout, and of that a quarter on its way."""
    advised = []
    monkeypatch.setattr(mapped_build, "UNIT_EDGES", 1 << 11)
    generate("uniform", scale=12).save(tmp_path / "even.mapped")
    opened = gpop.load(tmp_path / "even.mapped")
    monkeypatch.setattr(read_ahead, "AHEAD", 20_000)
    monkeypatch.setattr(read_ahead, "FOLIO", 0)
    monkeypatch.setattr(read_ahead, "advise", lambda array, advice: advised.append((array.nbytes, advice)))
    blocks = opened.facts.mapped.blocks[False]
    mode = np.zeros(int(blocks.k), np.uint8)
    reader = ReadAhead(opened.facts.mapped.arrays, blocks, mode, 2, 80_000)
    yield reader, mode, blocks, advised
    reader.stop()


def of(advised, advice) -> int:
    return sum(size for size, given in list(advised) if given == advice)


def test_reading_ahead_stays_within_its_room(reader):
    ahead, mode, blocks, advised = reader
    assert ahead.total == 4 * blocks.refs.size
    wait_for(lambda: advised)
    time.sleep(0.05)
    assert of(advised, POPULATE) <= 20_000  # nobody has used any yet
    order = read_ahead.order_of(int(blocks.k), 2)
    for u in order:
        mode[u] = 3
        wait_for(lambda: of(advised, POPULATE) - of(advised, mmap.MADV_DONTNEED) <= 80_000)
    kept = ahead.told()["kept_bytes"]
    wait_for(lambda: of(advised, mmap.MADV_DONTNEED) == ahead.total - kept)
    assert 0 < kept <= 60_000
    assert ahead.asked <= ahead.total


@pytest.mark.parametrize("in_pieces", [True, False])
def test_pages_that_would_come_one_by_one_are_asked_for_first(in_pieces, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(read_ahead, "in_large_pieces", lambda array: in_pieces)
    monkeypatch.setattr(os, "posix_fadvise", lambda file, at, size, advice: asked.append(advice))
    generate("uniform", scale=10).save(tmp_path / "even.mapped")
    opened = gpop.load(tmp_path / "even.mapped")
    gpop.pagerank(opened, iterations=2, residency="mapped")
    assert (os.POSIX_FADV_WILLNEED in asked) != in_pieces


def test_large_pieces_want_a_system_that_reads_them(monkeypatch):
    array = np.zeros(1 << 20)
    for release, there in (("5.10.0-9", False), ("5.18.0", hasattr(mmap, "MADV_HUGEPAGE")), ("odd", False)):
        monkeypatch.setattr(os, "uname", lambda release=release: SimpleNamespace(release=release))
        monkeypatch.setattr(spill._libc, "madvise", lambda *given: 0)
        assert in_large_pieces(array) == there


def test_what_stays_is_read_once(reader):
    ahead, mode, blocks, _ = reader
    kept, expected = ahead.told()["kept_bytes"], 0
    for turn in range(3):
        for u in read_ahead.order_of(int(blocks.k), 2):
            expected += ahead._bytes[u] * (turn == 0 or not ahead._stays[u])
            wait_for(lambda expected=expected: ahead.asked >= expected)
            mode[u] = 3
        assert ahead.asked == ahead.total + turn * (ahead.total - kept)
        ahead.restart()
    assert 0 < kept < ahead.total


def test_a_run_that_fails_stops_reading(opened, monkeypatch):
    ended = []
    monkeypatch.setattr(Disk, "end", lambda self, end=Disk.end: (end(self), ended.append(self.ahead)))

    def fail(record):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError):
        gpop.pagerank(opened, iterations=5, residency="mapped", callback=fail)
    assert ended == [None]
    assert np.isfinite(gpop.pagerank(opened, iterations=2, residency="mapped").rank).all()


RUN = """
import os, signal, sys
import gpop
def die(record):
    os.kill(os.getpid(), signal.SIGKILL)
gpop.bfs(gpop.load(sys.argv[1]), 0, residency="mapped", mode="pc", callback=die)
"""


def test_a_run_that_is_killed_harms_nothing(graph, folder, opened):
    before = sorted(folder.iterdir())
    done = subprocess.run([sys.executable, "-c", RUN, str(folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert sorted(folder.iterdir()) == before
    check(folder)
    assert np.array_equal(gpop.bfs(opened, 0, residency="mapped").level, gpop.bfs(graph, 0).level)


def test_a_copy_is_in_memory(opened):
    from copy import deepcopy

    copied = deepcopy(opened)
    assert copied.facts.mapped is None
    assert not lies_in_file(copied.indices)
    with pytest.raises(UsageError, match="in memory: expected"):
        gpop.bfs(copied, 0, residency="mapped")

"""What counters cannot see: an almost empty iteration reads nothing of the size of the graph.

The system notes which pages are referenced ("Referenced" in smaps, forgotten by writing to clear_refs). A
hundred iterations with one active vertex reference as much memory among 33 million vertices as among a few
thousand.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpop
from tests.programs import Smallest

FORGET, SEEN = Path("/proc/self/clear_refs"), Path("/proc/self/smaps")
HUGE_PAGES_OFF = 41  # PR_SET_THP_DISABLE: a page is 4 KB, so that neighbours of what is read do not count
FEW, MANY = 1 << 14, 1 << 25  # vertices
SLACK = 3_000_000  # Python references 2 to 4 MB, as it comes; a bit for each of the vertices is 4.2 MB
LOOKS = {
    "nothing else": lambda program: None,
    "a byte of each vertex": lambda program: program.label.view(np.int8)[::4].max(),
}
"""What is read beside the iterations themselves."""

pytestmark = pytest.mark.skipif(not os.access(FORGET, os.W_OK), reason="this system does not note references")


def referenced() -> int:
    """Bytes of the pages that this process has referenced."""
    lines = (line.split() for line in SEEN.read_text().splitlines() if line.startswith("Referenced"))
    return sum(int(kilobytes) for _, kilobytes, _ in lines) * 1024


def walk(n: int, look) -> list[int]:
    """Bytes referenced in a hundred iterations of a walk along 300 of n vertices, in 1024 partitions."""
    path = np.arange(300)
    program, seen = Smallest(gpop.Graph.from_edges(path, path + 1, n=n)), []

    def watch(row):
        if row["iteration"] == 100:
            FORGET.write_text("1")
        if row["iteration"] == 150:
            look(program)
        if row["iteration"] == 200:
            seen.append(referenced())

    for _ in range(2):
        program.label = 9
        program.label[0] = 1
        run = gpop.run(program, [0], partition_size=n >> 10, threads=1, callback=watch)
        assert (run.iterations, run.partitions) == (301, 1024)
    return seen


def few_and_many(reading: str) -> tuple[int, int]:
    """Bytes that a process of its own references: what else the tests hold and collect would count too."""
    command = [sys.executable, "-m", "tests.cpu.test_untouched", reading]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    few, many = done.stdout.split()
    return int(few), int(many)


def test_an_almost_empty_iteration_reads_nothing_of_the_size_of_the_graph():
    few, many = few_and_many("nothing else")
    assert many < few + SLACK


def test_what_reads_a_byte_of_each_vertex_is_noticed():
    few, many = few_and_many("a byte of each vertex")
    assert many > few + 4 * SLACK


if __name__ == "__main__":
    assert ctypes.CDLL(None).prctl(HUGE_PAGES_OFF, 1, 0, 0, 0) == 0
    gc.disable()  # a collection looks at every object
    print(*(min(walk(n, LOOKS[sys.argv[1]])) for n in (FEW, MANY)))

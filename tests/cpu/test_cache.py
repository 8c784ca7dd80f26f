"""Kernels on disk: found by the next process, never stale after an edit; no atomics in their inner loops."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = """\
import numpy as np
import gpop

STEP = 2

def twice(x):
    return 2 * x

class Walk(gpop.Program):
    hops = gpop.VertexField(np.int64, -1)

    def scatterFunc(self, node):
        return twice(self.hops[node]) + STEP

    def gatherFunc(self, value, node):
        if self.hops[node] < 0:
            self.hops[node] = value
            return True
        return False

program = Walk(gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=5))
program.hops[0] = 0
gpop.run(program, frontier=[0], threads=2)
print("answer", program.hops.tolist())
"""


@dataclass
class Process:
    output: str

    @property
    def answer(self) -> str:
        return re.search(r"answer (.*)", self.output)[1]

    @property
    def saved(self) -> list[str]:
        """Kernels compiled and put into the cache."""
        return re.findall(r"\[cache\] data saved to '(.*)'", self.output)

    @property
    def loaded(self) -> list[str]:
        return re.findall(r"\[cache\] data loaded from '(.*)'", self.output)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def python(folder):
    """Run a text as a script in a new process; kernels are kept from call to call."""

    def run(text: str, file: str = "script.py", **environment: str) -> Process:
        path = folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        variables = {"NUMBA_CACHE_DIR": str(folder / "jit"), "NUMBA_DEBUG_CACHE": "1"}
        done = subprocess.run(
            [sys.executable, file], cwd=folder, capture_output=True, text=True, timeout=300,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables, **environment},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return Process(done.stdout)

    return run


@pytest.fixture(scope="module")
def first(python):
    """The process that compiles, with the optimised LLVM code of its kernels in the output: of all of them,
    on one core (`gpop.common.ahead`)."""
    return python(SCRIPT, NUMBA_DUMP_OPTIMIZED="1", NUMBA_NUM_THREADS="1")


def kernel_files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*.nbc")}


@pytest.mark.slow
def test_the_next_process_finds_every_kernel(first, python, folder):
    assert first.answer == "[0, 2, 6, 14, -1]"
    assert len(first.saved) >= 2
    before = kernel_files(folder)
    second = python(SCRIPT)
    assert second.answer == first.answer
    assert second.saved == []
    assert len(second.loaded) >= 2
    assert kernel_files(folder) == before


@pytest.mark.slow
def test_another_process_compiles_the_loop_meanwhile(first, python, tmp_path):
    alone = python(SCRIPT, NUMBA_CACHE_DIR=str(tmp_path / "alone"), NUMBA_NUM_THREADS="1")
    beside = python(SCRIPT, NUMBA_CACHE_DIR=str(tmp_path / "beside"), NUMBA_NUM_THREADS="2")
    assert beside.answer == alone.answer == first.answer
    loops = [[path for path in process.saved if ".loop_" in path] for process in (alone, beside)]
    assert len(loops[0]) == 1 and loops[1] == []
    assert any(".loop_" in path for path in beside.loaded)


@pytest.mark.slow
def test_where_the_program_lies_does_not_matter(first, python):
    """Comments, lines and another file: the same kernels."""
    moved = python(
        "# a comment\n\n" + SCRIPT.replace("    def gather", "    # why\n    def gather"), "other.py"
    )
    assert moved.answer == first.answer
    assert moved.saved == []


EDITS = {
    "a function": ("+ STEP", "+ STEP + 1", "[0, 3, 9, 21, -1]"),
    "a global": ("STEP = 2", "STEP = 5", "[0, 5, 15, 35, -1]"),
    "a helper": ("return 2 * x", "return 3 * x", "[0, 2, 8, 26, -1]"),
}


@pytest.mark.slow  # tests/program/test_content_key.py has the keys, test_cached_processes.py edited files
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_gives_the_new_answer(first, python, edit):
    old, new, answer = EDITS[edit]
    edited = python(SCRIPT.replace(old, new))
    assert edited.answer == answer
    assert edited.saved
    back = python(SCRIPT)
    assert back.answer == first.answer
    assert back.saved == []


# --- what is in the kernels --------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernels(first):
    """Name -> LLVM code of the loop and of what is specialised for the program."""
    parts = re.split(r"^-+OPTIMIZED DUMP (\S+?)-+$", first.output, flags=re.MULTILINE)
    named = zip(parts[1::2], parts[2::2], strict=True)
    ours = r"(loop_frontier(?=_[0-9a-f]{16}$)|\w+(?=_[0-9a-f]{20}(_Job_[0-9a-f]{16})?$)).*"
    return {name[1]: code for text, code in named if (name := re.fullmatch(ours, text))}


WHOLE = "loop_frontier", "Walk"
"""Kernels that are optimised: the others are parts of the second."""


def native(code: str) -> str:
    """The first function of a dump: the kernel itself, without the wrappers that Python enters by."""
    return code[code.index("\ndefine ") : code.index("\n}\n")]


@pytest.mark.parametrize("name", WHOLE)
def test_no_references_are_counted(kernels, name):
    kernel = native(kernels[name])
    assert len(kernel) > 10_000
    assert "NRT_" not in kernel


def test_scatter_and_gather_have_neither_locks_nor_atomics(kernels):
    phases = {name: code for name, code in kernels.items() if name not in ("work", *WHOLE)}
    assert {"scatter_sc", "scatter_pc", "gather", "filter"} <= set(phases)
    for name, code in phases.items():
        assert not re.search(r"atomicrmw|cmpxchg|fence", code), name


def test_phases_add_to_claims_only_and_the_loop_to_nothing(kernels):
    """The loop is the main thread's; what counts workers is theirs (follow.py)."""
    loop, phases = (native(kernels[name]) for name in WHOLE)
    updates = re.findall(r"atomicrmw .*", phases)
    assert updates and all(re.match(r"atomicrmw add \S+ \S+, i64 \S+ acq_rel", update) for update in updates)
    assert not re.search(r"atomicrmw|cmpxchg", loop) and "cmpxchg" not in phases

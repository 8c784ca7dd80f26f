"""Numba's private parts: taken in one place, and done without where they are missing or have changed."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from errno import ENOSPC
from pathlib import Path

import pytest

import gpop
from gpop.common import numba_private
from tests.quick import quick

PACKAGE = Path(gpop.__file__).parent
PROJECT = PACKAGE.parent / "pyproject.toml"
PUBLIC = {"numba", "numba.extending", "numba.types"}


def test_private_parts_are_imported_in_one_place():
    for file in PACKAGE.rglob("*.py"):
        if file.name == "numba_private.py":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            private = [name for name in names if name.partition(".")[0] == "numba" and name not in PUBLIC]
            assert private == [], file


def test_the_tested_versions_are_those_that_pip_takes():
    lines = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    line = next(line for line in lines if line.startswith("numba"))
    low, high = numba_private.TESTED
    major, minor = high.split(".")
    assert line == f"numba>={low},<{major}.{int(minor) + 1}"


KERNELS = """
import numpy as np
from numba import njit
from gpop.common.inlined import KERNEL, inline
from gpop.common.numba_private import known_options
@inline
def cube(x):
    return x * x * x
@inline
def sum_of_cubes(values):
    total = 0
    for value in values:
        total += cube(value)
    return total
def mean(values):
    return sum_of_cubes(values) / len(values)
print(njit(nogil=True, **known_options(KERNEL))(mean)(np.arange(5)))
"""

PROGRAM = """
import gpop
graph = gpop.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=6)
print(gpop.bfs(graph, 0, mode="sc", threads=2).level.tolist())
"""

CHANGES = {
    "missing": "import sys, numba; sys.modules['numba._dynfunc'] = None; del numba._dynfunc",
    "other arguments": "import types, gpop.common.numba_private as p; p._dynfunc = types.SimpleNamespace()",
    "other options": "from numba.core.cpu import CPUTargetOptions as o; del o.__mro__[1]._nrt",
    "untested": "import numba; numba.__version__ = '0.99.1'",
}
NECESSARY_GONE = """
import builtins
real = builtins.__import__
def refuse(name, names=None, *rest):
    if name == "numba.core.typed_passes" and (names or {}).get("__name__") == "gpop.common.numba_private":
        raise ImportError("no typed passes")
    return real(name, names, *rest)
builtins.__import__ = refuse
"""


NECESSARY = """
import sys, gpop
from gpop.common.command import exit_code
sys.exit(exit_code(lambda: gpop.bfs(gpop.Graph.from_edges([0], [1]), 0)))
"""


def run(change: str, script: str, folder: Path) -> subprocess.CompletedProcess:
    path = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-c", f"{change}\n{script}"], capture_output=True, text=True, timeout=280,
        env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder)},
    )  # fmt: skip


@pytest.mark.parametrize("change", quick(CHANGES, next(iter(CHANGES))))
def test_without_them_plain_njit_does_it(change, tmp_path):
    done = run(CHANGES[change], KERNELS, tmp_path)
    assert (done.returncode, done.stdout) == (0, "20.0\n"), done.stderr
    warned = done.stderr.count("RuntimeWarning: gpop was tested with Numba")
    assert warned == (change == "untested")


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_without_them_a_program_runs(change, tmp_path):
    done = run(CHANGES[change], PROGRAM, tmp_path)
    assert (done.returncode, done.stdout) == (0, "[0, 1, 2, 3, -1, -1]\n"), done.stderr


def test_without_the_necessary_parts_one_line_says_so(tmp_path):
    done = run(NECESSARY_GONE, NECESSARY, tmp_path)
    message = r"gpop: gpop was tested with Numba \S+ to \S+, this is \S+: no typed passes\n"
    assert done.returncode == 2
    assert re.fullmatch(message, done.stderr), done.stderr


def test_garbage_is_left_alone_while_a_kernel_is_compiled(tmp_path, monkeypatch):
    """Also where compiling fails; whoever does without the collector keeps doing so."""
    import gc

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # what an earlier run has left is not compiled
    monkeypatch.setattr(numba_private.config, "CACHE_DIR", str(tmp_path))

    from gpop.common.cached import cached

    seen = []

    @cached
    def half(x):
        return x / 2

    @cached
    def wrong(x):
        return x.no_such_attribute

    compiler = numba_private.compiler.compile_extra
    monkeypatch.setattr(
        numba_private.compiler,
        "compile_extra",
        lambda *a, **k: seen.append(gc.isenabled()) or compiler(*a, **k),
    )
    assert half(3) == 1.5
    assert gc.isenabled()
    with pytest.raises(numba_private.errors.TypingError):
        wrong(3)
    assert gc.isenabled()
    gc.disable()
    try:
        assert half(3.0) == 1.5
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert len(seen) >= 2 and not any(seen)


def test_named_tuples_that_kernels_take_have_names_of_their_own():
    """Numba tells them apart by name: every call of a kernel with the second of a name is a slow one."""
    rooms = ("common", "cpu", "direct", "generate", "layout", "model")
    found = [
        node.name
        for room in rooms
        for file in (PACKAGE / room).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "NamedTuple" for base in node.bases)
    ]
    assert len(found) > 20
    assert sorted(found) == sorted(set(found))


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 60], ids=["empty", "cut"])
def test_a_damaged_file_is_as_none(suffix, left, tmp_path, monkeypatch):
    """Also where Numba looks into it before it writes."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba_private.config, "CACHE_DIR", str(tmp_path))

    def thrice(x):
        return 3 * x

    def hits():
        kernel = numba_private.kept_dispatcher(thrice, {})
        assert kernel(5) == 15
        return sum(kernel.stats.cache_hits.values())

    assert hits() == 0
    (file,) = tmp_path.rglob(f"*.{suffix}")
    file.write_bytes(file.read_bytes()[:left])
    assert (hits(), hits()) == (0, 1)


def test_a_kernel_for_which_there_is_no_room_runs(monkeypatch):
    from numba.core.caching import IndexDataCacheFile

    def no_room(*given):
        raise OSError(ENOSPC, "No space left on device")

    def thrice(x):
        return 3 * x

    monkeypatch.setattr(IndexDataCacheFile, "save", no_room)
    assert numba_private.kept_dispatcher(thrice, {})(5) == 15

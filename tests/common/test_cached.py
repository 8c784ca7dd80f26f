"""Kept kernels are never stale: their names follow every file that they can have taken something from."""

from __future__ import annotations

import ast
import importlib
import re
import shutil
import types
from functools import cache
from pathlib import Path

import pytest

import gpop
from gpop.apps.bfs import BFS
from gpop.apps.pagerank_programs import PageRank
from gpop.apps.sssp import SSSP
from gpop.common import cached, numba_private
from gpop.common.kernel import Kernel
from gpop.cpu import pull, specialise
from gpop.cpu.traits import MAYBE, NEVER, Traits
from gpop.plan import hidden
from gpop.program.lowering import lower
from tests.programs import Smallest

PACKAGE = Path(gpop.__file__).parent
ROOT = PACKAGE.parent


def modules() -> dict[str, str]:
    """Name -> file of every module of the package."""
    files = sorted(PACKAGE.rglob("*.py"))
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    return {name.removesuffix(".__init__"): str(file) for name, file in zip(names, files, strict=True)}


MODULES = modules()


# --- what a kernel is made of, found by walking through the functions themselves ------------------


@cache
def imported_from(file: str) -> dict[str, str]:
    """Global name -> module that it was imported from, wherever in the file."""
    origin = {}
    for node in ast.walk(ast.parse(Path(file).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "gpop":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                origin[alias.asname or alias.name] = inner if inner in MODULES else node.module
    return origin


def names_of(code: types.CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return {*code.co_names, *(name for part in inner for name in names_of(part))}


def ingredients(kernel) -> set[str]:
    """Files of every function and constant that a kernel reaches."""
    files, seen, waiting = set(), set(), [kernel]
    while waiting:
        value = waiting.pop()
        function = getattr(value, "py_func", getattr(value, "_defn", value))
        if not isinstance(function, types.FunctionType) or id(function) in seen:
            continue
        seen.add(id(function))
        file = function.__code__.co_filename
        if file not in MODULES.values():
            continue
        files.add(file)
        origin = imported_from(file)
        for name in names_of(function.__code__):
            if name in origin and name in function.__globals__:
                files.add(MODULES[origin[name]])
            found = function.__globals__.get(name)
            if isinstance(found, types.ModuleType):
                waiting += [getattr(found, part, None) for part in names_of(function.__code__)]
            waiting.append(found)
        waiting += [cell.cell_contents for cell in function.__closure__ or ()]
    return files


def kept_kernels() -> dict[str, Kernel]:
    """Every kernel at the top of a module that is kept on disk."""
    found = {}
    for name in MODULES:
        if name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, Kernel) and value.py_func.__module__ == name:
                found[f"{name}.{value.py_func.__name__}"] = value
    return found


def kernels_of_programs() -> list[types.FunctionType]:
    """What is compiled for some programs, with and without interleaving, priorities and pull."""
    made = []
    for cls, interleave in ((Smallest, True), (BFS, False), (SSSP, False), (PageRank, False)):
        lowered = lower(cls)
        traits = Traits(
            None, bool(cls.all_active), hidden.MASK_NONE, None, interleave,
            NEVER if interleave else MAYBE, True, False, False,
        )  # fmt: skip
        made.append(specialise.work_of(lowered, traits))
    return made


# --- the tests -----------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the package whose files are hashed in place of the package's."""
    folder = tmp_path / "gpop"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cached, "_folders", {"gpop": str(folder)})
    forget()
    yield folder
    forget()


def forget() -> None:
    cached._read.cache_clear()
    cached.source_key.cache_clear()


def test_an_edit_of_any_ingredient_changes_the_key(copy):
    def place(file: str) -> Path:
        return copy / Path(file).relative_to(PACKAGE)

    kernels = kept_kernels()
    assert len(kernels) > 40
    of_files = {kernel.py_func.__code__.co_filename: set() for kernel in kernels.values()}
    for kernel in kernels.values():
        of_files[kernel.py_func.__code__.co_filename] |= ingredients(kernel)
    # What comes from a program is in the content key of the program.
    of_loops = set().union(*map(ingredients, kernels_of_programs()))
    of_files[specialise.__file__] = {file for file in of_loops if not file.startswith(f"{PACKAGE}/apps/")}
    assert MODULES["gpop.cpu.active"] in of_files[MODULES["gpop.cpu.priority"]]
    assert MODULES["gpop.direct.forest"] in of_files[MODULES["gpop.direct.afforest"]]
    assert {pull.__file__, MODULES["gpop.model.bytes"], MODULES["gpop.common.atomics"]} <= of_files[
        specialise.__file__
    ]

    def keys() -> dict[str, str]:
        forget()
        return {file: cached.source_key(str(place(file))) for file in of_files}

    before = keys()
    edits = set().union(*of_files.values())
    assert len(edits) > 30
    for edited in sorted(edits):
        text = place(edited).read_text()
        place(edited).write_text(text.replace("1", "2", 1) + "\n")
        after = keys()
        place(edited).write_text(text)
        for file, parts in of_files.items():
            assert edited not in parts or after[file] != before[file], f"{file} is stale after {edited}"
    assert keys() == before


def test_what_no_kernel_takes_anything_from_changes_no_key(copy):
    before = cached.source_key(str(copy / "cpu" / "specialise.py"))
    for file in ("apps/bfs.py", "io/text.py", "gpu/engine.py"):
        (copy / file).write_text((copy / file).read_text() + "\nEDITED = 1\n")
    forget()
    assert cached.source_key(str(copy / "cpu" / "specialise.py")) == before


def test_the_name_of_a_kept_kernel_ends_in_its_key():
    for kernel in kept_kernels().values():
        key = cached.source_key(kernel.py_func.__code__.co_filename)
        assert re.fullmatch(r"[0-9a-f]{16}", key)
        assert kernel.py_func.__qualname__ == f"{kernel.py_func.__name__}_{key}"
        assert key in kernel.dispatcher._cache._cache_file._index_name


IMPORTS = """
import gpop.one as first
from gpop import two
from gpop.three import (
    FIRST,
    SECOND,
)
from gpop.rooms import (
    four,
    CONSTANT,
)
from gpop.rooms.five import a as b
import gpopular
    from gpop import six
"""


def test_imports_are_followed_in_every_spelling(tmp_path, monkeypatch):
    folder = tmp_path / "gpop"
    (folder / "rooms").mkdir(parents=True)
    names = ("__init__", "one", "two", "three", "six", "rooms/__init__", "rooms/four", "rooms/five")
    for name in names:
        (folder / f"{name}.py").write_text(f"# {name}\n")
    (folder / "start.py").write_text(IMPORTS)
    monkeypatch.setattr(cached, "_folders", {"gpop": str(folder)})

    def key():
        forget()
        return cached.source_key(str(folder / "start.py"))

    before = key()
    changed = set()
    for name in names:
        (folder / f"{name}.py").write_text("# edited\n")
        changed |= {name} if key() != before else set()
        (folder / f"{name}.py").write_text(f"# {name}\n")
    forget()
    assert changed == {*names} - {"six"}


def test_nothing_is_kept_in_another_way():
    """``cache=True`` stands in one place; a kernel kept otherwise could be stale."""
    private = Path(numba_private.__file__)
    files = [file for file in [*PACKAGE.rglob("*.py"), *(ROOT / "perf").rglob("*.py")] if file != private]
    texts = {file: file.read_text() for file in files}
    for file in [file for file in files if re.search(r"\bcache\b|enable_caching", texts[file])]:
        for node in ast.walk(ast.parse(texts[file])):
            if isinstance(node, ast.Call):
                assert "cache" not in [word.arg for word in node.keywords if ends_in_jit(node)], file
            assert not (isinstance(node, ast.Attribute) and node.attr == "enable_caching"), file


def ends_in_jit(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name in ("jit", "njit", "vectorize", "guvectorize", "stencil", "partial")


# --- edits of a copy of the package, with the kernels of before on disk ----------------------------

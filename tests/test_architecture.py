"""The rooms of the package: imports go down, in no circle, and what goes up by name is listed here.

The contract of the layers is in pyproject.toml; import-linter checks it, imports inside functions and under
TYPE_CHECKING included. It cannot see a module that is imported by its name, so every such import is listed.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests.versions import ROOT

CONTRACT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]

UP_BY_NAME = [
    ("from_scipy", "interop.scipy_matrix"),
    ("from_networkx", "interop.networkx_graph"),
    ("from_pandas", "interop.pandas_frame"),
    ("from_arrow", "interop.arrow_table"),
    ("to_scipy", "interop.scipy_matrix"),
    ("to_networkx", "interop.networkx_graph"),
    ("to_pandas", "interop.pandas_frame"),
    ("to_arrow", "interop.arrow_table"),
    ("save", "io"),
]
"""Methods of `Graph` that need a room above, and its module; nothing else may (gpop/common/above.py)."""

BY_NAME = {
    "gpop/__init__.py": "the public names, which load their module when first used",
    "gpop/__main__.py": "commands, by the name of their module",
    "gpop/common/above.py": "the one way up",
    "gpop/common/ahead.py": "kernels that another process is asked for",
    "gpop/common/compile_faster.py": "a part of Numba, imported while SciPy is not to be",
    "gpop/common/deferred.py": "what is imported later: Numba, and modules of the same room",
    "gpop/generate/__init__.py": "generators, by the name of their module",
    "gpop/io/__init__.py": "formats, by the suffix of a file",
    "gpop/networkx/backend.py": "functions that NetworkX asks for, by the table of families",
    "gpop/io/networkx_file.py": "another package: the first of two that is installed",
}
"""Files that import modules by name, and what for."""

USERS = ("__main__", "apps", "compare", "convert", "info", "networkx", "tune")
"""What may import ``gpop`` itself, which leads to every room."""


def lint(folder: Path) -> subprocess.CompletedProcess:
    """import-linter's verdict on the package in this folder, by the contract that lies beside it."""
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as c; c()",
        "--no-cache",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def imports(folder: Path = ROOT) -> dict[str, set[str]]:
    """Module -> what it imports, without what the contract leaves out."""
    sys.path.insert(0, str(folder))
    try:
        graph = grimp.build_graph("gpop", cache_dir=None)
    finally:
        sys.path.remove(str(folder))
    left_out = [tuple(line.split(" -> ")) for line in CONTRACT.get("ignore_imports", ())]
    found = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    for importer, imported in left_out:
        found[importer].discard(imported)
    found["gpop"] = set()  # it names its public parts for type checkers, and loads each when first used
    return found


def circle(found: dict[str, set[str]]) -> list[str]:
    """A circle of modules that import each other; empty when there is none."""
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def calls(source: str, name: str) -> list[tuple[str, ast.Call]]:
    """(name of the function around it, call) of all calls of ``name``."""
    return [
        (around.name, node)
        for around in ast.walk(ast.parse(source))
        if isinstance(around, ast.FunctionDef)
        for node in ast.walk(around)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def test_rooms_import_downwards():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("room", ["common", "cpu", "direct", "gpu"])
def test_the_map_of_a_large_room_has_every_file(room):
    """And names no other: it is where one begins to look."""
    folder = ROOT / "gpop" / room
    _, table, _ = re.split("^=+  =+$", (folder / "__init__.py").read_text(), flags=re.MULTILINE)
    named = [name for name in re.findall("``([^`]+)``", table) if "/" not in name]
    here = {path.stem for path in folder.glob("*.py")} | {path.name for path in folder.glob("*.cuh")}
    here |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert sorted(named) == sorted(here - {"__init__"})


def test_no_modules_import_each_other_in_a_circle():
    assert circle(imports()) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("graph/build.py", "from gpop.io import load"),
        ("cpu/scatter.py", "from gpop.gpu import device"),  # beside, not below
        ("common/memory.py", "def f():\n    import gpop.graph.graph"),
        ("layout/bins.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import gpop.apps.bfs"),
        ("unplaced.py", "pass"),
    ],
)
def test_what_the_contract_refuses(tmp_path, file, line):
    copy(tmp_path, file, line)
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "Rooms import downwards BROKEN" in done.stdout


def test_a_circle_in_a_room_is_found(tmp_path):
    # Another process, because this one has the package already.
    copy(tmp_path, "layout/partition.py", "def f():\n    from gpop.layout.bins import Bins")
    code = "from tests.test_architecture import *; print(*circle(imports(Path.cwd())))"
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(ROOT)!r}); {code}"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert {"gpop.layout.partition", "gpop.layout.bins"} <= {*found}


def copy(folder: Path, file: str, line: str) -> None:
    """The package and its contract in this folder, with a line more in one file."""
    shutil.copytree(ROOT / "gpop", folder / "gpop", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    with (folder / "gpop" / file).open("a") as end:
        end.write(f"\n{line}\n")


def test_what_imports_the_package_itself():
    found = {module.split(".")[1] for module, imported in imports().items() if "gpop" in imported}
    assert found == {*USERS}


def test_ways_up_are_the_conversions_of_graphs():
    found = []
    for path in (ROOT / "gpop").rglob("*.py"):
        if path.name != "above.py" and "module_above" in path.read_text():
            assert path.parent == ROOT / "gpop" / "graph" and path.stem in ("graph", "interchange")
            source = path.read_text()
            here = [(around, call.args[0].value) for around, call in calls(source, "module_above")]
            assert source.count("module_above(") == len(here)
            found += here
    assert sorted(found) == sorted(UP_BY_NAME)


def test_imports_by_name():
    found = set()
    for path in (ROOT / "gpop").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = getattr(node, "func", None)
            if getattr(called, "id", getattr(called, "attr", None)) in ("import_module", "__import__"):
                found.add(path.relative_to(ROOT).as_posix())
    assert found == {*BY_NAME}


def test_what_is_imported_later_is_in_the_same_room():
    found = []
    for path in (ROOT / "gpop").rglob("*.py"):
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        later = [call.args[0].value for call in nodes if getattr(call.func, "id", "") == "Later"]
        rooms = {name.split(".")[1] for name in later if name.startswith("gpop.")}
        assert rooms <= {path.relative_to(ROOT).parts[1]}, path
        found += rooms
    assert found

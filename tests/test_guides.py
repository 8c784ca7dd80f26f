"""The examples of ARCHITECTURE.md run, its recipes work as they stand, and what the guides name exists."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.generate import GENERATORS, generate
from gpop.io import FORMATS
from gpop.layout.bins import Bins
from gpop.layout.in_edges import Incoming

ROOT = Path(__file__).resolve().parents[1]
GUIDES = {name: (ROOT / f"{name}.md").read_text() for name in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")}
HOUSE = GUIDES["ARCHITECTURE"]
RECIPE = re.compile(r"<!-- (\w+): (\S+), (\w+): ([^\n]+) -->\n```python\n(.*?)```", re.DOTALL)
RECIPES = {
    kind: (path, registry, line, source) for kind, path, registry, line, source in RECIPE.findall(HOUSE)
}


def test_the_life_of_a_message():
    """One session over all blocks: each goes on where the one before has ended."""
    session = "\n".join(re.findall(r"```pycon\n(.*?)```", HOUSE, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(session, {}, "ARCHITECTURE.md", "ARCHITECTURE.md", 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert len(test.examples) > 30 and not said, "".join(said)


@pytest.mark.parametrize(
    "name", [f"bins.{name}" for name in Bins._fields] + [f"incoming.{name}" for name in Incoming._fields]
)
def test_every_array_is_printed(name):
    assert re.search(rf"^>>> .*\b{re.escape(name)}\b", HOUSE, re.MULTILINE)


def test_every_room_is_in_the_table():
    rooms = {path.parent.name for path in (ROOT / "gpop").glob("*/__init__.py")}
    table = re.search(r"\| room \|.*?\n\n", HOUSE, re.DOTALL)[0].strip()
    named = {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert rooms <= named


@pytest.mark.parametrize("guide", GUIDES)
def test_files_and_names_exist(guide):
    text = GUIDES[guide]
    paths = re.findall(r"[`(]((?:gpop|tests|perf|apps|data)/[\w./-]*|[\w-]+\.(?:md|toml))[`)]", text)
    recipes = {path for path, *_ in RECIPES.values()}
    missing = [path for path in paths if path not in recipes and not (ROOT / path).exists()]
    assert paths and not missing
    for name in re.findall(r"`(gpop(?:\.\w+)+)[`(]", text):
        assert resolves(name), name


def resolves(dotted: str) -> bool:
    """Whether ``a.b.c`` is a module, or an attribute of one."""
    module, _, attribute = dotted.rpartition(".")
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        return hasattr(importlib.import_module(module), attribute)
    return True


@pytest.mark.parametrize(
    ("registry", "file"), re.findall(r"(?:in|of) `([A-Z_]+)`\s+(?:of|\()\s*`([\w/]+\.py)`", HOUSE)
)
def test_registries_are_where_they_are_said_to_be(registry, file):
    assigned = [
        target.id
        for node in ast.parse((ROOT / file).read_text()).body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]
    assert registry in assigned


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """Put a recipe of the page in place: its file in the package, its line in the registry."""

    def put(kind, package, registry):
        path, named, line, source = RECIPES[kind]
        assert Path(path).parent == Path(*package.__name__.split("."))
        assert any(value is registry for value in (getattr(package, named, None), getattr(gpop, named, None)))
        (tmp_path / Path(path).name).write_text(source)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
        for name, entry in ast.literal_eval(f"{{{line}}}").items():
            monkeypatch.setitem(registry, name, entry)

    return put


def test_an_app_as_described(recipe, monkeypatch):
    recipe("app", importlib.import_module("gpop.apps"), gpop._HOMES)
    graph = gpop.Graph.from_edges([0, 1, 4], [1, 2, 0], n=6)
    try:
        assert [gpop.reach(graph, v, mode=mode).count for v, mode in [(0, "sc"), (4, "pc"), (5, "auto")]] == [
            3,
            4,
            1,
        ]
    finally:
        vars(gpop).pop("reach", None)


def test_a_format_as_described(recipe, tmp_path):
    recipe("format", importlib.import_module("gpop.io"), FORMATS)
    graph = gpop.Graph.from_edges([2, 0, 1], [0, 1, 2])
    graph.save(tmp_path / "small.pairs")
    back = gpop.load(tmp_path / "small.pairs")
    assert np.array_equal(back.indices, graph.indices) and np.array_equal(back.indptr, graph.indptr)
    (tmp_path / "cut.pairs").write_bytes(bytes(12))
    with pytest.raises(gpop.GraphFileError, match="12 bytes, expected 8 for each edge"):
        gpop.load(tmp_path / "cut.pairs")


def test_a_generator_as_described(recipe):
    recipe("generator", importlib.import_module("gpop.generate"), GENERATORS)
    graph = generate("ring", vertices=5)
    assert graph.indices.tolist() == [1, 2, 3, 4, 0]
    with pytest.raises(gpop.UsageError, match="vertices 0 is not possible"):
        generate("ring", vertices=0)


def test_the_markers_of_the_tests_are_explained():
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    for marker in options["markers"]:
        assert f"`{marker.partition(':')[0]}`" in GUIDES["CONTRIBUTING"]


def test_the_version_is_in_the_changelog():
    assert f"## [{gpop.__version__}]" in GUIDES["CHANGELOG"] or "## [Unreleased]" in GUIDES["CHANGELOG"]

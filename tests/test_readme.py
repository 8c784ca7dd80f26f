"""The Python of the README runs, and its commands and names exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import gpop
from tests.cli.commands import APPS
from tests.networkx.registered import register
from tests.site_pages import PAGES

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A directory with the bundled graphs, where examples may write."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    register()


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_python(number, elsewhere):
    names = {"__name__": "__main__"}
    exec(compile(PYTHON[number], f"README.md, Python block {number}", "exec"), names)
    if "program" in names:
        assert np.count_nonzero(names["program"].width) > 10_000


@pytest.mark.parametrize("app", APPS)
def test_every_app_and_its_fields_are_in_the_table(app):
    row = next(line for line in README.splitlines() if line.startswith(f"| `gpop.apps.{app}`"))
    assert callable(getattr(gpop, re.search(r"`gpop\.(\w+)\(", row)[1]))


def test_nothing_is_installed_from_an_index():
    """gpop is on none: extras are those of the checkout, and exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = "\n".join([README, *PAGES.values()])
    asked = re.findall(r"pip install (?:-\w+ )*\"([^\"]*)\"", text)
    assert len(asked) >= 5
    for name in asked:
        assert re.fullmatch(r"\.\[(\w+)\]", name)[1] in project["optional-dependencies"]
    assert not re.search(r"gpop\[", text)


def test_files_that_are_linked_exist():
    linked = re.findall(r"\]\(((?!https?:)[^)#]+)\)", README)
    assert "ARCHITECTURE.md" in linked and "docs/index.md" in linked
    assert not [path for path in linked if not (ROOT / path).exists()]


def test_the_two_commands_are_marked():
    for mark in ("run", "tests"):
        block = re.search(rf"<!-- {mark} -->\n```sh\n(.*?)\n```", README, re.DOTALL)[1]
        assert block.startswith("python -m venv .venv && .venv/bin/pip install")


def test_it_is_short():
    """The tables of speed aside, which are as long as what was measured."""
    assert (
        len(
            re.sub(r"<!-- (scaling|machine|gpu) -->.*?<!-- /\1 -->", "", README, flags=re.DOTALL).splitlines()
        )
        <= 200
    )


def test_it_leads_to_every_page_of_the_guide():
    pages = [page for page in PAGES if page.startswith(("guide/", "tutorials/", "migration/"))]
    missing = [page for page in pages if not page.endswith("/index") and f"(docs/{page}.md)" not in README]
    assert not missing

"""Commands of README and site that take seconds on what is bundled or made by those before them: they run.

All others are looked at by their parsers only (`tests/test_documented_commands.py`).
"""

from __future__ import annotations

import gzip
from importlib import import_module
from pathlib import Path

import pytest

import gpop
from gpop.generate import generate
from tests.test_documented_commands import ROOT, TEXTS, commands_in, lines_of

PAGES = (
    "README.md",
    "docs/guide/files.md",
    "docs/migration/gapbs.md",
    "docs/tutorials/choose_a_mode.md",
    "docs/tutorials/first_graph.md",
    "docs/tutorials/ranks.md",
)
LEFT_OUT = {
    "gpop.compare rmat.bin": "all apps in all modes on four million edges",
    "perf gap rmat:scale=12,symmetrize": "compiles six apps for a form of graph that nobody else has",
}
"""Commands by how they begin, and why they are not run."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """With what the pages expect: what is bundled, and a list of edges by the name of the guide."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    gpop.save(generate("rmat", scale=8, seed=1), tmp_path / "web.txt")
    (tmp_path / "web.txt.gz").write_bytes(gzip.compress((tmp_path / "web.txt").read_bytes()))
    return tmp_path


def runs(page: str) -> list[list[str]]:
    """Module and arguments of what a page has run, in its order."""
    shown = [words for line, whole in lines_of(TEXTS[page]) if whole for words in commands_in(line)]
    ours = [words for words in shown if "pip" not in words and "pytest" not in words]
    return [words for words in ours if " ".join(words) not in LEFT_OUT]


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page(page, folder, capsys):
    for module, *words in runs(page):
        name = f"{module}.__main__" if module in ("gpop", "perf", "gpop.generate") else module
        code = import_module(name).main(words)
        out, err = capsys.readouterr()
        assert code in (None, 0), f"{module} {' '.join(words)}: {err}"
        assert out
        for option in ("--output", "--trace"):
            assert option not in words or Path(words[words.index(option) + 1]).stat().st_size


def test_there_are_some_and_what_is_left_out_is_shown():
    assert sum(map(len, map(runs, PAGES))) > 15
    shown = {
        " ".join(words) for page in PAGES for line, _ in lines_of(TEXTS[page]) for words in commands_in(line)
    }
    assert shown >= set(LEFT_OUT)

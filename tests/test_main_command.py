"""The command ``gpop``: the same commands as ``python -m``, its version, and words that a shell completes."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gpop
from gpop import __main__ as listing
from gpop.common import command
from tests.versions import ROOT

KARATE = "data/karate.bin"


def test_the_entry_point_is_this_function():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["scripts"]["gpop"].partition(":")
    assert getattr(importlib.import_module(module), name) is listing.main


def test_every_listed_command_has_its_module(capsys):
    assert listing.main(["--help"]) == 0
    listed = set(re.findall(r"^  (?:gpop )?(\w+) ", capsys.readouterr().out, re.MULTILINE)) - {"gpop"}
    assert listed == {*listing.modules(), "completion"}
    for module in listing.modules().values():
        assert callable(importlib.import_module(module).main)


def test_a_command_is_what_the_module_is(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    arguments = [KARATE, "--source", "0", "--rounds", "1", "--json"]
    assert listing.main(["bfs", *arguments]) == 0
    assert '"command": "bfs"' in capsys.readouterr().out
    assert listing.main(["bfs", "none.bin"]) == 2
    assert capsys.readouterr().err.startswith("gpop: none.bin: cannot be read")
    assert command.called_as is None


@pytest.mark.parametrize("name", ["bfs", "convert", "info", "compare", "generate"])
def test_help_names_the_command_as_it_was_called(name, capsys):
    for call, shown in (
        (lambda: listing.main([name, "--help"]), f"usage: gpop {name} "),
        (lambda: importlib.import_module(listing.modules()[name]).main(["--help"]), "usage: python -m gpop."),
    ):
        with pytest.raises(SystemExit):
            call()
        assert capsys.readouterr().out.startswith(shown)
    assert listing.main([name, "--nonsense"]) == 2
    assert f"(see gpop {name} --help)" in capsys.readouterr().err


def test_version_and_what_is_no_command(capsys):
    for word in ("--version", "-V"):
        assert listing.main([word]) == 0
        assert capsys.readouterr().out == f"gpop {gpop.__version__}\n"
    assert listing.main(["convrt"]) == 2
    assert capsys.readouterr().err.startswith("gpop: gpop has no command 'convrt' (did you mean convert?): ")


def completed(line: str, tmp_path) -> set[str]:
    """What argcomplete's function in the shell gets for a line that ends at the cursor."""
    answer = tmp_path / "answer"
    environment = {
        **os.environ, "_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "IFS": "\v",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer), "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }  # fmt: skip
    subprocess.run([sys.executable, "-m", "gpop"], env=environment, cwd=ROOT, timeout=120, check=False)
    return {word.strip() for word in re.split("[\v\n]", answer.read_text()) if word.strip()}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gpop pa", {"pagerank", "pagerank_nibble"}),
        ("gpop --v", {"--version"}),
        ("gpop sssp data/road.bin --del", {"--delimiter", "--delta"}),
        ("gpop bfs data/road.bin --mode p", {"pc", "pull"}),
        ("gpop convert a.bin b.bin --rel", {"--relabel"}),
        ("gpop generate rm", {"rmat"}),
    ],
)
def test_words_are_completed(line, words, tmp_path):
    pytest.importorskip("argcomplete")
    assert completed(line, tmp_path) == words


@pytest.mark.parametrize("shell", listing.SHELLS)
def test_the_shell_is_told_what_to_call(shell, capsys):
    pytest.importorskip("argcomplete")
    assert listing.main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert "gpop" in out and "_ARGCOMPLETE" in out
    if shell == "bash":
        done = subprocess.run(["bash", "-c", f"{out}\ncomplete -p gpop"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("complete ")
    assert listing.main(["completion", "csh"]) == 2


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == gpop.__version__
    released = re.search(r"^date-released: (.*)$", text, re.MULTILINE)[1]
    assert f"## [{gpop.__version__}] - {released}" in Path(ROOT, "CHANGELOG.md").read_text()
    assert "doi: 10.1145/3380942" in text and text.startswith("cff-version: 1.2.0\n")

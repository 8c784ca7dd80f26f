"""``python -m gpop.warm``: what it runs compiles what a first run would have to, and nothing is left out."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from gpop.__main__ import PACKAGE, commands
from gpop.common import kernel_folder
from gpop.common.errors import GpopError
from gpop.warm import FIRST, RUNS, apps, main, make_graphs, runs_of, warm
from tests.test_json import valid


def test_every_app_is_run_and_the_first_is_alone_at_the_head():
    names = [name for name, _ in commands(PACKAGE / "apps")]
    runs = runs_of(names)
    assert {module for module, _ in runs} == {f"gpop.apps.{name}" for name in names}
    assert runs[0][0] == f"gpop.apps.{FIRST}"
    assert RUNS.keys() <= apps().keys()


DATA = PACKAGE.parent / "data"

COMMAND = """
import importlib, sys
module, *words = sys.argv[1:]
sys.stdout, out = sys.stderr, sys.stdout
code = importlib.import_module(module).main([*words, "--rounds", "2", "--json"])
large = "numba", "scipy", "tqdm", "asyncio", "numpy.ma"
print(code, *[name for name in large if name in sys.modules], file=out)
"""


def imported_by(module: str, *words: str) -> list[str]:
    """What of the large modules that a command can do without it imports."""
    told = [sys.executable, "-c", COMMAND, module, *words]
    done = subprocess.run(told, capture_output=True, text=True, timeout=280, check=False)
    code, *names = done.stdout.split()
    assert code == "0", done.stderr
    return names


def test_after_it_nothing_is_compiled(tmp_path, monkeypatch, capfd):
    """An app of one small kernel; its second run finds all that the first has left."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert main(["triangles", "--processes", "1", "--json"]) == 0
    told = valid(capfd.readouterr().out, "warm")
    assert (told["apps"], told["runs"]) == (["triangles"], 1)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert kept
    assert imported_by("gpop.apps.triangles", str(DATA / "karate.bin")) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == kept


def test_where_nothing_can_be_kept_nothing_is_compiled(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setattr(kernel_folder, "code_folder", lambda file: tmp_path / "file" / "code")
    assert main(["triangles"]) != 0
    out, err = capsys.readouterr()
    assert out == "" and re.fullmatch(r"gpop: .*file/code cannot be written: what .* not be kept\n", err)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """What the runs of `gpop.warm` are given."""
    folder = tmp_path_factory.mktemp("warm")
    make_graphs(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("app", apps())
def test_a_command_that_has_run_before_imports_no_compiler(app, graphs, monkeypatch):
    """An import of Numba takes as long as all else that a short command does."""
    monkeypatch.chdir(graphs)
    for module, arguments in runs_of([app]):
        imported_by(module, *arguments)
        assert imported_by(module, *arguments) == [], (module, arguments)


def test_what_an_app_says_is_handed_on(monkeypatch):
    monkeypatch.setitem(RUNS, "triangles", (["nowhere.bin"],))
    with pytest.raises(GpopError, match="gpop.apps.triangles nowhere.bin: .*nowhere.bin"):
        warm(["triangles"], 1)


@pytest.mark.parametrize("words", [["bsf"], ["--processes", "0"]])
def test_bad_input_is_one_line(words, capfd):
    assert main(words) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1

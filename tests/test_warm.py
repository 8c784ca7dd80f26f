"""``python -m gpop.warm``: what it runs compiles what a first run would have to, and nothing is left out."""

from __future__ import annotations

import pytest

from gpop.__main__ import PACKAGE, commands
from gpop.common.errors import GpopError
from gpop.warm import FIRST, RUNS, apps, main, runs_of, warm
from tests.test_json import valid


def test_every_app_is_run_and_the_first_is_alone_at_the_head():
    names = [name for name, _ in commands(PACKAGE / "apps")]
    runs = runs_of(names)
    assert {module for module, _ in runs} == {f"gpop.apps.{name}" for name in names}
    assert runs[0][0] == f"gpop.apps.{FIRST}"
    assert RUNS.keys() <= apps().keys()


def test_after_it_nothing_is_compiled(tmp_path, monkeypatch, capfd):
    """An app of one small kernel; its second run finds all that the first has left."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert main(["triangles", "--processes", "1", "--json"]) == 0
    told = valid(capfd.readouterr().out, "warm")
    assert (told["apps"], told["runs"]) == (["triangles"], 1)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert kept
    assert warm(["triangles"], 1) == 1
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == kept


def test_what_an_app_says_is_handed_on(monkeypatch):
    monkeypatch.setitem(RUNS, "triangles", (["nowhere.bin"],))
    with pytest.raises(GpopError, match="gpop.apps.triangles nowhere.bin: .*nowhere.bin"):
        warm(["triangles"], 1)


@pytest.mark.parametrize("words", [["bsf"], ["--processes", "0"]])
def test_bad_input_is_one_line(words, capfd):
    assert main(words) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1

"""Where kernels are kept; where they cannot be, they are compiled for the process, and one line says so."""

from __future__ import annotations

import os
import re
import warnings

import numba
import pytest

from gpop.common import ahead, numba_private
from gpop.cpu import loops


@pytest.fixture
def unset(monkeypatch):
    """Nobody says where Numba keeps what it compiles."""
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")


def of_file(function, file):
    """The same function, as if it stood in this file."""
    function.__code__ = function.__code__.replace(co_filename=str(file))
    return function


def thrice(x):
    return 3 * x


def nothing(x):
    return


def test_where_nothing_can_be_kept_kernels_run_and_one_line_says_so(unset, tmp_path, monkeypatch):
    """Where folders would be there is a file."""
    (tmp_path / "taken").touch()
    file = tmp_path / "taken" / "kernels.py"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "taken"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert numba_private.kept_dispatcher(of_file(thrice, file), {})(5) == 15
        assert numba_private.kept_callback(of_file(nothing, file), "nothing", 1, {}).address
    (once,) = told
    line = warnings.formatwarning(once.message, once.category, once.filename, once.lineno)
    expected = r"gpop\S* \w+: \S+/taken/gpop/code cannot be written: .*, set NUMBA_CACHE_DIR .*\n"
    assert re.fullmatch(expected, line)


def test_no_other_process_compiles_what_it_cannot_keep(monkeypatch):
    begun = []
    monkeypatch.setattr(ahead, "begin", lambda module, kind, is_kept: begun.append(kind))
    loops.begin("frontier")
    monkeypatch.setattr(loops, "can_keep", lambda file: False)
    loops.begin("all_active")
    assert begun == ["frontier"]


def test_an_empty_setting_leads_to_no_folder_in_the_current_one(unset, tmp_path, monkeypatch):
    """Numba by itself would keep kernels in ./numba."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "kernels.py").touch()
    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(os, "access", lambda place, how: os.path.basename(place) != "package")
    kept = numba_private.kept_dispatcher(of_file(thrice, tmp_path / "package" / "kernels.py"), {})
    assert kept(5) == 15
    assert len([*(tmp_path / ".cache" / "numba").glob("*/*.nbi")]) == 1
    assert os.listdir() == []
    assert numba.config.CACHE_DIR == ""

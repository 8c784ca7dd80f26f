"""The user's folder: where it is for whom, and that nobody needs one."""

from __future__ import annotations

import pwd
from pathlib import Path

import pytest

from gpop.common.user_folder import recall, remember, user_folder


@pytest.fixture
def homeless(monkeypatch):
    """A user that no list of users has, as ``docker run -u 12345``."""

    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)


def test_where_it_is_told_nobody_asks_for_the_home(homeless, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/told")
    assert user_folder() == Path("/told/gpop")


@pytest.mark.parametrize("told", ["", "relative", None])
def test_what_is_no_absolute_path_is_not_told(told, monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if told is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", told)
    assert user_folder() == Path("/home/somebody/.cache/gpop")


def test_without_a_folder_nothing_is_remembered(homeless, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    remember("facts", {"one": 1})
    assert user_folder() is None
    assert recall("facts") == {}
    assert [*tmp_path.iterdir()] == []

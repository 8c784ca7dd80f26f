"""What the help of the apps says is what they take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpop import __main__ as listing
from tests.cli.commands import APPS, WITHOUT_MESSAGES, run_app


def test_list_of_apps(capsys):
    assert listing.main([]) == 0
    out = capsys.readouterr().out
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert [name for name in listed if name != "gpop"] == list(APPS)
    assert listing.main(["bfs"]) == 2
    assert capsys.readouterr().err.startswith("gpop: ")


@pytest.mark.parametrize("app", APPS)
def test_help(app, capsys):
    with pytest.raises(SystemExit) as leave:
        run_app(app, "--help")
    assert leave.value.code == 0
    out = capsys.readouterr().out
    for option in ("--threads", "--rounds", "--verify", "--trace", "--progress"):
        assert option in out
    assert ("--mode" in out) == (app not in WITHOUT_MESSAGES)
    assert ("--output" in out) == (app != "triangles")
    assert ("--target {cpu,gpu,python}" in out) == (app not in WITHOUT_MESSAGES)


@pytest.mark.parametrize("app", APPS)
def test_help_lists_what_is_accepted(app, road, tmp_path, capsys):
    """Every option that is listed can be given, and what all apps share and one refuses is not listed."""
    values = {
        "--mode": ["pc"], "--ratio": ["2"], "--interleave": [], "--partition-size": ["16"],
        "--target": ["cpu"], "--iterations": ["3"], "--layouts": [], "--output": [str(tmp_path / "x.csv")],
        "--model": ["paper"],
        "--reorder": ["degree"], "--symmetrize": [], "--threads": ["2"], "--progress": [],
    }  # fmt: skip
    with pytest.raises(SystemExit):
        run_app(app, "--help")
    listed = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    for option, value in values.items():
        code = run_app(app, road, "--rounds", 1, option, *value)
        assert code == 0 or option not in listed, (option, capsys.readouterr().err)
        if code == 0 and option not in listed:
            assert app in WITHOUT_MESSAGES
            assert option in ("--target", "--layouts")  # harmless, and said nowhere


def test_the_guide_says_which_apps_have_no_such_option(capsys):
    text = (Path(__file__).parents[2] / "docs" / "guide" / "commands.md").read_text()
    told, table = text.split("### What some do not have")
    options = set(
        re.findall(r"--[a-z][a-z-]+", told[told.index("| option |") : told.index("| `--progress`")])
    )
    lacking = {option: set() for option in options if not option.endswith(("interleave", "source"))}
    for shared, apps in re.findall(r"^\| (`--.*) \| (.*) \|$", table, re.MULTILINE):
        without, having = (set(re.findall(r"`(\w+)`", part)) for part in apps.partition("but for")[::2])
        without |= set(WITHOUT_MESSAGES) if "no messages" in apps else set()
        for option in re.findall(r"--[a-z-]+", shared):
            lacking[option] = without - having
    helps = {}
    for app in APPS:
        with pytest.raises(SystemExit):
            run_app(app, "--help")
        helps[app] = set(re.findall(r"^  (--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))
    assert lacking == {option: {app for app in APPS if option not in helps[app]} for option in lacking}

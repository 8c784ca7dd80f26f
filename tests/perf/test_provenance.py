"""Heads of results: what they say, and that every committed result has one, written by its command alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gpop.common.errors import UsageError
from perf import provenance
from perf.__main__ import COMMANDS, main
from perf.implementations import gpop_version

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "perf" / "results"


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(
        ["git", "-C", folder, *who, *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_a_commit_is_named_and_whether_code_differs_from_it(tmp_path, monkeypatch):
    monkeypatch.delenv(provenance.COMMIT, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert provenance.commit(tmp_path) == "no git here"
    monkeypatch.setenv(provenance.COMMIT, "0123456789abcdef")
    assert provenance.commit(tmp_path) == "commit 0123456789ab as told, no git here"
    git(tmp_path, "init", "-q")
    (tmp_path / "code.py").write_text("1")
    (tmp_path / "perf" / "results").mkdir(parents=True)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    named = f"commit {git(tmp_path, 'rev-parse', 'HEAD')[:12]}"
    assert provenance.commit(tmp_path) == named  # git knows better than what is told
    (tmp_path / "perf" / "results" / "a.txt").write_text("a result makes no other code")
    assert provenance.commit(tmp_path) == named
    (tmp_path / "code.py").write_text("2")
    assert provenance.commit(tmp_path) == f"{named}, modified"
    (tmp_path / "below").mkdir()
    assert provenance.commit(tmp_path / "below") == "commit 0123456789ab as told, no git here"


def test_a_result_is_what_the_command_printed_below_a_head(tmp_path, capsys):
    out = tmp_path / "a.txt"
    with provenance.written(out, ["python", "-m", "perf", "some", "--out", str(out), "/tmp/graph.bin"]):
        print("one\n\ntwo")
    assert out.read_text() == capsys.readouterr().out
    head, printed = provenance.read(out.read_text())
    assert printed == "one\n\ntwo\n"
    assert head["command"] == "python -m perf some graph.bin"
    assert head["code"].startswith(f"gpop {gpop_version()}, ")
    assert "usable cores of" in head["machine"] and set(head) == {*provenance.HEAD} - {"device"}
    for name in ("Python 3", "numpy ", "numba ", "scipy "):
        assert name in head["versions"]
    with pytest.raises(ZeroDivisionError), provenance.written(out, ["other"]):
        print(1 // 0)
    assert "python -m perf some" in out.read_text()  # as it was
    with (
        pytest.raises(UsageError, match="^--out .*: there is no directory"),
        provenance.written(out / "x", []),
    ):
        pass


def test_cuda_sources_are_part_of_the_version(monkeypatch, tmp_path):
    import gpop
    from perf import implementations

    (tmp_path / "gpop").mkdir()
    monkeypatch.setattr(gpop, "__file__", str(tmp_path / "gpop" / "__init__.py"))
    found = set()
    for name, text in (("a.py", "1"), ("b.cuh", "1"), ("b.cuh", "2"), ("c.txt", "1")):
        (tmp_path / "gpop" / name).write_text(text)
        found.add(implementations.gpop_version.__wrapped__())
    assert len(found) == 3


@pytest.mark.parametrize("argv", [
    ["scaling", "--scale", "8", "--threads", "1", "--rounds", "1"],
    ["loading", "--scale", "6", "--formats", "plain.bin", "--threads", "1"],
    ["machine", "--threads", "1", "--megabytes", "1"],
], ids=lambda argv: argv[0])  # fmt: skip
def test_commands_write_their_results(argv, tmp_path, capsys):
    out = tmp_path / "result.txt"
    assert main([*argv, "--out", str(out)]) == 0
    head, printed = provenance.read(out.read_text())
    assert head["command"] == " ".join(["python -m perf", *argv])
    assert printed and printed in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_committed_result_was_written_by_a_command_that_exists(path):
    head, printed = provenance.read(path.read_text())
    assert set(provenance.HEAD) - {"device"} <= set(head) and printed.strip()
    words = head["command"].split()
    if words[:3] == ["python", "-m", "perf"]:
        assert words[3] in COMMANDS
    else:
        assert (ROOT / words[0]).is_file()
    assert "modified" not in head["code"] and "commit " in head["code"]


def test_the_committed_figures_are_there_and_say_what_drew_them():
    index = (RESULTS / "figures" / "index.md").read_text()
    head, _ = provenance.read(re.sub("(?m)^- (?=[a-z]+ )", "", index.split("\n\n", 1)[1]))
    assert head["command"].startswith("python -m perf figures ") and "usable cores of" in head["machine"]
    assert "modified" not in head["code"] and "commit " in head["code"]
    named = set(re.findall(r"\]\(([^)]+)\)", index))
    assert named == {path.name for path in (RESULTS / "figures").iterdir()} - {"index.md"}

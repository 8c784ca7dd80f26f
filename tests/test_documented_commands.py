"""Every command that README, guides, site, banners and result files show is taken by its own parser.

Nothing is run: the parser gets the words as they stand, and the test ends the command behind that. Text
between backquotes may leave out what a command needs, and says N for a number; a block of ``sh`` is whole.
"""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from gpop.common.command import Parser
from gpop.common.errors import UsageError
from tests.site_pages import DOCS, FENCE, GENERATED

ROOT = DOCS.parent
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "data").glob("*.md")])
    if path.relative_to(ROOT).parts[1:2] not in [(name,) for name in GENERATED]
}
RESULTS = {
    path.relative_to(ROOT).as_posix(): re.sub(
        r"^command +(.*)$", r"\n`\1`\n", path.read_text(), flags=re.MULTILINE
    )
    for path in sorted((ROOT / "perf" / "results").rglob("*"))
    if path.suffix in (".txt", ".md")
}
LINE = re.compile(r"^    ((?:mpiexec .*)?python -m [^`\[\]>\n]*?)(?:  .*)?$", re.MULTILINE)
"""A command in a banner, where it is shown with what it is to be given; words behind it are about it."""
BANNERS = {
    path.relative_to(ROOT).as_posix(): "\n\n".join(f"`{line}`" for line in shown)
    for path in sorted([*(ROOT / "gpop").rglob("*.py"), *(ROOT / "perf").rglob("*.py")])
    if (shown := LINE.findall(path.read_text().split('"""')[1]))
}
OURS = re.compile(r"gpop(?:\.\w+)*|perf")
OF_MANY = "gpop.apps.NAME"
"""Stands for every app."""


class Parsed(BaseException):
    """The parser has taken the words."""


def lines_of(text: str) -> list[tuple[str, bool]]:
    """Command lines of a text, and whether each is whole."""
    found = []
    for block in FENCE.finditer(text):
        if block[1].startswith("sh"):
            found += [(line, True) for line in block[2].replace("\\\n", " ").splitlines()]
    inline = re.findall(r"`([^`\n]*(?:\n[^`\n]+)?)`", FENCE.sub("", text))
    return found + [(" ".join(line.split()), False) for line in inline]


def commands_in(line: str) -> list[list[str]]:
    """Module and arguments of each of our commands in a line of a shell.

    >>> commands_in("mpiexec -n 2 python -m perf ranks x | python -m gpop.info -  # why")
    [['perf', 'ranks', 'x'], ['gpop.info', '-']]
    >>> commands_in("pip install . && gpop bfs a.bin")
    [['gpop', 'bfs', 'a.bin']]
    """
    try:
        words = shlex.split(re.sub(r"(\|+|&&|;)", r" \1 ", line), comments=True)
    except ValueError:  # prose with an apostrophe
        return []
    found: list[list[str]] = []
    piece: list[str] = []
    for word in [*words, ";"]:
        if word in (";", "|", "||", "&&", ">", "2>"):
            found += [piece] if (piece := _ours(piece)) else []
            piece = []
        else:
            piece.append(word)
    return found


def _ours(words: list[str]) -> list[str]:
    for at, word in enumerate(words):
        if word == "gpop" and at == 0 and len(words) > 1:
            return words
        if Path(word).name == "python" and words[at + 1 : at + 2] == ["-m"] and len(words) > at + 2:
            return words[at + 2 :] if OURS.fullmatch(words[at + 2]) and words[at + 2] != OF_MANY else []
    return []


def cases(texts: dict[str, str]) -> list[tuple[str, bool]]:
    """Commands, each once, whole where it is whole anywhere."""
    known: dict[str, bool] = {}
    for text in texts.values():
        for line, whole in lines_of(text):
            for words in commands_in(line):
                command = shlex.join(words)
                known[command] = known.get(command, False) or whole
    return sorted(known.items())


SHOWN, MEASURED = cases(TEXTS | BANNERS), cases(RESULTS)


@pytest.fixture
def parsed(monkeypatch, tmp_path):
    """Gives words to a command; the code it ends with, None where its parser has taken them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    for folder in ("perf/results", "gpop/learn/trees"):  # where they write
        (tmp_path / folder).mkdir(parents=True)
    parse_args = Parser.parse_args

    def parse_and_end(self, *given, **named):
        try:
            parse_args(self, *given, **named)
        except UsageError as error:
            raise AssertionError(str(error)) from None
        raise Parsed

    monkeypatch.setattr(Parser, "parse_args", parse_and_end)

    def ask(module, *words):
        name = f"{module}.__main__" if module in ("gpop", "perf", "gpop.generate") else module
        try:
            return import_module(name).main(list(words))
        except Parsed:
            return None
        except SystemExit as end:  # --help, --mode list
            return end.code

    return ask


def check(command, whole, parsed):
    words = shlex.split(command)
    try:
        assert parsed(*(words if whole else ["2" if word == "N" else word for word in words])) in (None, 0)
    except AssertionError as error:
        if whole or "arguments are required" not in str(error):
            raise


@pytest.mark.parametrize(("command", "whole"), SHOWN)
def test_shown(command, whole, parsed):
    check(command, whole, parsed)


@pytest.mark.parametrize(("command", "whole"), MEASURED)
def test_measured(command, whole, parsed):
    check(command, whole, parsed)


def test_there_are_many():
    assert len(SHOWN) > 120
    assert sum(whole for _, whole in SHOWN) > 60


@pytest.mark.parametrize("text", TEXTS)
def test_files_of_commands_exist(text):
    for line, _ in lines_of(TEXTS[text]):
        for path in re.findall(r"(?:^|\s)((?:perf|tests|apps|data)/[\w/]+\.(?:py|sh|bin))\b", line):
            assert (ROOT / path).exists(), f"{text}: {path}"


@pytest.mark.parametrize("words", [["gpop.apps.bfs", "x.bin", "--thread", "2"], ["perf", "no-such"]])
def test_what_is_wrong_is_noticed(words, parsed):
    with pytest.raises(AssertionError):
        check(shlex.join(words), True, parsed)

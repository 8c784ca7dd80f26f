"""The pages of the site as the tests read them: blocks of code, links, headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GENERATED = ("_build", "gallery", "reference")
PAGES = {
    path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text()
    for path in sorted(DOCS.rglob("*.md"))
    if path.relative_to(DOCS).parts[0] not in GENERATED
}
"""Name -> text of every page that is written by hand."""

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKED = ("python", "output", "sh")
SHOWN = ("cpp", "text")
"""Languages of blocks that are run or checked, and of those that are only shown."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of its page that it begins in."""

    language: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, directives included (``{toctree}``)."""
    text = PAGES[page]
    return [
        Block(found[1].split()[0], found[2], text[: found.start()].count("\n") + 1)
        for found in FENCE.finditer(text)
    ]


def prose(page: str) -> str:
    """A page without its blocks."""
    return FENCE.sub("", PAGES[page])


def commands(page: str) -> list[str]:
    """Lines of its ``sh`` blocks, without comments."""
    lines = (line for block in blocks(page) if block.language == "sh" for line in block.text.splitlines())
    return [line for line in (re.sub(r"\s+#.*", "", line).strip() for line in lines) if line]


def anchors(text: str) -> set[str]:
    """What ``#...`` in a link may be, for the headings of a text."""
    heads = re.findall(r"^#{1,3} (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}

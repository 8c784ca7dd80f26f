"""Where the files of a command that draws go: pictures, tables, and an index that names them.

A *picture* is a module with ``TITLE``, ``PAPER`` (what the paper shows there) and ``draw(sheet)``, which
writes its files and returns sentences about what was measured, computed from the data. What takes a while to
measure is kept as JSON, so that a rerun of the command only draws.
"""

from __future__ import annotations

import csv
import importlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gpop.common.errors import UsageError
from gpop.common.replacing import replacing
from perf.hardware import platform_name
from perf.implementations import gpop_version
from perf.pictures.latex import tabular

DPI = 90
TABLES = ("md", "csv", "tex")


def made(folder: Path) -> Path:
    """The folder, made where it is not there.

    Raises
    ------
    UsageError
        If it cannot be.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made: {error.strerror}") from None
    return folder


class Sheet:
    """Files out; ``words`` are those of the command, ``name`` and ``title`` of the picture."""

    def __init__(self, folder: Path, words: list[str]) -> None:
        self.folder, self.words = folder, words
        self.name = self.title = ""
        self.files: list[str] = []

    def draw(self, heading: list[str], pictures: Mapping[str, str]) -> None:
        """Every picture (name of the files: module), then the index that names them."""
        lines = list(heading)
        for name, module_name in pictures.items():
            module = importlib.import_module(module_name)
            self.name, self.title, self.files = name, module.TITLE, []
            said = module.draw(self)
            lines += [f"## {module.TITLE}", ""]
            lines += [f"![{module.TITLE}]({file})" for file in self.files if file.endswith(".png")]
            for file in self.files:
                if file.endswith(".md"):
                    lines += [(self.folder / file).read_text().rstrip()]
            if f"{name}.csv" in self.files:
                links = (f"[{name}.{suffix}]({name}.{suffix})" for suffix in TABLES)
                lines += ["", f"As a file: {', '.join(links)}"]
            lines += ["", f"**The paper:** {module.PAPER}", "", "**Here:**", ""]
            lines += [*(f"- {text}" for text in said), ""]
        with replacing(self.folder / "index.md") as temporary:
            temporary.write_text("\n".join(lines).rstrip() + "\n")

    def measured(
        self, name: str, key: dict[str, Any], measure: Callable[[], Any], anywhere: bool = False
    ) -> Any:
        """A plain value that is kept: measured anew when ``key``, the code or the machine has changed.

        ``anywhere``: the machine does not matter to it.
        """
        key = {"code": gpop_version(), **({} if anywhere else {"platform": platform_name()}), **key}
        path = self.folder / "measured" / f"{name}.json"
        if path.exists():
            kept = json.loads(path.read_text())
            if kept["key"] == json.loads(json.dumps(key)):
                return kept["value"]
        value = json.loads(json.dumps(measure()))
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps({"key": key, "value": value}, indent=1) + "\n")
        return value

    def save(self, figure: Any, graphs: str = "") -> None:
        """Write the picture; its title says which graphs it is of, unless a legend or an axis does."""
        figure.suptitle(f"{self.title}, {graphs}" if graphs else self.title)
        with replacing(self.folder / f"{self.name}.png") as temporary:
            figure.savefig(temporary, format="png", dpi=DPI)
        self.files.append(f"{self.name}.png")

    def save_table(self, header: list[str], rows: list[list[Any]]) -> None:
        """Write a table as CSV, as Markdown and as LaTeX."""
        texts = [[_cell(value) for value in row] for row in rows]
        path = self.folder / f"{self.name}.csv"
        with replacing(path) as temporary, temporary.open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        lines = [header, ["---"] * len(header), *texts]
        with replacing(self.folder / f"{self.name}.md") as temporary:
            temporary.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))
        with replacing(self.folder / f"{self.name}.tex") as temporary:
            temporary.write_text(tabular(header, texts) + "\n")
        self.files += [f"{self.name}.{suffix}" for suffix in TABLES]


def _cell(value: Any) -> str:
    """Four digits of a number.

    >>> _cell(12.34567), _cell(None), _cell("a")
    ('12.35', '-', 'a')
    """
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

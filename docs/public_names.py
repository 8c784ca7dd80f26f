"""The reference: every name of ``gpop.__all__``, in sections by the room it comes from, and results of apps.

A new public name, or the result that a new app returns, is there after the next build: nothing is listed by
hand. `write` makes reference/index.rst before Sphinx looks for pages; autosummary makes a page for each name.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import gpop
from gpop.apps.result import AppResult

SECTIONS = {
    "Algorithms": ("gpop.apps.",),
    "Graphs and files": ("gpop.graph.", "gpop.io", "gpop.interop.", "gpop.generate", "gpop.ranks."),
    "Programs and runs": ("gpop.program.", "gpop.execution.", "gpop.plan."),
    "Errors": ("gpop.common.errors",),
    "More": ("gpop",),
}
"""Section of the reference -> how the module of a name begins; the first that fits."""

INTRODUCTION = """\
Reference
=========

What ``import gpop`` offers: every public name, with the errors that it raises and an example that runs.

"""

LIST = ".. autosummary::\n   :nosignatures:\n   :toctree: generated\n\n"

GUIDES = {"README": "index", "ARCHITECTURE": "inside/architecture", "CONTRIBUTING": "inside/contributing"}
GUIDES["CHANGELOG"] = "inside/changes"
"""Guides at the top of the repository -> their page here."""


def section_of(name: str) -> str:
    """Where a public name is listed.

    Examples
    --------
    >>> section_of("pagerank"), section_of("Graph"), section_of("UsageError")
    ('Algorithms', 'Graphs and files', 'Errors')
    """
    home = gpop._HOMES[name]
    if home.startswith("gpop.apps.") and not _solves(getattr(gpop, name)):
        return "Programs and runs"
    return next(section for section, homes in SECTIONS.items() if home.startswith(homes))


def sections() -> dict[str, list[str]]:
    """Section -> the full names in it, by the alphabet; results come after what returns them."""
    found: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for name in sorted(gpop.__all__, key=str.lower):
        found[section_of(name)].append(f"gpop.{name}")
    ordered = {}
    for section, names in found.items():
        if names:
            ordered[section] = names
        if section == "Algorithms":
            apps = [name for name, home in gpop._HOMES.items() if home.startswith("gpop.apps.")]
            ordered["Results"] = results([getattr(gpop, name) for name in apps])
    return ordered


def results(functions: list[Any]) -> list[str]:
    """Full names of the classes that functions return, and of their base."""
    returned = {kind for function in functions if inspect.isclass(kind := _returned(function))}
    bases = {base for kind in returned for base in kind.__mro__ if base.__module__.startswith("gpop.apps")}
    return sorted(f"{kind.__module__}.{kind.__name__}" for kind in returned | bases)


def _solves(function: Any) -> bool:
    """Whether it returns a result of an app."""
    kind = _returned(function)
    return inspect.isclass(kind) and issubclass(kind, AppResult)


def _returned(function: Any) -> Any:
    """The class that a function says it returns."""
    function = inspect.unwrap(function)
    said = function.__annotations__.get("return")
    return function.__globals__.get(said) if isinstance(said, str) else said


def text() -> str:
    """The page."""
    parts = [INTRODUCTION]
    for section, names in sections().items():
        listed = "".join(f"   {name}\n" for name in names)
        parts.append(f"{section}\n{'-' * len(section)}\n\n{LIST}{listed}\n")
    return "".join(parts)


def write(folder: Path) -> None:
    """Write reference/index.rst, unless it is as it should be already (a new one is read again by Sphinx)."""
    folder.mkdir(exist_ok=True)
    page = folder / "index.rst"
    if not page.exists() or page.read_text() != text():
        page.write_text(text())
    listed = {name for names in sections().values() for name in names}
    for old in folder.glob("generated/*.rst"):
        if old.stem not in listed:  # of a name that is gone since the last build
            old.unlink()


def site_links(app: Any, relative_path: Path, parent: str, content: list[str]) -> None:
    """In a guide that a page includes, links to guides lead to their pages; other files are named only."""

    def link(found: re.Match) -> str:
        page = GUIDES.get(found[2].removesuffix(".md"))
        if found[2].startswith("docs/"):
            page = found[2].removeprefix("docs/").removesuffix(".md")
        return f"[{found[1]}](/{page}.md)" if page else found[1]

    content[0] = re.sub(r"\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)", link, content[0])


def inside(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """What a docstring names and is there, but not public, stays text; what is not there is a warning."""
    return contnode if exists(node.get("reftarget", "")) else None


def exists(dotted: str) -> bool:
    """Whether ``gpop.a.b`` is a module of the package, or a name in one.

    Examples
    --------
    >>> exists("gpop.model.choosers"), exists("gpop.graph.transform.relabel"), exists("gpop.graph.relable")
    (True, True, False)
    """
    if dotted.split(".")[0] != "gpop":
        return False
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        module, _, name = dotted.rpartition(".")
        return bool(module) and exists(module) and hasattr(importlib.import_module(module), name)
    return True

"""Small facts that outlive a process: JSON files in the user's cache folder.

What cannot be read counts as not there, and what cannot be written is found out again next time.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from gpop.common.errors import GraphFileError
from gpop.common.replacing import replacing


def user_folder() -> Path | None:
    """The folder of gpop in the user's cache folder; None where the user has none.

    As the XDG specification has it, an ``XDG_CACHE_HOME`` that is empty or relative is none.
    """
    asked, home = os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~")
    if os.path.isabs(asked):
        return Path(asked, "gpop")
    return Path(home, ".cache", "gpop") if os.path.isabs(home) else None


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def recall(name: str) -> dict[str, Any]:
    """What was written under this name.

    >>> recall("nothing of this name")
    {}
    """
    folder = user_folder()
    if folder is None:
        return {}
    try:
        found = json.loads(_file(folder, name).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


MOST_KEPT = 4096
"""Facts of many under one name; the oldest go first."""


def remember_also(name: str, key: str, fact: Any) -> None:
    """Write one more fact beside the latest ones under this name."""
    recent = list(recall(name).items())[1 - MOST_KEPT :]
    remember(name, {**dict(recent), key: fact})


def remember(name: str, facts: dict[str, Any]) -> str | None:
    """Write all of it, as one file that appears whole; None, or why it cannot be written."""
    folder = user_folder()
    if folder is None:
        return f"{name}.json: cannot be written: the user has no home: expected XDG_CACHE_HOME"
    file = _file(folder, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(file) as temporary:
            temporary.write_text(json.dumps(facts, indent=1) + "\n")
    except GraphFileError as error:
        return str(error)
    except OSError as error:
        return f"{file}: cannot be written: {error.strerror or error}"
    return None

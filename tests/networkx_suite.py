"""NetworkX's own tests, with gpop as the backend of what it dispatches.

    python tests/networkx_suite.py [pytest's arguments ...]

NetworkX converts every graph that a test passes to a function that gpop has, and compares with what the test
expects; the rest of NetworkX runs as it is. Arguments select tests (``-k pagerank``). Where gpop is not
installed with its entry points, a folder with nothing but those stands in for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def entry_points() -> dict[str, dict[str, str]]:
    """Group -> name -> object, as declared."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]


def make_metadata(folder: Path) -> Path:
    """A folder that makes a checkout look installed, as far as entry points go."""
    metadata = folder / "gpop-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: gpop\nVersion: 0\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in entry_points().items()
    )
    (metadata / "entry_points.txt").write_text("\n".join(groups))
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Variables of a process in which NetworkX finds the backend."""
    paths = [str(make_metadata(folder)), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run(arguments: list[str]) -> int:
    """Run the tests; pytest's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(Path(folder)) | {
            "NETWORKX_TEST_BACKEND": "gpop",
            "NETWORKX_FALLBACK_TO_NX": "True",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"]
        command += ["--rootdir", folder, "--pyargs", "networkx.algorithms", *arguments]
        return subprocess.run(command, cwd=folder, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))

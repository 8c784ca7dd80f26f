"""The wheel and the source archive that the project's back end builds hold what belongs in them."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import gpop

ROOT = Path(__file__).resolve().parents[1]
BUILD = "import sys; from flit_core.buildapi import *; build_wheel(sys.argv[1]); build_sdist(sys.argv[1])"


def tracked(*folders: str) -> set[str]:
    """Files that belong to the project, from git or, without it, from what lies there."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    files = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Names in the wheel, and in the source archive below its folder."""
    pytest.importorskip("flit_core")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-c", BUILD, folder], cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(folder / f"gpop-{gpop.__version__}-py3-none-any.whl") as wheel:
        names, metadata = (
            set(wheel.namelist()),
            wheel.read(f"gpop-{gpop.__version__}.dist-info/METADATA").decode(),
        )
        scripts = wheel.read(f"gpop-{gpop.__version__}.dist-info/entry_points.txt").decode()
    assert "gpop=gpop.__main__:main" in scripts
    with tarfile.open(folder / f"gpop-{gpop.__version__}.tar.gz") as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    return names, metadata, sources


def test_the_wheel_holds_the_package_and_nothing_else(built):
    names, metadata, _ = built
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == tracked("gpop")
    assert "gpop/py.typed" in inside and any(name.endswith(".cuh") for name in inside)
    assert f"gpop-{gpop.__version__}.dist-info/licenses/LICENSE" in names
    assert f"gpop-{gpop.__version__}.dist-info/entry_points.txt" in names
    assert {f"gpop/schemas/{name}.json" for name in ("app", "info")} <= inside
    assert "Classifier: Typing :: Typed" in metadata and "# gpop" in metadata  # the README


def test_the_source_archive_holds_what_tests_and_guides_need(built):
    _, _, sources = built
    guides = {path.name for path in ROOT.glob("*.md")} | {"LICENSE", "CITATION.cff", "pyproject.toml"}
    assert tracked("gpop", "apps", "data", "docs", "perf", "tests") | guides <= sources

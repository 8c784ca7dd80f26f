"""Run the tests with the lowest and with the newest versions of what gpop depends on.

    python tests/versions.py [--only lowest|newest] [--folder DIR] [pytest's arguments ...]

Each end is a virtual environment of its own in DIR (kept, so that the next run starts at once). The lowest
versions are the lower bounds in pyproject.toml, as a constraint file of pip; what those packages depend on
themselves is as new as they allow. The newest ones are what pip takes by itself. Without arguments the whole
suite runs, as in README.md; ``-n 0 tests/cpu/test_semantics.py`` is an example of a part.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENDS = ("lowest", "newest")


def lower_bounds(project: Path) -> dict[str, str]:
    """Package -> lowest version that any part of the project declares."""
    declared = tomllib.loads(project.read_text())["project"]
    bounds = {}
    for line in chain(declared["dependencies"], *declared["optional-dependencies"].values()):
        if line.startswith(declared["name"] + "["):
            continue
        name, version = re.match(r"([\w.-]+)>=([\w.]+)", line).groups()
        if bounds.setdefault(name, version) != version:
            raise SystemExit(f"{project}: {name} has the lower bounds {bounds[name]} and {version}")
    return bounds


def make_environment(folder: Path, end: str) -> Path:
    """The Python of an environment with gpop's dependencies and those of its tests."""
    python = folder / end / "bin" / "python"
    if not python.exists():
        venv.create(folder / end, with_pip=True)
    constraints = folder / f"{end}.txt"
    bounds = lower_bounds(ROOT / "pyproject.toml") if end == "lowest" else {}
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in bounds.items()))
    upgrade = ["--upgrade", "--upgrade-strategy", "eager"] if end == "newest" else []
    install = [python, "-m", "pip", "install", "-q", *upgrade, "-c", constraints, "-e", f"{ROOT}[test]"]
    subprocess.run(install, check=True)
    return python


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--only", choices=ENDS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "gpop-versions")
    options, of_pytest = parser.parse_known_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for end in [options.only] if options.only else ENDS:
        python = make_environment(options.folder, end)
        environment = os.environ | {"GPOP_TEST_CACHE": str(options.folder / f"{end}-jit")}
        print(f"{end}: {python}", flush=True)
        if subprocess.run([python, "-m", "pytest", "-q", *of_pytest], cwd=ROOT, env=environment).returncode:
            failed.append(end)
    print("; ".join(f"{end} versions: the tests fail" for end in failed) or "the tests pass")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``perf/gpu_check.sh`` runs all tests marked ``gpu``, and no app counts that was not watched to its end."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_every_file_with_a_marked_test_is_run():
    script = (ROOT / "perf" / "gpu_check.sh").read_text()
    command = re.search(r"^mapfile -t where < <\((.*)\)$", script, re.MULTILINE)[1]
    found = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    marked = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("*.py")
        if re.search(r"\bmark\.gpu\b", path.read_text()) and path != Path(__file__)
    }
    assert {"tests/test_all_apps.py", "tests/perf/test_gpu_baselines.py"} < marked
    assert set(found.stdout.split()) - {Path(__file__).relative_to(ROOT).as_posix()} == marked


STAND_INS = {
    "nvidia-smi": "echo 0; echo 1",
    # Errors in sssp; bfs outlasts its time under racecheck. The last argument is the app.
    "compute-sanitizer": """[ "$1" = --version ] && exit
        app=${*: -1}
        [ "$app" = bfs ] && [ "$2" = racecheck ] && sleep 60
        echo "$app sc: 3 iterations, as on the CPU"
        echo "ERROR SUMMARY: $([ "$app" = sssp ] && echo 5 || echo 0) errors"
        [ "$app" != sssp ]""",
    "python": """case "$2" in
        perf.provenance) echo head ;;
        *WATCHED*) echo $APPS ;;
        *LEVELS*) echo $LEVELS ;;
        *) exit 3 ;;
        esac""",
}


ALONE = "sweeps"
"""What is watched by itself, behind the others."""


def checked(folder: Path, parts: str, apps: str) -> tuple[int, str]:
    """Exit code and output of the script, with stand-ins for what needs a GPU."""
    for name, text in STAND_INS.items():
        (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (folder / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHON": str(folder / "python")}
    environment |= {"PARTS": parts, "APPS": apps, "LEVELS": ALONE, "PROCESSES": "2", "WATCHED": "1"}
    command = ["bash", ROOT / "perf" / "gpu_check.sh", folder / "out"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("parts", "apps", "code", "unclean"),
    [
        ("memcheck", "bfs cc pagerank", 0, []),
        ("memcheck", "bfs sssp cc", 1, ["memcheck sssp"]),
        ("racecheck", "cc bfs", 1, ["racecheck bfs"]),
        ("memcheck racecheck", "cc pagerank", 0, []),
    ],
)
def test_one_part_alone_and_verdicts_of_all_that_it_watches(tmp_path, parts, apps, code, unclean):
    returned, printed = checked(tmp_path, parts, apps)
    verdicts = set(re.findall(r"^(\w+ \w+): exit code", printed, re.MULTILINE))
    assert verdicts == {f"{tool} {app}" for tool in parts.split() for app in (*apps.split(), ALONE)}
    assert re.findall(r"^(\w+ \w+): not clean", printed, re.MULTILINE) == unclean
    assert returned == code, printed


def test_a_part_that_is_not_there(tmp_path):
    assert checked(tmp_path, "racechek", "bfs") == (2, "PARTS: no part is named racechek\n")

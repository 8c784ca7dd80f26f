"""``perf/gpu_check.sh`` runs every test that is marked ``gpu``."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

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

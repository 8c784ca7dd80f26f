"""The lower bounds that `tests/versions.py` installs are those that are declared."""

from __future__ import annotations

import tomllib

import pytest

from tests.versions import ROOT, lower_bounds

PROJECT = """\
[project]
name = "toy"
dependencies = ["numba>=0.64,<0.69", "numpy>=2.0"]
[project.optional-dependencies]
plot = ["matplotlib>=3.9"]
test = ["toy[plot]", "matplotlib>={again}", "pytest-xdist>=3.5"]
"""


def test_every_dependency_gives_its_lower_bound(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text(PROJECT.replace("{again}", "3.9"))
    bounds = {"numba": "0.64", "numpy": "2.0", "matplotlib": "3.9", "pytest-xdist": "3.5"}
    assert lower_bounds(project) == bounds
    project.write_text(PROJECT.replace("{again}", "3.10"))
    with pytest.raises(SystemExit, match=r"matplotlib has the lower bounds 3.9 and 3.10"):
        lower_bounds(project)


def test_the_project_declares_a_lower_bound_of_everything():
    bounds = lower_bounds(ROOT / "pyproject.toml")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(bounds) > len(declared["dependencies"]) and {"numba", "pyarrow", "networkit"} <= {*bounds}

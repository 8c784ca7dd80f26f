"""Graph files that the commands are given."""

from __future__ import annotations

import pytest

from gpop.generate import generate


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs") / "road.bin"
    generate("road", width=15, height=12, seed=3).save(path)
    return path


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A text file with ids that are neither dense nor sorted."""
    path = tmp_path_factory.mktemp("graphs") / "named.wel"
    path.write_text("70000 30 4\n30 9 1\n9 30 2\n")
    return path

"""A small road network that several files look at."""

from __future__ import annotations

import pytest

from gpop.generate import generate


@pytest.fixture(scope="module")
def road():
    return generate("road", width=12, height=12, seed=2)

"""On a device, too: scatter and gather launched one by one give what the loop gives."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.gpu import again
from tests.gpu.cases import MODES
from tests.gpu.test_stepped import GRAPHS, PROGRAMS, Stepped, ran

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_give_what_the_loop_gives(name, kind, monkeypatch):
    case, graph = PROGRAMS[name], GRAPHS[kind]
    for mode in (*MODES, "edge-list"):
        fused, whole = ran(case, graph, mode)
        with monkeypatch.context() as patch:
            patch.setattr(again, "RestingEngine", Stepped)
            stepped, parts = ran(case, graph, mode)
        for field in case.cls.vertex_fields():
            assert np.array_equal(getattr(fused, field), getattr(stepped, field)), (mode, field)
        assert (whole.iterations, whole.converged) == (parts.iterations, parts.converged), mode
        assert np.array_equal(whole.frontier, parts.frontier), mode

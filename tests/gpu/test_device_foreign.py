"""Programs unlike those of the apps: on a device, and on the CPU, they give what plain Python gives."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from tests.gpu.cases import MODES, check, graph_of, in_plain_python, started
from tests.gpu.foreign import FOREIGN
from tests.gpu.hub import check_hub

pytestmark = pytest.mark.gpu

SIZES = (2, 256)
MILLION = 1_000_000


@pytest.mark.parametrize("kind", ["small", "big"])
@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_program(name, kind):
    case, graph = FOREIGN[name], graph_of(kind)
    wanted = in_plain_python(case, graph)
    for mode in (*MODES, "edge-list"):
        for size in SIZES:
            check(case, graph, wanted, mode, size, "declared")


@pytest.mark.parametrize("name", [name for name in FOREIGN if not name.endswith("Combined")])
def test_foreign_program_on_the_cpu(name):
    """What is declared makes no difference there."""
    case, graph = FOREIGN[name], graph_of("small")
    correct, said = in_plain_python(case, graph)
    for mode in MODES:
        program = started(case, graph)
        run = gpop.run(program, case.frontier, iterations=case.iterations, mode=mode, partition_size=32)
        for field in case.cls.vertex_fields():
            np.testing.assert_array_equal(getattr(program, field), getattr(correct, field), err_msg=mode)
        assert case.cls.all_active or run.frontier.tolist() == sorted(said["frontier"]), mode


@pytest.mark.parametrize("mode", MODES)
def test_sums_at_a_hub(mode):
    check_hub(MILLION, mode)

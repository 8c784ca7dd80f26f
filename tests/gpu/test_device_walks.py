"""Ways to walk neighbours by name, and vertices that ask: on a device as in plain Python."""

from __future__ import annotations

import pytest

from gpop.gpu import limits
from tests.gpu import cases, test_bottom_up
from tests.gpu.asking import asking, never_alone
from tests.gpu.cases import CASES, graph_of, in_plain_python
from tests.gpu.walks import BY_NAME, WALKED, formed

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("mode", BY_NAME)
@pytest.mark.parametrize("name", WALKED)
def test_walks(name, mode):
    for kind in ("small", "big"):
        case, graph = WALKED[name], graph_of(kind)
        cases.check(case, graph, in_plain_python(case, graph), mode, 256, "declared")


@pytest.mark.parametrize("name, mode", [*formed()])
def test_forms(name, mode):
    for kind in ("small", "big"):
        case, graph = CASES[name], graph_of(kind)
        cases.check(case, graph, in_plain_python(case, graph), mode, 256, "declared")


@pytest.mark.parametrize("name", test_bottom_up.PROGRAMS)
def test_vertices_that_ask(name):
    """All iterations, and some of them, with hubs."""
    case, hubs = test_bottom_up.PROGRAMS[name], test_bottom_up.with_hubs()
    assert hubs.reverse().out_degree.max() > limits.HUB
    options = {"ratio": 1.0, "partition_size": 256}
    with asking():
        for graph in (graph_of("small"), graph_of("big"), hubs):
            run = test_bottom_up.check(case, graph, **options)
            assert run.trace.column("partitions_pull").all()
    with never_alone():
        test_bottom_up.check(case, hubs, **options)

"""Orders by degree: best and worst for warps, as graphs of the store, and what they do to times."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.generate import generate
from perf.__main__ import main
from perf.graphs import name_of, normal, open_graph
from perf.orders import DEGREES, ORDERS, PESSIMAL, WARP, order_of, pessimal
from tests.perf import paper_store


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 34, 64, 66, 1000])
def test_pessimal_warps_have_both_ends(n):
    order = pessimal(np.arange(n))
    assert sorted(order.tolist()) == list(range(n))
    warps = -(-n // WARP)
    for warp in range(warps if n > 1 else 0):
        first = order[WARP * warp :][:2].tolist()
        assert first == [warp, n - warps + warp]


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_has_every_vertex_once(name):
    graph = generate("rmat", scale=7)
    assert sorted(order_of(graph, name).tolist()) == list(range(graph.n))


def test_degrees_descend():
    graph = generate("rmat", scale=7)
    outward, inward = np.diff(graph.indptr), np.bincount(graph.indices, minlength=graph.n)
    for name, degree in zip(DEGREES, (inward + outward, inward, outward), strict=True):
        assert np.all(np.diff(degree[order_of(graph, name)]) <= 0)
        uneven = degree[order_of(graph, name + PESSIMAL)][:WARP]
        assert uneven[0] == degree.max() and uneven[1] <= np.sort(degree)[graph.n // WARP]


def test_a_graph_in_an_order_is_a_graph_of_the_store():
    spec = "rmat:scale=6@out-degree"
    assert normal(spec) == spec and name_of(spec) == "rmat-scale6@out-degree"
    ordered, plain = open_graph(spec), open_graph("rmat:scale=6")
    assert ordered.m == plain.m and np.all(np.diff(ordered.out_degree.astype(int)) <= 0)


def rule(name: str, graph: str, step: int) -> float:
    """Push takes three times as long in pessimal orders; the edge list does not care."""
    return (2 + 4 * (graph.endswith(PESSIMAL) and "edge" not in name) + ("-warp" in name)) * 1e-5


@pytest.mark.slow
def test_the_command_tells_and_draws(tmp_path, capsys):
    families = {"orders": [f"star:vertices=40@{order}" for order in ORDERS]}
    path = tmp_path / "gpu.db"
    paper_store.fill(path, families=families, rule=rule).close()
    words = [
        "gpu-orders",
        "--store",
        str(path),
        "--out",
        str(tmp_path / "orders.txt"),
        "--folder",
        str(tmp_path),
    ]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said == (tmp_path / "orders.txt").read_text()
    assert "| vertex-push | 0.060 | 1.00 | 3.00 | 1.00 | 3.00 | 1.00 | 3.00 |" in said
    assert "| edge-list | 0.060 | 1.00 | 1.00 | 1.00 | 1.00 | 1.00 | 1.00 |" in said
    assert "vertex-push: the slowest order takes 3.00 times the time of the fastest" in said
    assert (
        "Pessimal over best, push, geometric means: absolute 3.00, in-degree 3.00, out-degree 3.00." in said
    )
    assert (tmp_path / "orders.png").stat().st_size > 10_000
    assert "![Orders of the vertices" in (tmp_path / "index.md").read_text()
    assert main(["gpu-papers", "--store", str(path)]) == 2  # that is about other graphs


def test_a_graph_that_lacks_an_order(tmp_path, capsys):
    path = tmp_path / "gpu.db"
    paper_store.fill(path, families={"orders": ["star:vertices=40@absolute"]}).close()
    assert main(["gpu-orders", "--store", str(path)]) == 2
    assert "no graph was measured in all of the orders unordered, absolute" in capsys.readouterr().err

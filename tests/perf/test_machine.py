"""Machine facts, bandwidth, and the limit of a PageRank iteration."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gpop.generate import generate
from gpop.model.bytes import Sizes, pc_bytes
from perf import machine
from perf.__main__ import main
from perf.hardware import facts, platform_name
from perf.memory_bandwidth import bandwidth


def test_the_limit_is_bytes_over_bandwidth(monkeypatch):
    """The bytes are those of equation 1, counted here from the edges alone."""
    monkeypatch.setattr(
        machine, "bandwidth", lambda threads, nbytes: {"copy": 5e8, "triad": 1e9, "read": 2e8}
    )
    graph = generate("rmat", scale=9, degree=6, seed=3)
    found = machine.pagerank_limit(graph, 1)
    size = machine.gpop.pagerank(graph, iterations=1, threads=1).run.partition_size
    tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    rows, columns = tails // size, graph.indices // size
    partitions = -(-graph.n // size)
    expected = 0
    for p in np.unique(rows):
        own = rows == p
        messages = np.unique([tails[own], columns[own]], axis=1).shape[1]
        sizes = Sizes(offset=8, edge=4, id=2, source=2, value=4, weight=0)
        expected += pc_bytes(int(own.sum()), messages, partitions, sizes)
    assert found["bytes"] == expected
    assert found["limit seconds"] == expected / 1e9  # the best of the three
    assert found["share of limit"] == pytest.approx(found["limit seconds"] / found["seconds"])
    assert found["bytes per second"] == pytest.approx(expected / found["seconds"])


@pytest.mark.parametrize("threads", [1, 2])
def test_bandwidth_is_plausible(threads):
    found = bandwidth(threads, 4 << 20)
    assert set(found) == {"copy", "triad", "read"}
    for rate in found.values():
        assert 5e7 < rate < 5e12


def test_facts():
    told = facts()
    assert told["usable cores"] >= 1 and told["memory bytes"] > 1 << 28 and told["l2 bytes"] >= 1 << 16
    for cache in told["caches"]:
        assert cache["level"] in (1, 2, 3, 4) and cache["bytes"] > 0 and cache["shared by"] >= 1
    assert platform_name() == platform_name()


def test_command(tmp_path, capsys):
    path = tmp_path / "m.json"
    assert (
        main(["machine", "star:vertices=9", "--threads", "1", "--megabytes", "1", "--json", str(path)]) == 0
    )
    out = capsys.readouterr().out
    assert "copy     triad      read" in out and "a PageRank iteration on Graph(star-9: 9 vertices" in out
    told = json.loads(path.read_text())
    assert told["array bytes"] == 1 << 20 and told["pagerank"][0]["threads"] == 1
    assert main(["machine", "--threads", "0"]) == 2

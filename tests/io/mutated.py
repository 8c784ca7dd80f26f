"""What becomes of a file that something has happened to."""

from __future__ import annotations

import gpop.io
from gpop.common.errors import GraphFileError, NotEnoughMemory
from gpop.graph.graph import Graph
from tests.graphs import same


def check_mutation(path, data):
    """Whatever the bytes, either an error of one line or a whole, consistent graph."""
    path.write_bytes(data)
    try:
        graph = gpop.io.load(path)
    except (GraphFileError, NotEnoughMemory) as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
        return
    checked = Graph.from_csr(graph.indptr, graph.indices, graph.weights)
    assert same(checked, graph)
    checked.symmetrize()

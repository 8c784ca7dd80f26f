"""Specs of graphs: files in one direction and in both."""

import pytest

from gpop.common.errors import UsageError
from perf.graphs import normal, open_graph


def test_a_file_in_both_directions(tmp_path):
    path = tmp_path / "road.txt"
    path.write_text("0\t1\n1\t2\n")
    assert (open_graph(str(path)).m, open_graph(f"{path},symmetrize").m) == (2, 4)
    assert open_graph(normal(f"{path},symmetrize")).is_symmetric()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no such file, nor a generator"):
        normal(f"{tmp_path / 'road.txt'},symmetrize")

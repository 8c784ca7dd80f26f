"""Shares of a table: each process reads its row groups, and little more of the file."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpop.io import arrow_file


def same(array):
    return array


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_shares_of_a_table_are_the_table(tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, ends = tmp_path / f"table{suffix}", np.random.default_rng(1).integers(0, 9999, (2, 200_000))
    table = pa.table({"source": ends[0], "target": ends[1]})
    if suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=50_000, use_dictionary=False)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=50_000)
    found = []
    for rank in range(3):
        others = SimpleNamespace(rank=rank, size=3, sum=same, most=same, joined=same)
        share = arrow_file.read_share(path, others)
        assert share.read <= path.stat().st_size * 0.55  # two of four groups at most
        found.append([np.concatenate([np.empty(0, np.uint32), *share.ends[at::2]]) for at in (0, 1)])
    assert np.array_equal(np.concatenate(found, axis=1), ends)

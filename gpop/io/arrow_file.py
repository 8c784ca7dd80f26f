"""Edge tables with pyarrow: Parquet (``.parquet``), Arrow IPC and Feather (``.arrow``, ``.feather``).

Columns are found as in `Graph.from_arrow`: by their usual names, else the first two; or ``columns=``.
Original ids, integers or text, are the ids of the table. Columns are decoded batch by batch.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.memory import require_memory
from gpop.common.others import Others
from gpop.common.progress import progress_bar
from gpop.common.replacing import replacing
from gpop.graph.arguments import as_ids, as_size
from gpop.graph.graph import Graph
from gpop.graph.renumber import dense_ids
from gpop.interop.arrow_table import (
    from_batches,
    has_integer_ids,
    import_pyarrow,
    integer_columns,
    largest_and_rows,
    most_stated,
    stated,
    to_arrow,
)
from gpop.interop.edge_columns import pick_columns
from gpop.io.ids import distinct
from gpop.io.libraries import demand_weights, reading
from gpop.io.share import Share
from gpop.io.sniff import Options

if TYPE_CHECKING:
    import pyarrow

HOLDS_IDS = ONLY_EDGES = True
OPTIONS = ("columns",)

_ROWS = 1 << 16  # decoded at a time


def read(
    path: Path, *, weighted: bool | None = None, progress: bool = False, options: Options | None = None
) -> Graph:
    """Read an edge table; ``weighted=False`` ignores its weights, ``True`` demands them."""
    import_pyarrow()
    with (
        reading(path, "an Arrow or Parquet table"),
        open(path, "rb") as file,
        progress_bar(path.stat().st_size, "loading", "B", progress) as bar,
    ):
        parquet = path.suffix.lower() == ".parquet"
        schema, batches = (_parquet if parquet else _ipc)(path, file)
        columns = _columns(schema.names, options, weighted)
        demand_weights(path, columns[2] is not None, weighted)
        graph = from_batches(schema, _checked(batches, file, bar), *columns, progress=progress)
    return graph


def read_share(
    path: Path, others: Others, *, weighted: bool | None = None, options: Options | None = None
) -> Share | None:
    """The process's share of the edges, some of the row groups or batches; None where ids are names."""
    import_pyarrow()
    with reading(path, "an Arrow or Parquet table"), _Counting(path) as file:
        parquet = path.suffix.lower() == ".parquet"
        schema, batches = (_parquet if parquet else _ipc)(path, file, (others.rank, others.size))
        columns = _columns(schema.names, options, weighted)
        demand_weights(path, columns[2] is not None, weighted)
        if not has_integer_ids(schema, *columns[:2]):
            return None
        named = [column for column in columns if column is not None]
        arrays = integer_columns(schema, _valid(batches), named)
    largest, rows = largest_and_rows(arrays)
    largest, rows = int(others.most(np.array([largest]))[0]), int(others.sum(np.array([rows]))[0])
    ends = [ids for pair in zip(*arrays[:2], strict=True) for ids in pair]
    n, original_ids = stated(schema, largest, rows), None
    if n is None:
        n, original_ids = dense_ids(ends, largest, 0, others)
    return Share(as_size(n), original_ids, ends, arrays[2] if len(arrays) == 3 else None, file.done)


class _Counting(io.FileIO):
    """A file that counts the bytes that are read of it."""

    done = 0

    def read(self, size: int = -1) -> bytes:
        data = super().read(size)
        self.done += len(data)
        return data


def _columns(names: list[str], options: Options | None, weighted: bool | None) -> tuple[Any, Any, Any]:
    """The columns of source, target and weight (None: none)."""
    if options is None or options.columns is None:
        return pick_columns(names, weight=False if weighted is False else None)
    given = list(options.columns)
    if isinstance(given[0], int):
        if max(given) >= len(names) or min(given) < 0:
            raise UsageError(f"no column {max(given)}, expected places 0..{len(names) - 1}")
        given = [names[place] for place in given]
    weight = given[2] if len(given) == 3 and weighted is not False else False
    return pick_columns(names, *given[:2], weight)


def _parquet(
    path: Path, file: BinaryIO, share: tuple[int, int] = (0, 1)
) -> tuple[pyarrow.Schema, Iterator[pyarrow.RecordBatch]]:
    """The schema and the batches; of a ``share`` (which, of how many) with about equal numbers of rows."""
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetFile(file, pre_buffer=False)
    groups = [table.metadata.row_group(i) for i in range(table.num_row_groups)]
    largest = max((group.total_byte_size for group in groups), default=0)
    ends = np.cumsum([group.num_rows for group in groups], dtype=np.int64)
    rows = int(ends[-1]) if groups else 0
    first, last = (np.searchsorted(ends, rows * at // share[1], "right") for at in (share[0], share[0] + 1))
    require_memory(3 * largest + 8 * rows // share[1], f"{path}: {rows} edges")
    mine = list(range(first, last))
    return table.schema_arrow, table.iter_batches(batch_size=_ROWS, row_groups=mine)


def _ipc(
    path: Path, file: BinaryIO, share: tuple[int, int] = (0, 1)
) -> tuple[pyarrow.Schema, Iterator[pyarrow.RecordBatch]]:
    """The same of a file of Arrow: as many batches for each share."""
    import pyarrow.ipc

    require_memory(path.stat().st_size // share[1], f"{path}: its columns")
    table = pyarrow.ipc.open_file(file)
    first, last = (table.num_record_batches * at // share[1] for at in (share[0], share[0] + 1))
    return table.schema, (table.get_batch(i) for i in range(first, last))


def _checked(batches: Iterator, file: BinaryIO, bar: Any) -> Iterator[pyarrow.RecordBatch]:
    """The valid batches, with a bar of what was read."""
    done = 0
    for batch in _valid(batches):
        yield batch
        bar.update(file.tell() - done)
        done = file.tell()


def _valid(batches: Iterator) -> Iterator[pyarrow.RecordBatch]:
    """The batches, whose lengths and offsets are what they say they are."""
    for batch in batches:
        batch.validate(full=True)
        yield batch


def tells_size(graph: Graph, ends: int) -> bool:
    """Whether the file says how many vertices there are, and is believed."""
    return graph.n <= most_stated(graph.m)


def write(graph: Graph, path: Path) -> None:
    """Write an edge table with the columns source, target and, when there are weights, weight."""
    import_pyarrow()
    import pyarrow.feather
    import pyarrow.parquet

    require_memory(24 * graph.m, f"writing {path}")
    ids = distinct(graph, path)
    if ids is not None and ids.dtype.kind in "iu":
        as_ids(ids, f"{path}: original_ids")
    arrays = graph.indptr, graph.indices, graph.weights
    table = to_arrow(Graph(*arrays, original_ids=ids))
    with replacing(path) as temporary:
        if path.suffix.lower() == ".parquet":
            pyarrow.parquet.write_table(table, temporary)
        else:
            pyarrow.feather.write_feather(table, str(temporary), compression="uncompressed")

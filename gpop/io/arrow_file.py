"""Edge tables with pyarrow: Parquet (``.parquet``), Arrow IPC and Feather (``.arrow``, ``.feather``).

Columns are found as in `Graph.from_arrow`: by their usual names, else the first two; or ``columns=``.
Original ids, integers or text, are the ids of the table. Columns are decoded batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gpop.common.errors import UsageError
from gpop.common.memory import require_memory
from gpop.common.progress import progress_bar
from gpop.common.replacing import replacing
from gpop.graph.graph import Graph
from gpop.interop.arrow_table import from_batches, import_pyarrow, to_arrow
from gpop.interop.edge_columns import pick_columns
from gpop.io.libraries import demand_weights, reading
from gpop.io.sniff import Options

if TYPE_CHECKING:
    import pyarrow

HOLDS_IDS = True
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


def _parquet(path: Path, file: BinaryIO) -> tuple[pyarrow.Schema, Iterator[pyarrow.RecordBatch]]:
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetFile(file, pre_buffer=False)
    groups = [table.metadata.row_group(i) for i in range(table.num_row_groups)]
    largest = max((group.total_byte_size for group in groups), default=0)
    rows = sum(group.num_rows for group in groups)
    require_memory(3 * largest + 8 * rows, f"{path}: {rows} edges")
    return table.schema_arrow, table.iter_batches(batch_size=_ROWS)


def _ipc(path: Path, file: BinaryIO) -> tuple[pyarrow.Schema, Iterator[pyarrow.RecordBatch]]:
    import pyarrow.ipc

    require_memory(path.stat().st_size, f"{path}: its columns")
    table = pyarrow.ipc.open_file(file)
    return table.schema, (table.get_batch(i) for i in range(table.num_record_batches))


def _checked(batches: Iterator, file: BinaryIO, bar: Any) -> Iterator[pyarrow.RecordBatch]:
    """The batches, whose lengths and offsets are what they say they are."""
    done = 0
    for batch in batches:
        batch.validate(full=True)
        yield batch
        bar.update(file.tell() - done)
        done = file.tell()


def write(graph: Graph, path: Path) -> None:
    """Write an edge table with the columns source, target and, when there are weights, weight."""
    import_pyarrow()
    import pyarrow.feather
    import pyarrow.parquet

    require_memory(24 * graph.m, f"writing {path}")
    table = to_arrow(graph)
    with replacing(path) as temporary:
        if path.suffix.lower() == ".parquet":
            pyarrow.parquet.write_table(table, temporary)
        else:
            pyarrow.feather.write_feather(table, str(temporary), compression="uncompressed")

"""Edge tables with pyarrow: Parquet (``.parquet``), Arrow IPC and Feather (``.arrow``, ``.feather``).

Columns are found as in `Graph.from_arrow`: by their usual names, else the first two. Original ids,
integers or text, are the ids of the table.
"""

from __future__ import annotations

from pathlib import Path

from gpop.graph import Graph
from gpop.interop.arrow_table import from_arrow, import_pyarrow, to_arrow
from gpop.io.atomic import replacing
from gpop.io.libraries import demand_weights, reading
from gpop.memory import require_memory

HOLDS_IDS = True


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read an edge table; ``weighted=False`` ignores its weights, ``True`` demands them."""
    import_pyarrow()
    with reading(path, "an Arrow or Parquet table"):
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet

            with pyarrow.parquet.ParquetFile(path) as file:
                sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
                require_memory(3 * max(0, sum(sizes)), f"{path}: its columns")
                table = file.read()
        else:
            import pyarrow.feather

            require_memory(2 * path.stat().st_size, f"{path}: its columns")
            table = pyarrow.feather.read_table(path, memory_map=False)
        table.validate(full=True)
        graph = from_arrow(table, weight=False if weighted is False else None, progress=progress)
        demand_weights(path, graph.weights is not None, weighted)
    return graph


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

"""Parts of a graph under mpiexec, for job.py: of files, edges and tables, and on disk."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop.apps import report
from gpop.common.errors import GraphFileError
from gpop.generate import generate
from gpop.io import binary_csr
from gpop.io.edge_list_share import read_share
from gpop.ranks.part import in_edges_of, part_of
from gpop.ranks.part_graph import load_parts
from gpop.ranks.parts_file import write_parts
from tests.ranks import agreement
from tests.ranks.agreement import told, world


def parts_of_files(folder: Path) -> None:
    """A rank reads its share of the bytes, and has the edges into its range in the order of the graph."""
    for weights in (None, (1, 9)):
        path, graph = folder / "graph.bin", None
        if world().rank == 0:
            graph = generate("rmat", scale=11, degree=8, seed=3, weights=weights)
            binary_csr.write(graph, path)
        graph = world().first_ones(graph)
        loaded = load_parts(path, world(), partition_size=64)
        begin, end = loaded.bounds[world().rank : world().rank + 2]
        for found, expected in zip(loaded.in_edges, in_edges_of(graph, begin, end), strict=True):
            assert found is expected or np.array_equal(found, expected)
        assert np.array_equal(loaded.out_degree, graph.out_degree)
        read, size = loaded.bytes_read, path.stat().st_size
        assert read <= size * (1 / world().size + 0.05), f"{read} of {size} bytes"
        whole, cut = part_of(graph, 6, world()), part_of(loaded, 6, world())
        assert np.array_equal(whole.bounds, cut.bounds)
        assert np.array_equal(whole.graph.indices, cut.graph.indices)
        assert np.array_equal(whole.sends, cut.sends)
        alone = told(lambda graph=graph: gpop.connected_components(graph, transport="alone"))
        here = gpop.connected_components(loaded)
        assert np.array_equal(here.label, alone.label[slice(*here.run.part)])
        assert (here.count, here.symmetrized) == (alone.count, alone.symmetrized)
        whole = gpop.connected_components(loaded, gather=True)
        assert np.array_equal(whole.label, alone.label)
        world().barrier()


def parts_of_edges(folder: Path) -> None:
    """Edge lists, tables and generators: what the ranks have is the whole graph's, in its order."""
    rng = np.random.default_rng(7)
    ends = rng.integers(0, 90, (2000, 2))
    plain = "".join(f"{u}\t{v}\n" for u, v in ends)
    weights = [str(i) if i < 1900 else f"{i}.5" for i in range(len(ends))]
    weighted = "".join(f"{7000 * u},{7000 * v},{w}\n" for (u, v), w in zip(ends, weights, strict=True))
    texts = {
        "plain.txt": f"\ufeff# Nodes: 120\n{plain}",
        "sparse.csv": f"source,target,weight\n{weighted}",  # renumbered; weights of two types
        "short.el": "3 1\n0 2",  # fewer lines than ranks, the last one without an end
        "empty.el": "# nothing\n",
    }
    paths = [folder / name for name in texts]
    if world().rank == 0:
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text)
        if find_spec("pyarrow"):
            save_tables(folder)
    world().barrier()
    for path in paths + sorted(folder.glob("table*")):
        whole = told(lambda path=path: gpop.load(path))
        loaded = gpop.load_part(path, partition_size=16)
        same_part(whole, loaded, path.name)
        read = loaded.bytes_read
        assert path.name != "plain.txt" or read <= path.stat().st_size * (1 / world().size + 0.05)
    for kind, options in (
        ("road", {"width": 12, "height": 11, "weights": (1, 9)}),
        ("rmat", {"scale": 8, "degree": 8, "symmetrize": True, "permute": True, "weights": (1, 9)}),
    ):
        whole = generate(kind, **options)
        same_part(whole, gpop.generate_part(kind, **options, partition_size=16), kind)


def save_tables(folder: Path) -> None:
    """Edge tables of several row groups."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    graph = agreement.graphs()["random"]
    table = graph.to_arrow()
    parquet.write_table(table, folder / "table.parquet", row_group_size=200)
    parquet.write_table(table, folder / "table of one group.parquet")
    with pa.ipc.new_file(folder / "table.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=100)


def same_part(whole: gpop.Graph, loaded: Any, name: str) -> None:
    """Refuse a part that is not what the whole graph has of it."""
    begin, end = loaded.bounds[world().rank : world().rank + 2]
    assert (loaded.n, loaded.m) == (whole.n, whole.m), name
    for found, expected in zip(loaded.in_edges, in_edges_of(whole, begin, end), strict=True):
        assert found is expected or (np.array_equal(found, expected) and found.dtype == expected.dtype), name
    assert np.array_equal(loaded.out_degree, whole.out_degree), name
    ids = loaded.original_ids, whole.original_ids
    assert ids[0] is ids[1] or np.array_equal(*ids), name


def wrong_lines(folder: Path) -> None:
    """A line that is no edge is told with its number by the rank that has it."""
    path = folder / "wrong.txt"
    if world().rank == 0:
        path.write_text("# one\n" + "1 2\n" * 300 + "1 x\n" + "1 2\n" * 300)
    world().barrier()
    said = None
    shares = Alone(world().rank, world().size)
    try:
        read_share(path, shares)
    except GraphFileError as error:
        said = str(error)
    said = [each for each in world().everyones(said) if each is not None]
    assert len(said) == 1 and "line 302: '1 x'" in said[0], said


def tables(folder: Path) -> None:
    """What the ranks write together is what one writes."""
    values = np.array([0.1, 2, 3, 4, 5], np.float32)
    for rows in (0, 2, 5):
        columns = {"vertex": np.arange(rows), "value": values[:rows]}
        for suffix in report.TABLE_SUFFIXES:
            paths = [folder / f"{who}-{rows}{suffix}" for who in ("alone", "all")]
            missing = {"value": columns["vertex"] == 1}
            if world().rank == 0:
                report.save_table(paths[0], columns, missing)
            report.save_table(paths[1], columns, missing, world())
            assert world().rank or paths[0].read_bytes() == paths[1].read_bytes(), paths[1]
    pipe = folder / "pipe.csv"
    if world().rank == 0:
        os.mkfifo(pipe)
        reader = os.open(
            pipe, os.O_RDONLY | os.O_NONBLOCK
        )  # what is written is little, and waits in the pipe
    report.save_table(pipe, columns, missing, world())
    assert world().rank or os.read(reader, 1 << 16) == (folder / "all-5.csv").read_bytes()
    hidden = SharedByNobody(world())
    try:
        report.save_table(folder / "hidden.csv", columns, missing, hidden)
    except GraphFileError as error:
        assert "cannot be written: rank 1: No such file" in str(error), error
    else:
        raise AssertionError("not refused")
    assert world().rank or not list(folder.glob("*hidden*"))


class SharedByNobody:
    """The ranks, whose disks are not shared: others do not find the file that rank 0 has made."""

    def __init__(self, ranks: Any) -> None:
        self.ranks = ranks

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ranks, name)

    def first_ones(self, value: Any) -> Any:
        found = self.ranks.first_ones(value)
        return found if self.ranks.rank == 0 else f"{found}-elsewhere"


class Alone:
    """Stands for other processes that would wait."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.first_ones = world().first_ones
        self.sum = self.most = self.joined = lambda array: array

    def first_alone(self, work: Any) -> None:
        work()


def parts_on_disk(folder: Path) -> None:
    """Parts that were written before give what the whole graph gives."""
    graph = agreement.graphs()["rmat"]
    for parts in (3, 5):
        path = folder / f"{parts}.parts"
        if world().rank == 0:
            write_parts(graph, path, parts)
        world().barrier()
        loaded = gpop.load_part(path)
        begin, end = loaded.bounds[world().rank : world().rank + 2]
        for found, expected in zip(loaded.in_edges, in_edges_of(graph, begin, end), strict=True):
            assert np.array_equal(found, expected)
        assert np.array_equal(loaded.out_degree, graph.out_degree)
        assert loaded.facts.heaviest_weight == graph.weights.max()

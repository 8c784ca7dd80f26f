"""Mutated files of every format: a clear error of one line or a valid graph, never a crash, a hang or
memory that the file does not bear out.

A few hundred inputs a format run always. 100,000 a format:
``pytest -m slow -n 2 tests/io/test_fuzz.py``. An input that fails is named by its number; the same
number gives the same bytes again.
"""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import lzma
import random
import resource
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gpop.io
from gpop.common.errors import GpopError
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.graph.validate import ids_fault, offsets_fault

ENDINGS = [
    ".bin", ".sg", ".wsg", ".txt", ".csv", ".konect", ".adj", ".graph", ".gr", ".mtx", ".npz",
    ".parquet", ".arrow", ".graphml", ".gml", ".el.gz", ".el.bz2", ".gr.xz", ".adj.zst", ".mtx.gz",
]  # fmt: skip
NEEDS = {
    ".parquet": "pyarrow",
    ".arrow": "pyarrow",
    ".zst": "zstandard",
    ".graphml": "networkx",
    ".gml": "networkx",
}
NUMBERS = [b"0", b"-1", b"1", b"2", b"255", b"65536", b"2147483648", b"4294967295", b"4294967296"]
NUMBERS += [b"999999999999", b"9223372036854775807", b"9223372036854775808", b"1e9", b"nan", b".5", b""]
DIALECTS = {
    ".txt": [
        b"0 1\n", b"source target weight\na b 1\nb c .5\n", b"# Nodes: 9 Edges: 1\n5 6\n", b"0;1;7\n1;2;3\n",
    ],
    ".csv": [
        b'source,target,weight\n"a","b",1\nb,c,2\n', b"Type,Target,Source\nx,a,b\nx,b,c\n", b"7,8\n9,1\n",
    ],
    ".konect": [b"% bip unweighted\n% 2 2 3\n1 1\n2 3\n", b"% sym positive\n1 2 3 99\n2 3 1 77\n"],
    ".graph": [
        b"% c\n3 2 011 2\n1 1 2 5\n1 1 1 5 3 7\n2 2 2 7\n",
        b"3 2 100\n2\n1 3\n2\n",
        b"3 2 101\n9 2 5\n9 1 5 3 7\n9 2 7\n",
    ],
    ".gr": [b"p tw 4 2\n1 2\n3 4\n", b"c x\np edge 3 2\ne 1 2\ne 2 3\n", b"p sp 2 1\na 1 2 .5\n"],
    ".adj": [b"WeightedAdjacencyGraph\n2\n1\n0\n1\n1\n-7\n"],
    ".mtx": [
        b"%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 .5\n3 3 1e3\n",
        b"%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 7\n",
        b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
    ],
}  # fmt: skip
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
MOST_SECONDS = 5  # of processor time for one input: a busy machine is no hang
MOST_BYTES = 1 << 30  # that the process may grow by


@cache
def samples(ending: str, folder: Path) -> list[bytes]:
    """Whole files of a format to start from."""
    graphs = [
        generate("rmat", scale=5, degree=3, seed=1, symmetrize=True),
        Graph.from_edges([0, 1, 1], [1, 0, 1], [5, 5, 70000], n=3),
        Graph.from_edges([], [], n=2),
    ]
    files = list(DIALECTS.get(ending, []))
    for graph in graphs:
        path = folder / f"sample{ending}"
        try:
            graph.save(path)
        except GpopError:  # this format does not hold this graph
            continue
        files.append(path.read_bytes())
    if ending == ".npz":
        from scipy.sparse import save_npz

        for form in ("csc", "coo", "bsr", "dia"):
            save_npz(folder / "sample.npz", graphs[0].to_scipy().asformat(form), compressed=False)
            files.append((folder / "sample.npz").read_bytes())
    return files


def mutate(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One to four random changes: bytes, numbers, pieces that move, the end cut off."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(out) + 1)
        span = rng.choice((1, 1, 2, 4, 8, 40))
        kind = rng.randrange(8)
        if kind == 0:
            out[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del out[at : at + span]
        elif kind == 3:
            out[at:at] = out[at : at + span] * rng.choice((1, 1, 3))
        elif kind == 4:
            del out[at:]
        elif kind == 5:  # a number in text becomes another
            end = start = at
            while start > 0 and out[start - 1 : start].isdigit():
                start -= 1
            while out[end : end + 1].isdigit():
                end += 1
            out[start:end] = rng.choice(NUMBERS)
        elif kind == 6:  # a number in binary becomes another
            size = rng.choice((1, 4, 8))
            value = rng.choice((0, 1, -1, 2**31, 2**32 - 1, 2**40, 2**62, rng.randrange(2**16)))
            out[at : at + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")
        else:
            other = rng.choice(others)
            cut = rng.randrange(len(other) + 1)
            out[at : at + span] = other[cut : cut + span]
    return bytes(out)


def check(path: Path) -> bool:
    """Whether the file is a graph; fails when it is neither a valid one nor a clear error."""
    try:
        graph = gpop.io.load(path)
    except GpopError as error:
        assert "\n" not in str(error)
        assert str(path) in str(error) or "needs" in str(error)
        return False
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == np.uint32
    assert offsets_fault(graph.indptr, graph.m) is None
    assert ids_fault(graph.indices, graph.n) is None
    assert graph.weights is None or graph.weights.shape == (graph.m,)
    assert graph.original_ids is None or graph.original_ids.shape == (graph.n,)
    return True


def fuzz(ending: str, folder: Path, inputs: range) -> int:
    """Number of the inputs that are graphs."""
    for suffix, package in NEEDS.items():
        if ending.endswith(suffix) and not importlib.util.find_spec(package):
            pytest.skip(f"{ending} needs {package}, which is not installed")
    files = samples(ending, folder)
    path = folder / f"mutated{ending}"
    for data in files:
        path.write_bytes(data)
        try:
            gpop.io.load(path)  # compiles, so that it does not count as time
        except GpopError:
            continue
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    graphs = 0
    pack = PACKERS.get("." + ending.split(".")[-1])
    for number in inputs:
        rng = random.Random(f"{ending} {number}")
        data = rng.choice(files)
        if pack and rng.random() < 0.5:  # damage the text, or what it is packed in
            text = mutate(rng.choice(samples("." + ending.split(".")[1], folder)), files, rng)
            data = pack(text)
        else:
            data = mutate(data, files, rng)
        path.write_bytes(data)
        start = time.process_time()
        try:
            graphs += check(path)
        except BaseException as error:
            error.add_note(f"input {number} of {ending}: {data[:300]!r}")
            raise
        assert time.process_time() - start < MOST_SECONDS, f"input {number} of {ending} hangs: {data[:300]!r}"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    assert grown * 1024 < MOST_BYTES, f"{ending}: memory grew by {grown} KiB"
    return graphs


@pytest.mark.filterwarnings("ignore:.*its comment says")  # of an edge list that has lost some
@pytest.mark.parametrize("ending", ENDINGS)
def test_mutated_files(tmp_path, ending):
    graphs = fuzz(ending, tmp_path, range(250))
    assert graphs < 250


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*its comment says")
@pytest.mark.parametrize("ending", ENDINGS)
def test_mutated_files_at_length(tmp_path, ending):
    graphs = fuzz(ending, tmp_path, range(100_000))
    print(f"{ending}: {graphs} of 100000 are graphs")

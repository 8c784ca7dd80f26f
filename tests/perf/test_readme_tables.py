"""The README's tables of speed are those of the committed results."""

from __future__ import annotations

import pytest

from gpop.common.errors import UsageError
from perf import readme
from perf.gap import Measured, row
from perf.gpu_table import Entry, Result, table

HEAD = """command   python -m perf some --rounds 3
date      2026-01-02T03:04:05Z
code      gpop 0.1.0+01234567, commit 0123456789ab
machine   Some CPU, 16 usable cores of 16, L2 2.1 MB, memory 1 GB, Linux
{device}versions  Python 3.12

"""


@pytest.mark.parametrize("page", readme.PAGES, ids=lambda page: page.name)
def test_pages_say_what_was_measured(page):
    text = page.read_text()
    assert readme.filled(page, text) == text, "run python -m perf readme"


def test_nothing_more_is_claimed():
    assert "memory speed" not in readme.README.read_text() + (readme.ROOT / "pyproject.toml").read_text()


def test_results_that_the_readme_names_exist():
    import re

    for path in re.findall(r"\((perf/results/[^)]*)\)", readme.README.read_text()):
        assert (readme.ROOT / path).exists(), path


def test_scaling(tmp_path):
    rows = [(app, threads, 100.04 / threads) for app in readme.APPS for threads in (1, 16)]
    lines = [f"{app:10}{threads:8}{ms:10.1f}{1.0:9.2f}x{10:12}  True" for app, threads, ms in rows]
    text = (
        HEAD.format(device="") + "Graph(rmat-22-16: 4 vertices, 64 edges)\nhead\n" + "\n".join(lines) + "\n"
    )
    (tmp_path / "scaling.txt").write_text(text)
    said = readme.block("scaling", tmp_path).splitlines()
    where = "`python -m perf some --rounds 3` on Some CPU, 16 usable cores of 16, 2026-01-02"
    assert said[0].startswith(f"{where} (rmat-22-16: 4 vertices, 64 edges; milliseconds, median; ")
    assert said[0].endswith("; [output](perf/results/scaling.txt)):")
    assert said[-2:] == ["| 1 | 100 | 100 | 100 | 100 | 100 |", "| 16 | 6.3 | 6.3 | 6.3 | 6.3 | 6.3 |"]


def test_gpu_names_every_graph_and_who_is_best(tmp_path):
    won = [Entry("bfs", "gpop pc", [9e-3]), Entry("bfs", "gpop auto", [2e-3]), Entry("bfs", "edge", [3e-3])]
    lost = [Entry("pagerank", "gpop auto", [2e-3]), Entry("pagerank", "spmv", [1e-3])]
    lost += [Entry("cc", "gpop auto", [1e-3]), Entry("cc", "gpop pc", [2e-3])]  # nobody else has it
    results = [
        Result("rmat-22", "rmat", "4 vertices, 128,000,000 edges, source 0", 1e12, won, []),
        Result("grid", "grid", "4 vertices, 16,000,000 edges, source 0", 1e12, lost, []),
    ]
    printed = "".join(table(result) + "\n\n" for result in results) + "met     something: 1\n1 s in all\n"
    (tmp_path / "gpu.txt").write_text(
        HEAD.format(device="device    Some GPU, 132 multiprocessors\n") + printed
    )
    said = readme.block("gpu", tmp_path).splitlines()
    assert said[0].startswith(
        "`python -m perf some --rounds 3` on Some GPU, 132 multiprocessors, 2026-01-02 ("
    )
    assert said[-2:] == [
        "| rmat-22, 128 M edges |  | **2.000**, edge-parallel kernel 3.000 |  |",
        "| grid, 16 M edges | 2.000, **cuSPARSE SpMV 1.000** |  |  |",
    ]


def test_gap_has_both_sides_of_every_kernel(tmp_path):
    found = [
        Measured("bfs", "rmat", [0.01164, 2e-3, 3.0], [0.01424], 0.1),
        Measured("pr", "rmat", [0.5], [1.0], 0.1, "a note"),
        Measured("bfs", "road", [1e-3], [2e-3], 0.1),
    ]
    printed = "2 threads; every result verified by another method\nhead\n"
    (tmp_path / "gap.txt").write_text(
        HEAD.format(device="") + printed + "".join(row(each, 9) + "\n" for each in found)
    )
    said = readme.block("gap", tmp_path).splitlines()
    assert said[1].startswith("`python -m perf some --rounds 3` on Some CPU, 16 usable cores of 16, ")
    assert "(2 threads; " in said[1]
    assert said[3:] == [
        "| graph |  | bfs | pr |", "| --- | --- | --- | --- |",
        "| rmat | gpop | 11.6 | 500 |", "| rmat | GAPBS | 14.2 | 1000 |",
        "| road | gpop | 1.00 |  |", "| road | GAPBS | 2.00 |  |",
    ]  # fmt: skip


def test_machine(tmp_path):
    printed = "cores 2\n" + "".join(
        f"\na PageRank iteration on Graph({name}: 8 vertices)\nthreads MB share\n"
        f"      1  5.0  3.0  0.5  1.0  {one}\n"
        f"      2  5.0  3.0  0.5  1.0  {two}\n"
        for name, one, two in (("a", "50%", "40%"), ("b", "60%", "30%"))
    )
    (tmp_path / "machine.txt").write_text(HEAD.format(device="") + printed)
    said = readme.block("machine", tmp_path).splitlines()
    assert said[-4:] == [
        "| graph | 1 thread | 2 threads |", "| --- | --- | --- |", "| a: 8 vertices | 50% | 40% |",
        "| b: 8 vertices | 60% | 30% |",
    ]  # fmt: skip


def test_what_was_not_measured_is_not_told(tmp_path):
    for page, names in readme.PAGES.items():
        marks = "".join(f"<!-- {name} -->\nof before\n<!-- /{name} -->\n" for name in names)
        assert "of before" not in readme.filled(page, marks, tmp_path)
        with pytest.raises(UsageError, match=f"{page.name}: expected the marks"):
            readme.filled(page, "no marks", tmp_path)


def test_every_strategy_has_a_row():
    rows = readme.strategies().splitlines()[2:]
    assert [row.split(" | ")[2] for row in rows] == [strategy.name for strategy in readme.STRATEGIES]

"""The papers' tables from a store whose times follow a rule."""

from __future__ import annotations

import numpy as np
import pytest

from perf import paper_claims
from perf.__main__ import main
from perf.paper import PAPER
from perf.paper_graphs import LONG, graphs_of, real_graphs
from perf.paper_runs import read_runs
from perf.paper_tables import BEST_NON_SWITCHING, lines, of_walks, walk_of
from perf.store import Store
from tests.perf.paper_store import STEPS, fill, rule


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("papers") / "gpu.db"
    fill(path).close()
    return path


def test_the_optimum_switches_and_whole_runs_do_not(filled):
    with Store(filled) as store:
        runs = read_runs(store, "bfs")
    assert runs.names == list(PAPER["bfs"]) and len(runs.variants) == 3
    grid = [each.graph for each in runs.variants].index("grid-width8-height8")
    times = np.array([[rule(name, "grid", step) for step in range(STEPS)] for name in runs.names])
    assert runs.seconds[:, grid] == pytest.approx(times.sum(axis=1))
    assert runs.optimum[grid] == pytest.approx(times.min(axis=0).sum())
    assert runs.won[:, grid].sum() == STEPS
    found = lines(runs, runs.optimum)
    totals = {line.name: line.total for line in found}
    best = np.array([runs.seconds[:, place].min() for place in range(3)])
    assert totals[BEST_NON_SWITCHING] == pytest.approx(best.sum() / runs.optimum.sum())
    assert [walk_of(line.name) for line in of_walks(found)].count("edge-list") == 1


@pytest.mark.slow
def test_the_command_prints_and_writes_all_tables(filled, tmp_path, capsys):
    out = tmp_path / "papers.txt"
    assert main(["gpu-papers", "--store", str(filled), "--out", str(out), "--folder", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert out.read_text() == said
    assert "BFS. 56 implementations on 3 graphs, 3 variants, 9 iterations each; a device" in said
    assert "PageRank. 19 implementations on 3 graphs" in said
    assert "Loops take 1.50 times the time of their iterations" in said
    assert "Agrees: a star is the worst case of push and pull" in said
    assert len((tmp_path / "bfs-levels.csv").read_text().splitlines()) == 1 + 56 + 1
    assert len((tmp_path / "pagerank.md").read_text().splitlines()) == 2 + 19 + 1
    assert r"\begin{tabular}" in (tmp_path / "bfs-levels.tex").read_text()
    assert (tmp_path / "pagerank.png").stat().st_size > 10_000
    assert "- Agrees: a star is the worst case" in (tmp_path / "index.md").read_text()


def test_a_variant_that_lacks_one_is_left_out_and_said(tmp_path, capsys):
    path = tmp_path / "late.db"
    fill(path, late="vertex-push").close()
    assert main(["gpu-papers", "--store", str(path)]) == 0
    said = capsys.readouterr().out
    assert "on 2 graphs, 2 variants" in said and "1 variants lack some implementation" in said
    assert "1 runs of 1 series were not done in time, on star-vertices9." in said


def test_nothing_to_tell(tmp_path, capsys):
    Store(tmp_path / "empty.db").close()
    assert main(["gpu-papers", "--store", str(tmp_path / "empty.db")]) == 2
    assert "nothing of bfs: expected what perf gpu-strategies --paper stores" in capsys.readouterr().err


def test_the_papers_own_order_agrees():
    found = [paper_claims.Line(name, total, *[0.0] * 5) for name, total in paper_claims.TABLE_4_5.items()]
    assert paper_claims.order("x", paper_claims.TABLE_4_5, found).startswith("Agrees: x: tau 1.00")
    turned = [line._replace(total=1 / line.total) for line in found]
    assert "Contradicts: x: tau -1.00" in paper_claims.order("x", paper_claims.TABLE_4_5, turned)


def test_graphs_of_a_folder_by_family(tmp_path):
    (tmp_path / "karate.txt").write_text("# karate: undirected, each edge once\n0\t1\n")
    (tmp_path / "mine.txt").write_text("# mine: directed\n0\t1\n1\t2\n1\t3\n2\t3\n3\t4\n4\t5\n5\t6\n")
    found = real_graphs(tmp_path)
    assert found == {
        "social": [f"{tmp_path / 'karate.txt'},symmetrize"], "other real": [str(tmp_path / "mine.txt")]
    }  # fmt: skip
    generated = graphs_of(None)
    assert sum(map(len, generated.values())) == 18 and not generated.keys() & LONG.keys()

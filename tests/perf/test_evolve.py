"""``perf evolve``: files, index, kept courses; sentences say what the numbers say."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gpop.generate.degree_fit import DEFAULTS, fit, target_of
from gpop.generate.offspring import CROSSOVERS
from perf.__main__ import main
from perf.pictures import courses, evolution_convergence, evolution_drift, evolved_degrees
from perf.pictures.courses import Course, least_distance


def course(distance, connectivity=1.0, vertices=100):
    """A course with these distances."""
    return Course(distance, [connectivity] * len(distance), [9] * len(distance), [1] * vertices, 0.5)


@pytest.mark.slow
def test_draws_once_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["evolve", "--folder", "out", "--sizes", "100", "--seeds", "1", "--generations", "3"]
    assert main(words) == 0
    assert capsys.readouterr().out == "out/index.md: 3 pictures of 1 sizes\n"
    index = (tmp_path / "out" / "index.md").read_text()
    for name in re.findall(r"\]\(([^)]+)\)", index):
        assert (tmp_path / "out" / name).stat().st_size > 0
    assert index.count("**Here:**\n\n- ") == 3
    for kind in DEFAULTS:
        assert f"- {kind}: after 3 generations the degrees are 0." in index
    table = (tmp_path / "out" / "convergence.csv").read_text().splitlines()
    assert len(table) == 1 + 2 * len(CROSSOVERS) + len(DEFAULTS) - 1
    assert table[1].startswith("100,uniform,vertex,flip,3,") and table[-1].startswith("100,normal,union,")
    monkeypatch.setattr(courses, "evolution", None)  # not measured again
    kept = courses.Courses(tmp_path / "out", words, (100,), 1, 3, 30)
    assert len(kept.course(100, "uniform", "vertex", "flip", 1).distance) == 4


def test_generation_of_the_first_fit():
    assert course([0.3, 0.137, 0.136, 0.1]).fitting() == 2
    assert course([0.3, 0.1], connectivity=0.99).fitting() is None


def test_sentences():
    said = evolved_degrees.sentence("normal", course([0.3, 0.13, 0.12]))
    assert "after 2 generations the degrees are 0.120 from the target (within p = 0.1)" in said
    assert "generation 1 was the first" in said
    assert "beyond p = 0.01" in evolved_degrees.sentence("normal", course([0.3]))
    found = {("union", "flip"): [course([0.3, 0.1]), course([0.1])], ("edge", "flip"): [course([0.3, 0.2])]}
    said = evolution_convergence.sentence(100, "uniform", found)
    assert "reached by union with flip after 0 generations (medians); 1 of 2 ways do not" in said
    del found["union", "flip"]
    said = evolution_convergence.sentence(100, "uniform", found)
    assert "the nearest, edge with flip, is 0.200 away after 1 generations, and was 0.300" in said
    assert evolution_convergence.row([course([0.3, 0.1]), course([0.3])])[:4] == [0, 1, "1 of 2", 0.2]


@pytest.mark.parametrize("text", ["uniform:0:20", "exponential:0.3", "normal:8:2"])
def test_no_connected_graph_is_nearer_than_the_least_distance(text):
    """Rings with chords of many shapes, and the bound is one that degrees can come close to."""
    target, n = target_of(text), 400
    least = least_distance(target, n)
    random = np.random.default_rng(1)
    ring = [v << 32 | (v + 1) % n for v in range(n)]
    for chords in (0, 10, 300, 1500):
        ends = random.integers(0, n, (chords, 2))
        edges = np.array(sorted({*ring, *(int(u) << 32 | int(v) for u, v in ends if u != v)}), np.uint64)
        distance, connectivity = fit(edges, n, target.table(n))
        assert connectivity == 1 and distance >= least
    steps = target.below(np.arange(0, 60) + 0.5)  # degrees whose function passes the middle of every step
    steps[0] = 0
    table = target.below(np.arange(61))
    nearest = max(np.abs(steps - table[:-1]).max(), np.abs(steps - table[1:]).max())
    assert least <= nearest < least + 0.02


def test_a_lineage_drifts_as_expected():
    generations = np.arange(201)
    for mutation in ("flip", "balanced"):
        found = np.mean([evolution_drift.lineage(mutation, 200, seed) for seed in range(4)], axis=0)
        assert found == pytest.approx(evolution_drift.expected(mutation, generations), abs=0.015)


@pytest.mark.parametrize(("option", "value"), [("--sizes", "50"), ("--seeds", "0"), ("--generations", "0")])
def test_bad_options(option, value, capsys):
    assert main(["evolve", option, value]) == 2
    assert "expected --seeds and --generations from 1 on and --sizes from 100 on" in capsys.readouterr().err

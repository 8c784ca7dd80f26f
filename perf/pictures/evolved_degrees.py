"""Figs. 5.1 to 5.3 of M. Verstraaten's thesis: degrees of evolved graphs and what was aimed at."""

from __future__ import annotations

import numpy as np

from gpop.generate import GENERATORS
from gpop.generate.degree_fit import CRITICAL, DEFAULTS, critical_distance, target_of
from perf.pictures.courses import CRITICAL_COLOUR, SIGNIFICANCE, Course, Courses
from perf.pictures.study import legend_below, panels

TITLE = "Degrees of evolved graphs (Figs. 5.1 to 5.3)"
PAPER = (
    "Graphs of 100 vertices fit uniform (0 to 100), exponential (0.1) and normal (50, 10) degrees after "
    "1,000 generations; comparable fitness begins after 100 to 200."
)
VERTICES = 100
CHOSEN = [GENERATORS["evolve"][name] for name in ("crossover", "mutation")]


def draw(courses: Courses) -> list[str]:
    """Above how many vertices have a degree, below the distribution functions, within the critical ones."""
    figure, axes = panels(len(DEFAULTS), 2, width=3.6)
    said = []
    for (above, below), kind in zip(axes.T, DEFAULTS, strict=True):
        course = courses.course(VERTICES, kind, *CHOSEN, courses.seeds[0])
        degrees = np.arange(max(course.degrees) + 1)
        table = target_of(kind).below(degrees)
        counts = np.bincount(course.degrees)
        critical = critical_distance(SIGNIFICANCE, VERTICES)
        width = max(1, len(degrees) // 20)
        edges = np.arange(0, len(degrees) + width, width)
        expected = VERTICES * np.diff(target_of(kind).below(edges - 0.5))
        above.bar(edges[:-1], np.add.reduceat(counts, edges[:-1][edges[:-1] < len(counts)]), width * 0.9,
                  align="edge", color="#9ecae1", label="vertices")  # fmt: skip
        above.stairs(expected, edges, color="#d95f02", label="expected")
        above.set_title(kind)
        below.step(degrees, np.cumsum(counts) / VERTICES, where="post", color="#3953a4", label="degrees")
        below.plot(degrees, table, color="#d95f02", label="target")
        for sign in (-1, 1):
            below.plot(degrees, np.clip(table + sign * critical, 0, 1), ":", color=CRITICAL_COLOUR)
        below.set_xlabel("degree")
        said.append(sentence(kind, course))
    axes[0][0].set_ylabel("vertices")
    axes[1][0].set_ylabel("share of the vertices")
    legend_below(figure, axes[1][0])
    courses.save(figure, f"{VERTICES} vertices")
    return said


def sentence(kind: str, course: Course) -> str:
    """How well one fits, and since when."""
    far, first = course.distance[-1], course.fitting()
    passed = [p for p in CRITICAL if far <= critical_distance(p, VERTICES)]
    fits = f"within p = {max(passed)}" if passed else f"beyond p = {min(CRITICAL)}"
    since = f"generation {first} was the first" if first is not None else "no generation had a graph"
    return (
        f"{kind}: after {len(course.distance) - 1} generations the degrees are {far:.3f} from the target "
        f"({fits}), {course.connectivity[-1]:.0%} of the vertices connected; {since} "
        f"within p = {SIGNIFICANCE} and connected."
    )

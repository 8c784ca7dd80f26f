"""How fast evolution comes near its target, by crossover, mutation and number of vertices."""

from __future__ import annotations

from statistics import median

from gpop.generate import GENERATORS
from gpop.generate.degree_fit import DEFAULTS, critical_distance, target_of
from gpop.generate.evolve import MUTATIONS
from gpop.generate.offspring import CROSSOVERS
from perf.pictures.courses import CRITICAL_COLOUR, SIGNIFICANCE, Course, Courses, least_distance
from perf.pictures.study import legend_below, panels, plain_log

TITLE = "Convergence (section 5.4)"
PAPER = (
    "100 vertices take 100 to 200 generations, 1,000 well over 1,000, and larger graphs stay on a plateau "
    "after about 200. Vertex-wise crossover takes 10 to 100 times fewer generations than edge-wise. A child "
    "takes 3 s at 300,000 vertices, 35 s at 3 million. (The thesis' program draws for a vertex between the "
    "edges of either parent and those of both, which is called union here; vertex is what the text says.)"
)
TARGET = "uniform"
CHOSEN = tuple(GENERATORS["evolve"][name] for name in ("crossover", "mutation"))
"""The way of the other targets: the generator's own."""

COLOURS = dict(zip(CROSSOVERS, ("#d95f02", "#1b9e77", "#888888", "#3953a4"), strict=True))
LINES = dict(zip(MUTATIONS, (":", "-"), strict=True))


def draw(courses: Courses) -> list[str]:
    """A panel for each size, with the first seed's courses; a table of all seeds', and of other targets."""
    figure, axes = panels(len(courses.sizes), width=3.6, height=3.4)
    rows, said = [], []
    for panel, vertices in zip(axes[0], courses.sizes, strict=True):
        critical = critical_distance(SIGNIFICANCE, vertices)
        found = {}
        for crossover in CROSSOVERS:
            for mutation in MUTATIONS:
                each = [courses.course(vertices, TARGET, crossover, mutation, seed) for seed in courses.seeds]
                label = crossover if LINES[mutation] == "-" else None
                style = {"color": COLOURS[crossover], "linestyle": LINES[mutation], "label": label}
                panel.plot(each[0].distance, **style)
                rows.append([vertices, TARGET, crossover, mutation, *row(each)])
                found[crossover, mutation] = each
        panel.axhline(critical, color=CRITICAL_COLOUR, linewidth=0.8)
        panel.set_xscale("symlog", linthresh=10)
        panel.set_yscale("log")
        panel.set(title=f"{vertices:,} vertices", xlabel="generation", xlim=(0, courses.generations))
        plain_log(panel.yaxis)
        said.append(sentence(vertices, TARGET, found))
        for target in sorted(DEFAULTS.keys() - {TARGET}):
            each = [courses.course(vertices, target, *CHOSEN, seed) for seed in courses.seeds]
            rows.append([vertices, target, *CHOSEN, *row(each)])
            said.append(sentence(vertices, target, {CHOSEN: each}))
    axes[0][0].set_ylabel("distance from the target")
    legend_below(figure, axes[0][0])
    figure.supxlabel(f"{TARGET} degrees; dotted: flip, grey: p = {SIGNIFICANCE}", fontsize="small")
    courses.save(figure)
    header = ["vertices", "target", "crossover", "mutation", "generations", "p = 0.05 after",
              "seeds that reach it", "distance", "connected", "ms per generation"]  # fmt: skip
    courses.save_table(header, rows)
    return said


def row(each: list[Course]) -> list:
    """The columns of one way over all seeds (medians)."""
    reached = [course.fitting() for course in each if course.fitting() is not None]
    return [
        int(median(len(course.distance) - 1 for course in each)),
        int(median(reached)) if reached else None,
        f"{len(reached)} of {len(each)}",
        median(course.distance[-1] for course in each),
        median(course.connectivity[-1] for course in each),
        1e3 * median(course.seconds for course in each),
    ]


def sentence(vertices: int, target: str, found: dict[tuple[str, str], list[Course]]) -> str:
    """Who reaches the critical distance, and who came nearest if nobody does."""
    reached = {way: row(each)[1] for way, each in found.items() if row(each)[1] is not None}
    critical, least = critical_distance(SIGNIFICANCE, vertices), least_distance(target_of(target), vertices)
    if reached:
        names = [
            f"{crossover} with {mutation} after {count}" for (crossover, mutation), count in reached.items()
        ]
        others = len(found) - len(reached)
        return (
            f"{vertices:,} vertices, {target}: p = {SIGNIFICANCE} is reached by {', '.join(names)} "
            f"generations (medians); {others} of {len(found)} ways do not reach it."
        )
    way, each = min(found.items(), key=lambda item: row(item[1])[3])
    done, _, _, far, _, _ = row(each)
    half = median(course.distance[(len(course.distance) - 1) // 2] for course in each)
    return (
        f"{vertices:,} vertices, {target}: nobody comes within {critical:.3f}; the nearest, {way[0]} with "
        f"{way[1]}, is {far:.3f} away after {done} generations, and was {half:.3f} after half of them (no "
        f"connected graph is nearer than {least:.3f})."
    )

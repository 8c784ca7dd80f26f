"""How many partitions are scattered in each mode, iteration by iteration, in dual mode."""

from __future__ import annotations

from collections import defaultdict

from perf.pictures.plan import DUAL, MAIN
from perf.pictures.study import COLOURS, Study, legend_below, panels, whole_numbers

TITLE = "Active partitions and their modes"
PAPER = "Described, not drawn: dense frontiers are scattered partition-centric, sparse ones source-centric."
SHOWN = ("bfs", "sssp", "cc", "nibble")
MODES = {"SC": COLOURS["gpop-sc"], "PC": COLOURS["gpop-pc"], "pull": COLOURS["other"]}


def draw(study: Study) -> list[str]:
    """One panel per app, on the RMAT graph."""
    figure, axes = panels(len(SHOWN))
    said = []
    for place, (panel, app) in enumerate(zip(axes[0], SHOWN, strict=True)):
        values = defaultdict(list)
        for row in study.values(
            dataset=MAIN, algorithm=app, implementation=DUAL, threads=study.plan.most_threads
        ):
            if row["graph"] == study.plan.main:
                values[row["property"]].append(row["value"])
        steps = range(len(values["frontier"]))
        below, told = [0.0] * len(steps), []
        for mode, colour in MODES.items():
            partitions = values[f"partitions_{mode.lower()}"]
            panel.bar(steps, partitions, bottom=below, color=colour, label=mode)
            below = [a + b for a, b in zip(below, partitions, strict=True)]
            told.append(f"{mode} {sum(partitions):.0f}")
        panel.set_title(app)
        panel.set_xlabel("iteration")
        whole_numbers(panel.xaxis)
        whole_numbers(panel.yaxis)
        if place == 0:
            panel.set_ylabel("partitions scattered")
            legend_below(figure, panel)
        said.append(f"{app}: partitions over {len(steps)} iterations: {', '.join(told)}.")
    study.save(figure, study.main_graph)
    return said

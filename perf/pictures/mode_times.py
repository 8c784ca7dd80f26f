"""Fig. 7: time of every iteration of BFS, components and SSSP, source-centric, partition-centric and dual."""

from __future__ import annotations

from perf.pictures.plan import MAIN
from perf.pictures.study import COLOURS, NAMES, Study, curve, legend_below, panels, plain_log, whole_numbers

TITLE = "Time of iterations: SC, PC and dual (Fig. 7)"
PAPER = (
    "PC takes about the same time in almost every iteration, SC varies with the frontier, and the "
    "dual mode is at most the better of both in almost all of them. (The paper interleaves SSSP and "
    "components; here no run is interleaved, so that iteration i is the same work in all modes, and "
    "components go by messages.)"
)
SHOWN = ("bfs", "cc", "sssp")
SLACK = 1.1


def draw(study: Study) -> list[str]:
    """One panel per app, on the RMAT graph."""
    figure, axes = panels(len(SHOWN), width=3.6, height=3.2)
    said = []
    for place, (panel, app) in enumerate(zip(axes[0], SHOWN, strict=True)):
        times = {}
        for implementation, name in NAMES.items():
            rows = study.steps(
                dataset=MAIN, algorithm=app, implementation=implementation, threads=study.plan.most_threads
            )
            rows = [row for row in rows if row["graph"] == study.plan.main]
            times[name] = [row["medianTime"] for row in rows]
            curve(panel, range(len(rows)), rows, label=name, color=COLOURS[implementation])
        panel.set_yscale("log")
        panel.set_title(app)
        panel.set_xlabel("iteration")
        whole_numbers(panel.xaxis)
        plain_log(panel.yaxis)
        if place == 0:
            panel.set_ylabel("time, ms (median)")
            legend_below(figure, panel)
        if all(times.values()):
            said.append(_sentence(app, times))
    study.save(figure, study.main_graph)
    return said


def _sentence(app: str, times: dict[str, list[float]]) -> str:
    """What the panel shows; iterations compare one by one where every mode takes as many of them."""
    sc, pc, dual = (sum(times[name]) for name in ("SC", "PC", "dual"))
    totals = f"over all iterations SC takes {sc / dual:.2f}x and PC {pc / dual:.2f}x the time of dual."
    if len({len(seconds) for seconds in times.values()}) > 1:
        counts = ", ".join(f"{name} {len(seconds)}" for name, seconds in times.items())
        return f"{app}: the modes differ in their iterations ({counts}); {totals}"
    each = list(zip(times["dual"], times["SC"], times["PC"], strict=True))
    kept_up = sum(dual <= SLACK * min(sc, pc) for dual, sc, pc in each)
    return (
        f"{app}: dual is within {SLACK} times the better of SC and PC in {kept_up} of {len(each)} "
        f"iterations; {totals}"
    )

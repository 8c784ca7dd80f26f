"""Fig. 3: time of gpop as it comes against the number of threads, a curve per RMAT graph, a panel per app."""

from __future__ import annotations

import statistics

from perf.pictures.plan import DEFAULT, SCALING
from perf.pictures.study import APPS, Study, called, curve, legend_below, panels, plain_log

TITLE = "Strong scaling (Fig. 3)"
PAPER = (
    "1 to 36 threads on RMAT graphs of 2^22 to 2^27 vertices: PageRank and connected components stop scaling "
    "after about 16 threads, when the memory's bandwidth is used up; BFS, SSSP and Nibble go on; "
    "larger graphs scale better."
)


def draw(study: Study) -> list[str]:
    """One panel per app."""
    figure, axes = panels(len(APPS))
    said = []
    teams = study.plan.threads
    for place, (panel, app) in enumerate(zip(axes[0], APPS, strict=True)):
        rows = study.totals(dataset=SCALING, algorithm=app, implementation=DEFAULT)
        graphs = sorted({row["graph"] for row in rows})
        speed_ups = {}
        for graph in graphs:
            times = {row["threads"]: row for row in rows if row["graph"] == graph}
            known = [threads for threads in teams if threads in times]
            curve(panel, known, [times[threads] for threads in known], label=called(graph))
            if teams[0] in times and teams[-1] in times:
                ends = (times[team]["medianTime"] for team in (teams[0], teams[-1]))
                speed_ups[graph] = next(ends) / next(ends)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(app)
        panel.set_xlabel("threads")
        panel.set_xticks(teams, [str(threads) for threads in teams])
        panel.xaxis.minorticks_off()
        plain_log(panel.yaxis)
        if place == 0:
            panel.set_ylabel("time, ms (median)")
            legend_below(figure, panel)
        if speed_ups:
            middle = statistics.geometric_mean(speed_ups.values())
            said.append(
                f"{app}: {teams[-1]} threads are {middle:.2f}x as fast as {teams[0]} over all graphs "
                f"(geometric mean), {speed_ups[graphs[-1]]:.2f}x on the largest."
            )
    study.save(figure)
    return said

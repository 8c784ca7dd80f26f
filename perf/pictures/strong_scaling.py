"""Fig. 3: time of the dual mode against the number of threads, a curve per RMAT graph, a panel per app."""

from __future__ import annotations

import statistics

from perf.pictures.plan import DUAL, SCALING
from perf.pictures.study import APPS, Study, called, legend_below, ms, panels, plain_log

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
        rows = study.totals(dataset=SCALING, algorithm=app, implementation=DUAL)
        graphs = sorted({row["graph"] for row in rows})
        speed_ups = {}
        for graph in graphs:
            times = {row["threads"]: row["medianTime"] for row in rows if row["graph"] == graph}
            known = [threads for threads in teams if threads in times]
            panel.loglog(known, [ms(times[threads]) for threads in known], marker="o", label=called(graph))
            if teams[0] in times and teams[-1] in times:
                speed_ups[graph] = times[teams[0]] / times[teams[-1]]
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

"""Fig. 4: time of the dual mode when the graph doubles with the number of threads."""

from __future__ import annotations

from perf.pictures.plan import DUAL, SCALING
from perf.pictures.study import APPS, Study, ms, panels, plain_log, power

TITLE = "Weak scaling (Fig. 4)"
PAPER = (
    "From 1 thread on 2^22 vertices to 32 threads on 2^27: time grows by less than about 4x for a graph 32 "
    "times as large; PageRank and connected components jump at the last doubling."
)


def draw(study: Study) -> list[str]:
    """One curve per app."""
    figure, ((panel,),) = panels(1, width=5.5, height=3.6)
    doublings = study.plan.most_threads.bit_length() - 1
    first = study.plan.scale - doublings
    said = []
    for app in APPS:
        rows = study.totals(dataset=SCALING, algorithm=app, implementation=DUAL)
        times = {(row["graph"], row["threads"]): row["medianTime"] for row in rows}
        wanted = [(f"rmat-scale{first + step}", 1 << step) for step in range(doublings + 1)]
        known = [key for key in wanted if key in times]
        panel.loglog([threads for _, threads in known], [ms(times[key]) for key in known], "o-", label=app)
        if len(known) == len(wanted) > 1:
            growth = times[wanted[-1]] / times[wanted[0]]
            said.append(f"{app}: {growth:.2f}x the time for a graph {1 << doublings} times as large.")
    ticks = [1 << step for step in range(doublings + 1)]
    panel.set_xticks(ticks, [f"{tick}\n{power(first + step)}" for step, tick in enumerate(ticks)])
    panel.xaxis.minorticks_off()
    plain_log(panel.yaxis)
    panel.set_xlabel("threads, and vertices of the RMAT graph")
    panel.set_ylabel("time, ms (median)")
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    study.save(figure)
    return said

"""Fig. 4: time of gpop as it comes when the graph doubles with the number of threads."""

from __future__ import annotations

from perf.graphs import name_of
from perf.pictures.plan import DEFAULT, weak_dataset
from perf.pictures.study import APPS, Study, curve, panels, plain_log, power

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
        found = {}
        for threads, spec in study.plan.weak.items():
            where = {"algorithm": app, "implementation": DEFAULT, "threads": threads, "graph": name_of(spec)}
            for row in study.totals(dataset=weak_dataset(threads), **where):
                found[threads] = row
        curve(panel, list(found), list(found.values()), label=app)
        if len(found) == len(study.plan.weak) > 1:
            rows = list(found.values())
            growth = rows[-1]["medianTime"] / rows[0]["medianTime"]
            said.append(f"{app}: {growth:.2f}x the time for a graph {1 << doublings} times as large.")
    ticks = [1 << step for step in range(doublings + 1)]
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(ticks, [f"{tick}\n{power(first + step)}" for step, tick in enumerate(ticks)])
    panel.xaxis.minorticks_off()
    plain_log(panel.yaxis)
    panel.set_xlabel("threads, and vertices of the RMAT graph")
    panel.set_ylabel("time, ms (median)")
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    study.save(figure)
    return said

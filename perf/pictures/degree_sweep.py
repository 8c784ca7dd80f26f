"""Fig. 5: time of gpop as it comes against the average degree, the number of vertices staying the same."""

from __future__ import annotations

import re

from perf.pictures.plan import DEFAULT, DEGREES
from perf.pictures.study import APPS, Study, curve, panels, plain_log, power

TITLE = "Time against degree (Fig. 5)"
PAPER = (
    "RMAT with 2^26 vertices, degree 1 to 32: BFS, SSSP and connected components grow more slowly "
    "than the edges (more of the work is partition-centric), PageRank almost with them, Nibble hardly at all."
)


def draw(study: Study) -> list[str]:
    """One curve per app."""
    figure, ((panel,),) = panels(1, width=5.5, height=3.6)
    said, ticks = [], set()
    for app in APPS:
        rows = study.totals(dataset=DEGREES, algorithm=app, implementation=DEFAULT)
        times = {int(re.search(r"degree(\d+)", row["graph"])[1]): row for row in rows}
        degrees = sorted(times)
        ticks |= times.keys()
        curve(panel, degrees, [times[degree] for degree in degrees], label=app)
        if len(degrees) > 1:
            growth = times[degrees[-1]]["medianTime"] / times[degrees[0]]["medianTime"]
            more = degrees[-1] / degrees[0]
            said.append(f"{app}: {growth:.1f}x the time for {more:.0f}x the edges.")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(sorted(ticks), [str(degree) for degree in sorted(ticks)])
    panel.xaxis.minorticks_off()
    plain_log(panel.yaxis)
    panel.set_xlabel(f"average degree (rmat, {power(study.plan.scale - 1)} vertices)")
    panel.set_ylabel("time, ms (median)")
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    study.save(figure)
    return said

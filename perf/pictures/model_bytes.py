"""Bytes that the model predicts for an iteration against the time it took, in every mode."""

from __future__ import annotations

import statistics

from perf.machine import best_bandwidth
from perf.pictures.plan import MAIN
from perf.pictures.study import APPS, COLOURS, NAMES, Study, ms, panels, plain_log

TITLE = "Bytes of the model against measured time"
PAPER = (
    "The choice of a mode rests on equation 1: time is bytes over bandwidth, and partition-centric "
    "scatter has twice the bandwidth of source-centric."
)


def draw(study: Study) -> list[str]:
    """A dot per iteration of any app on any graph, and the line of the best bandwidth."""
    figure, ((panel,),) = panels(1, width=6, height=4.2)
    threads = study.plan.most_threads
    said, rates, most = [], {}, 1.0
    for implementation, name in NAMES.items():
        dots = []
        for app in APPS:
            where = {"dataset": MAIN, "algorithm": app, "implementation": implementation, "threads": threads}
            seconds = {(row["runId"], row["step"]): row["medianTime"] for row in study.steps(**where)}
            for row in study.values(**where, property="bytes"):
                if row["value"] > 0:
                    dots.append((row["value"], seconds[row["runId"], row["step"]]))
        if not dots:
            continue
        panel.loglog(
            [nbytes / 1e6 for nbytes, _ in dots], [ms(s) for _, s in dots], ".", label=name,
            color=COLOURS[implementation], alpha=0.7,
        )  # fmt: skip
        # Small iterations measure the meeting of the threads, not memory.
        heavy = sorted(dots)[-max(len(dots) // 4, 1) :]
        rates[name] = statistics.median(nbytes / s for nbytes, s in heavy)
        most = max(most, max(nbytes for nbytes, _ in dots))
        said.append(f"{name}: {rates[name] / 1e9:.1f} GB/s (median of the quarter with the most bytes).")
    best = study.measured("bandwidth", {"threads": threads, "bytes": most},
                          lambda: best_bandwidth(threads, int(most)))  # fmt: skip
    ends = [most / 1e3, most]
    panel.loglog([x / 1e6 for x in ends], [ms(x / best) for x in ends], "k--", label=f"{best / 1e9:.0f} GB/s")
    panel.set_xlabel("bytes of the model, MB")
    panel.set_ylabel("time of the iteration, ms (median)")
    plain_log(panel.xaxis)
    plain_log(panel.yaxis)
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    study.save(figure, "all graphs of the tables")
    if {"SC", "PC"} <= rates.keys():
        said.append(
            f"PC moves its bytes {rates['PC'] / rates['SC']:.2f} times as fast as SC; the model takes 2."
        )
    return [*said, f"The best bandwidth measured over so many bytes is {best / 1e9:.1f} GB/s."]

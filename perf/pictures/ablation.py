"""Fig. 6: what the dual mode and interleaving bring, and gpop as it comes, with 95 % intervals."""

from __future__ import annotations

import math

from scipy.stats import t

from perf.pictures.plan import DEFAULT, MAIN
from perf.pictures.study import APPS, COLOURS, Study, panels
from perf.store import Row
from perf.uncertainty import rse_of_mean, rse_of_ratio

TITLE = "Ablation: SC, dual, dual and interleaved, as it comes (Fig. 6)"
PAPER = (
    "Time relative to source-centric only: dual mode is at most that, and interleaving lowers it "
    "further; Nibble stays the same. (Here the dual mode may also pull, and interleaving exists for "
    "SSSP and components only. As it comes gpop finds components without messages.)"
)
SHOWN = {
    "gpop-sc": "SC", "gpop-auto": "dual", "gpop-auto-interleaved": "dual, interleaved", DEFAULT: "as it comes"
}  # fmt: skip


def relative(row: Row, base: Row) -> tuple[float, float]:
    """Ratio of two mean times, and half the width of its 95 % confidence interval."""
    ratio = row["avgTime"] / base["avgTime"]
    if row["runId"] == base["runId"] or row["repeats"] < 2:
        return ratio, 0.0
    rse = rse_of_ratio(*(rse_of_mean(x["avgTime"], x["stdDev"], x["repeats"]) for x in (row, base)))
    return ratio, float(t.ppf(0.975, row["repeats"] - 1)) * ratio * rse


def draw(study: Study) -> list[str]:
    """Bars of every app, on the RMAT graph."""
    figure, ((panel,),) = panels(1, width=7, height=3.6)
    colours = (COLOURS["gpop-sc"], COLOURS["gpop-auto"], "#8da0cb", "#222222")
    said, repeats = [], study.plan.repeats
    found = {}
    for app in APPS:
        rows = study.totals(dataset=MAIN, algorithm=app, threads=study.plan.most_threads)
        found[app] = {row["implementation"]: row for row in rows if row["graph"] == study.plan.main}
        base = found[app].get("gpop-sc")
        if base is not None:
            repeats = base["repeats"]
            others = [name for name in SHOWN if name != "gpop-sc" and name in found[app]]
            texts = [f"{SHOWN[name]} {_text(*relative(found[app][name], base))}" for name in others]
            said.append(f"{app}, times the time of SC: {'; '.join(texts)}.")
    for offset, (name, colour) in enumerate(zip(SHOWN, colours, strict=True)):
        places = [i for i, app in enumerate(APPS) if {name, "gpop-sc"} <= found[app].keys()]
        bars = [relative(found[APPS[i]][name], found[APPS[i]]["gpop-sc"]) for i in places]
        panel.bar(
            [i + 0.2 * (offset - 1.5) for i in places], [ratio for ratio, _ in bars], 0.19,
            yerr=[half for _, half in bars], capsize=3, color=colour, label=SHOWN[name],
        )  # fmt: skip
    panel.set_ylim(bottom=0)  # an interval may reach below, a time not
    panel.axhline(1, color="black", linewidth=0.6)
    panel.set_xticks(range(len(APPS)), APPS)
    panel.set_ylabel("time relative to SC (mean, 95 %)")
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    study.save(figure, study.main_graph)
    return [*said, f"Intervals are of {repeats} runs each, by Student's t."]


def _text(ratio: float, half: float) -> str:
    """
    >>> _text(0.5, 0.0123)
    '0.500 ± 0.012'
    """
    return f"{ratio:.3f} ± {half:.3f}" if math.isfinite(half) else f"{ratio:.3f}"

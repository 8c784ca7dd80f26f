"""Every strategy over all variants: tables 4.4 to 4.6 and 7.2 of M. Verstraaten's thesis."""

from __future__ import annotations

from gpop.learn.evaluate import BEST_FIXED, ORACLE, evaluate
from perf.pictures.log_sheet import LogSheet

TITLE = "Times over those of the optimum (tables 4.6 and 7.2)"
PAPER = (
    "BFS on a TitanX: the best implementation of each graph takes 3.17 times the time of one that switches "
    "in every level (3.51 on KONECT), the best single one 6.88 (7.54), and the tree's choices 2.21."
)


def draw(sheet: LogSheet) -> list[str]:
    """A row for each, the best total first."""
    lines = evaluate(sheet.steps, sheet.trees)
    header = ["", "total", "mean", "within 2", "above 5", "above 20", "worst"]
    rows = [
        [name, f"{total:.2f}", f"{mean:.2f}", *(f"{share:.0%}" for share in shares), f"{worst:.2f}"]
        for name, total, mean, *shares, worst in lines
    ]
    sheet.save_table(header, rows)
    totals = {line.name: line.total for line in lines}
    best = min(sheet.strategies, key=totals.__getitem__)
    said = [
        f"Without switching, the best strategy of each variant takes {totals[BEST_FIXED]:.2f} times the "
        f"{ORACLE}'s time, and {best}, the best over all, {totals[best]:.2f}."
    ]
    for name in sheet.switching:
        gain = totals[BEST_FIXED] / totals[name]
        said.append(
            f"{name} takes {totals[name]:.2f}: the {BEST_FIXED} strategies take {gain:.2f} times its time."
        )
    return said

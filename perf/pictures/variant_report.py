"""Which variants are worth looking at, and why (M. Verstraaten's thesis, section 3.3.4)."""

from __future__ import annotations

from collections import Counter

from perf.pictures.log_sheet import LogSheet

TITLE = "Variants worth a look"
PAPER = (
    "A report names the variants in which an implementation is best and worst, and those whose times differ "
    "least and most, as candidates for plots."
)


def draw(sheet: LogSheet) -> list[str]:
    """A row for each reason."""
    rows = [[reason.why, sheet.name_of(reason.variant), reason.value] for reason in sheet.reasons]
    sheet.save_table(["reason", "variant", "value"], rows)
    counts = Counter(reason.variant for reason in sheet.reasons)
    named = ", ".join(f"{sheet.name_of(variant)} ({counts[variant]})" for variant in sheet.chosen)
    how_many = f"{len(counts)} of {len(sheet.steps.variants)} variants are named"
    return [f"{how_many}, most often (in brackets how often) {named}."]

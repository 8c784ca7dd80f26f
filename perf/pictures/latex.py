"""Tables as LaTeX: a ``tabular`` that needs no package."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SIGNS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
          "<": r"\textless{}", ">": r"\textgreater{}"}  # fmt: skip


def latex_text(text: str) -> str:
    """A text as LaTeX prints it.

    >>> latex_text("a_b 50%")
    'a\\\\_b 50\\\\%'
    """
    return re.sub(r"[\\~^<>_%&#${}]", lambda found: _SIGNS.get(found[0], "\\" + found[0]), text)


def tabular(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column to the left, the others to the right.

    >>> print(tabular(["way", "ms"], [["sc", "1.5"]]))
    \\begin{tabular}{lr}
    \\hline
    way & ms \\\\
    \\hline
    sc & 1.5 \\\\
    \\hline
    \\end{tabular}
    """
    lines = [" & ".join(map(latex_text, line)) + r" \\" for line in (header, *rows)]
    columns = "l" + "r" * (len(header) - 1)
    parts = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:]]
    return "\n".join([*parts, r"\hline", r"\end{tabular}"])

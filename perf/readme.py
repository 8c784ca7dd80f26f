"""``python -m perf readme``: write the tables of README and guide from what they are about.

Tables of speed: a block of the README between ``<!-- NAME -->`` and ``<!-- /NAME -->`` is made from
perf/results/NAME.txt, which the command in its head wrote; a block without a result is empty. The table of
strategies in docs/guide/modes.md is made from their records. Nothing is typed by hand, and a test compares
blocks and files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.common.replacing import replacing
from gpop.model.strategies import MODES, STRATEGIES
from perf.parser import documented
from perf.provenance import ROOT, read

README, MODES_PAGE, RESULTS = ROOT / "README.md", ROOT / "docs/guide/modes.md", ROOT / "perf" / "results"
APPS = {"pagerank": "PageRank", "bfs": "BFS", "sssp": "SSSP", "cc": "components", "nibble": "Nibble"}
CONTENDERS = {
    "gpop auto": "gpop", "edge": "edge-parallel kernel", "vertex": "vertex-parallel kernel",
    "spmv": "cuSPARSE SpMV",
}  # fmt: skip
"""Those of ``perf gpu`` that the README names."""


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _above(head: dict[str, str], name: str, more: str) -> str:
    """What was run, where and when, and where its output is."""
    where = head.get("device", head["machine"]).partition(", L2")[0]
    return f"`{head['command']}` on {where}, {head['date'][:10]} ({more}; [output](perf/results/{name}.txt)):"


def _graph(text: str) -> str:
    return re.search(r"Graph\((.*?)\)", text)[1]


def scaling(head: dict[str, str], printed: str) -> list[str]:
    """Milliseconds by threads and app."""
    found = re.findall(r"^(\w+) +(\d+) +([\d.]+) +[\d.]+x +\d+  (?:True|False)$", printed, re.MULTILINE)
    times = {
        (app, int(threads)): f"{float(ms):.{0 if float(ms) >= 100 else 1}f}" for app, threads, ms in found
    }
    teams = sorted({threads for _, threads in times})
    rows = [[str(threads), *(times[app, threads] for app in APPS)] for threads in teams]
    more = f"{_graph(printed)}; milliseconds, median; PageRank and Nibble: 10 iterations"
    return [_above(head, "scaling", more), "", *_table(["threads", *APPS.values()], rows)]


def machine(head: dict[str, str], printed: str) -> list[str]:
    """Share of the limit by graph and threads."""
    graphs = {}
    for graph, block in re.findall(r"a PageRank iteration on (.*)\n.*\n((?: +\d.*\n?)+)", printed):
        graphs[_graph(graph)] = {line.split()[0]: line.split()[-1] for line in block.splitlines()}
    teams = list(next(iter(graphs.values())))
    rows = [[graph, *(shares[threads] for threads in teams)] for graph, shares in graphs.items()]
    heads = [f"{threads} thread{'s' * (threads != '1')}" for threads in teams]
    return [
        "How near that is to what memory allows: the share of the best bandwidth over as many bytes "
        "at which an iteration of PageRank moves the bytes of the model.",
        _above(head, "machine", "median of 5"),
        "",
        *_table(["graph", *heads], rows),
    ]


def gap(head: dict[str, str], printed: str) -> list[str]:
    """Milliseconds by graph and kernel, beside the reference implementations."""
    times: dict[str, dict[str, dict[str, str]]] = {}
    pattern = r"^(\S+) +(\w+) +\d+ +([\d.]+) +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+"
    for graph, kernel, *both in re.findall(pattern, printed, re.MULTILINE):
        for name, ms in zip(("gpop", "GAPBS"), map(float, both), strict=True):
            text = f"{ms:.{0 if ms >= 100 else 1 if ms >= 10 else 2}f}"
            times.setdefault(graph, {}).setdefault(name, {})[kernel] = text
    kernels = list(dict.fromkeys(kernel for sides in times.values() for kernel in sides["gpop"]))
    rows = [
        [graph, name, *(found.get(kernel, "") for kernel in kernels)]
        for graph, sides in times.items()
        for name, found in sides.items()
    ]
    more = f"{printed.split(maxsplit=1)[0]} threads; milliseconds, median of the trials"
    return [
        "The kernels of the GAP benchmark, a call of gpop against what its implementations in C++ print:",
        _above(head, "gap", more),
        "",
        *_table(["graph", "", *kernels], rows),
    ]


def gpu(head: dict[str, str], printed: str) -> list[str]:
    """Milliseconds of gpop and of the best of the others by graph and app: also where gpop loses."""
    rows, apps = [], [app for app in APPS if app in ("pagerank", "bfs", "sssp")]
    for block in printed.split("\n\n"):
        title = re.match(r"(\S+): ([\d,]+) vertices, ([\d,]+) edges", block)
        if title is None:
            continue
        times: dict[str, dict[str, float]] = {app: {} for app in apps}
        for line in block.splitlines()[2:]:
            app, name, ms = re.match(r"(\w+) +(gpop \w+|\S+) +([\d.]+) ", line).groups()
            if app in times and name in CONTENDERS:
                times[app][CONTENDERS[name]] = float(ms)
        cells = [_beside(times[app]) for app in apps]
        rows.append([f"{title[1]}, {int(title[3].replace(',', '')) / 1e6:.3g} M edges", *cells])
    more = "milliseconds, median; PageRank: one iteration; gpop, then the best of the others"
    return [_above(head, "gpu", more), "", *_table(["graph", *(APPS[app] for app in apps)], rows)]


def _beside(times: dict[str, float]) -> str:
    """The time of gpop beside the best of the others, the better one in bold; empty if one is missing.

    Examples
    --------
    >>> _beside({"gpop": 0.5, "SpMV": 0.995, "edge-parallel": 1.25}), _beside({"gpop": 2.0, "SpMV": 1.0})
    ('**0.500**, SpMV 0.995', '2.000, **SpMV 1.000**')
    """
    others = {name: ms for name, ms in times.items() if name != "gpop"}
    if "gpop" not in times or not others:
        return ""
    best = min(others, key=others.__getitem__)
    both = f"{times['gpop']:.3f}", f"{best} {others[best]:.3f}"
    won = times["gpop"] <= others[best]
    return f"**{both[0]}**, {both[1]}" if won else f"{both[0]}, **{both[1]}**"


BLOCKS: dict[str, Callable[[dict[str, str], str], list[str]]] = {
    "scaling": scaling,
    "gap": gap,
    "machine": machine,
    "gpu": gpu,
}


def strategies() -> str:
    """One row for each record."""
    rows = [
        [f"`{MODES[each.mode].name}`", each.target, each.name, each.about, ", ".join(each.layouts)]
        for each in STRATEGIES
    ]
    return "\n".join(_table(["mode", "target", "strategy", "what it does", "reads"], rows)) + "\n"


def block(name: str, results: Path = RESULTS) -> str:
    """The text of a block, with a line break at its end; empty where there is no result."""
    if name == "strategies":
        return strategies()
    path = results / f"{name}.txt"
    if not path.exists():
        return ""
    return "\n".join(BLOCKS[name](*read(path.read_text()))) + "\n"


PAGES = {README: tuple(BLOCKS), MODES_PAGE: ("strategies",)}
"""Page -> the blocks in it."""


def filled(page: Path, text: str, results: Path = RESULTS) -> str:
    """The text of a page with every block as the results have it."""
    for name in PAGES[page]:
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if begin not in text or end not in text:
            raise UsageError(f"{page.name}: expected the marks {begin.strip()} and {end}")
        before, _, rest = text.partition(begin)
        text = before + begin + block(name, results) + end + rest.partition(end)[2]
    return text


def main(argv: list[str]) -> int:
    """Rewrite the pages."""

    def work() -> None:
        documented("readme", __doc__).parse_args(argv)
        for page in PAGES:
            with replacing(page) as temporary:
                temporary.write_text(filled(page, page.read_text()))

    return exit_code(work)

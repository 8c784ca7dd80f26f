"""The page about a run: whole, alone, and with the numbers of the trace."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import gpop
from gpop.common import charts
from gpop.generate import generate
from gpop.model import strategies

VOID = {"meta", "br", "link", "img", "input"}


class Page(HTMLParser):
    """Tags that are open, and what the page would load or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "link", "img", "iframe", "object"):
            self.outside.append(tag)
        self.outside += [f"{name}={value}" for name, value in attributes if name in ("src", "href")]
        self.outside += [name for name, _ in attributes if name.startswith("on")]

    def handle_startendtag(self, tag, attributes):
        """Closed as it is opened."""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def found():
    graph = generate("rmat", scale=8, degree=6, seed=3, symmetrize=True)
    graph.name = "<rmat> & co"
    return gpop.bfs(graph, int(np.argmax(graph.out_degree)), partition_size=16)


def pictures(page):
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page.html, re.DOTALL)]


def titled(picture, word):
    """Numbers that the bars of a chart tell, for one of its series."""
    told = [each.text for each in picture.iter() if each.tag.endswith("title")]
    return [
        float(re.search(rf"{word} ([\d,.e+-]+)", text)[1].replace(",", "")) for text in told if word in text
    ]


def test_the_page_is_whole_and_loads_nothing(found):
    page = gpop.report(found)
    parsed = Page(page.html)
    assert parsed.open == [] and parsed.outside == []
    assert (
        page.html.startswith("<!DOCTYPE html>")
        and "<title>gpop: BFSResult of &lt;rmat&gt; &amp; co</title>" in page.html
    )
    assert "http" not in page.html.replace("http://www.w3.org/2000/svg", "")


def test_charts_tell_what_the_trace_does(found):
    trace = found.trace
    active, modes, moved, seconds, _ = pictures(gpop.report(found))
    circles = [each for each in active.iter() if each.tag.endswith("circle")]
    assert len(circles) == 2 * len(trace)
    for mode in strategies.MODES:
        assert sum(titled(modes, mode.name)) == trace.column(mode.column).sum()
    assert sum(titled(moved, "bytes")) == pytest.approx(trace.column("bytes").sum() / 1e6, rel=1e-4)
    assert sum(titled(seconds, "scatter")) == pytest.approx(
        1e3 * trace.column("scatter_seconds").sum(), rel=1e-4
    )


def test_a_file(found, tmp_path):
    path = tmp_path / "run.html"
    assert gpop.report(found, path).html == path.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(gpop.UsageError, match=r"run\.txt: expected a name ending in \.html"):
        gpop.report(found, tmp_path / "run.txt")
    with pytest.raises(gpop.UsageError, match="expected what gpop.run or an app has returned"):
        gpop.report(3)
    assert 'srcdoc="&lt;!DOCTYPE' in gpop.report(found)._repr_html_()


def test_runs_and_phases(found):
    assert len(pictures(gpop.report(found.run))) == 4
    page = gpop.report(gpop.triangle_count(gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])))
    assert "<h2>Phases</h2>" in page.html and pictures(page) == [] and "count 1" in page.html
    assert "reordered" in gpop.report(gpop.bfs(found.graph, 0, partition_size=16, reorder="degree")).html


@pytest.mark.parametrize("count", [0, 1, charts.COLUMNS, charts.COLUMNS + 1, 1001])
def test_many_iterations_share_places(count):
    values = np.arange(count)
    sums, each = charts.grouped(values)
    assert len(sums) <= charts.COLUMNS and sums.sum() == values.sum()
    assert len(sums) == -(-count // each)
    picture = ElementTree.fromstring(charts.stacked_bars("t", {"a": values, "b": values * 0}))
    assert sum(titled(picture, "a")) == pytest.approx(values.sum())
    ElementTree.fromstring(charts.lines("t", {"a": values}))

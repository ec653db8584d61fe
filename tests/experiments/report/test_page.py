"""The page in a real browser: readable in light and dark, wide and narrow, and asking for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from likewise_experiments.charts.line_charts import Panel, line_charts
from likewise_experiments.report.drawn import drawn, drawn_beside
from likewise_experiments.report.page import page
from likewise_experiments.report.sections import Block, Section, Table, Text
from likewise_experiments.thematic.heat_maps import heat_map_figure
from likewise_experiments.thematic.report import Cell
from tests.dashboard.conftest import NEEDS_CHROMIUM, browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser"]

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def written(tmp_path: Path) -> str:
    """The address of a page with a wide table, a long command and figures."""
    cells = [Cell(e, s, 0.6 + 0.01 * s - 0.005 * e, 0.01 * e, 5) for e in range(1, 8) for s in range(1, 8)]
    panel = Panel("F1", "m", "F1", {"hybrid": ([1, 2, 3], [0.5, 0.6, 0.7])})
    blocks: tuple[Block, ...] = (
        Text("One `code` word."),
        Table("wide", tuple(f"a column with a name {n}" for n in range(12)), (tuple("0.123" for _ in range(12)),)),
        drawn("chart", "lines", lambda: line_charts([panel])),
        drawn_beside("maps", {"f1": "map"}, lambda: {"f1": heat_map_figure(cells, "F1", baseline=0.62, percent=True)}),
    )
    section = Section("one", "One part", blocks, "likewise eval all --data " + "folder/" * 60)
    path = tmp_path / "report.html"
    text = page([section], command="likewise eval all", when="now", versions={"likewise": "1"}, machine={"cores": "2"})
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_the_page_fits_and_text_stands_out(browser: Browser, written: str, scheme: str, width: int) -> None:
    """Nothing sticks out sideways, text and the figures' text contrast with the page, nothing is fetched."""
    context = browser.new_context(
        color_scheme=scheme,  # type: ignore[arg-type]
        viewport={"width": width, "height": 800},
    )
    shown = context.new_page()
    asked: list[str] = []
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(written)
    assert asked == [written]
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    light = "c => { const [r, g, b] = c.match(/\\d+/g).map(Number); return 0.3 * r + 0.6 * g + 0.1 * b }"
    paper, ink, label = (
        shown.evaluate(f"({light})(getComputedStyle(document.querySelector('{where}')).{what})")
        for where, what in (("body", "backgroundColor"), ("p", "color"), ("figure svg text", "fill"))
    )
    assert (paper > 128) == (scheme == "light")
    assert abs(paper - ink) > 120
    assert abs(paper - label) > 120
    context.close()

"""Charts: events and matches of an hour or a day, and one reading over time with what was said about it."""

from __future__ import annotations

import time
from html import escape
from typing import Any, Final

from nicegui import ui
from nicegui.events import EChartPointClickEventArguments

from likewise.api.history import EventCounts, SeriesMark, TimeSeries
from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.labels import sentence
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import attribute_text, html, panel, title
from likewise.errors import LikewiseError

SOFT: Final = "#8793a0"  # of axes: seen on light and on dark
BLUE: Final = "#3f88d8"
GREEN: Final = "#2fa56b"
RED: Final = "#d4574a"
TOGGLE: Final = "dense no-caps unelevated padding='2px 12px' toggle-color=primary"
SPANS: Final = {"hour": (60, 1), "day": (1_440, 15)}  # minutes, and minutes counted together
LENGTHS: Final = {"hour": "an hour", "day": "a day"}
CAUSE_LABELS: Final = {
    "arrival": "met",
    "initial": "met",
    "promoted": "moved up",
    "held": "has held",
    "cleared": "is over",
    "absent": "is silent",
    "returned": "is back",
    "digest": "was gathered",
    "replayed": "tried again",
}


class TrafficChart:
    """Events and matches by the minute of an hour, or by the quarter of an hour of a day."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._shown: EventCounts | None = None
        with ui.column().classes("lw-panel"):
            with ui.row().classes("items-center w-full no-wrap"):
                title("Events and matches")
                ui.space()
                self._span = ui.toggle(LENGTHS, value="hour", on_change=self._turn).props(TOGGLE)
            self._chart = ui.echart(traffic_options()).classes("w-full lw-chart").props("role=img")
            self._told = ui.label("").classes("lw-soft").mark("traffic")

    async def _turn(self) -> None:
        self._shown = None
        await self.show()

    async def show(self) -> None:
        """Bring it up to date."""
        minutes, span = SPANS[str(self._span.value)]
        try:
            counts = await self._viewing.api.tallies(minutes, span)
        except LikewiseError as error:
            self._told.set_text(sentence(str(error)))
            return
        if self._shown is not None and counts.minutes == self._shown.minutes:
            return
        self._shown = counts
        options = self._chart.options
        counted = [each for each in counts.minutes if counts.since is not None and each.at + counts.span > counts.since]
        options["series"][0]["data"] = [[each.at // 1000, each.events] for each in counted]
        options["series"][1]["data"] = [[each.at // 1000, each.matches] for each in counted]
        options["xAxis"] |= {"min": counts.minutes[0].at // 1000, "max": (counts.minutes[-1].at + counts.span) // 1000}
        self._chart.update()
        summary = traffic_text(counts)
        self._told.set_text(summary)
        self._chart.props(f"aria-label='{attribute_text(summary)}'")


def traffic_text(counts: EventCounts) -> str:
    """Describe a chart of traffic in a sentence.

    >>> from likewise.api.history import MinuteCount
    >>> traffic_text(EventCounts(None, 0, 60_000_000, (MinuteCount(0, 5, 1),), ()))
    '5 events and 1 match.'
    """
    events, matches = sum(m.events for m in counts.minutes), sum(m.matches for m in counts.minutes)
    summary = f"{events:,} event{'' if events == 1 else 's'} and {matches:,} match{'' if matches == 1 else 'es'}"
    began = counts.since is not None and counts.minutes and counts.since > counts.minutes[0].at + counts.span
    return f"{summary}, counted since {clock(counts.since or 0)[:5]}." if began else f"{summary}."


def traffic_options() -> dict[str, Any]:
    """Return the options of the traffic chart: bars of events from 0, a line of matches."""
    frame = _chart_options()
    return {
        **frame,
        "yAxis": {**frame["yAxis"], "scale": False, "minInterval": 1},
        "legend": {"top": 0, "right": 0, "textStyle": {"color": SOFT}},
        "series": [
            {"type": "bar", "name": "events", "data": [], "color": BLUE, "barMaxWidth": 14},
            {"type": "line", "name": "matches", "data": [], "color": GREEN, "showSymbol": False},
        ],
    }


class ReadingChart:
    """One reading of one source; a mark leads to its explanation."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._shown: TimeSeries | None = None
        self._marks: list[SeriesMark] = []
        self._sources: list[str] = []
        query = dict(viewing.address.query)
        with panel("A reading over time, and what was said about it"):
            with ui.row().classes("items-end gap-2 w-full"):
                self._source = ui.input("Source", value=query.get("source", ""), on_change=self._source_changed)
                self._source.props("dense outlined debounce=400 clearable").classes("lw-grow")
                self._attribute = ui.select([], label="Reading", on_change=self._turn)
                self._attribute.props("dense outlined options-dense").classes("w-48")
                self._span = ui.toggle(LENGTHS, value="hour", on_change=self._turn).props(TOGGLE)
            self._wanted = query.get("attribute", "")
            self._chart = (
                ui.echart(series_options(), on_point_click=self._open).classes("w-full lw-chart").props("role=img")
            )
            self._chart.set_visibility(False)
            self._told = ui.label("").classes("lw-soft").mark("series")
            self._said = ui.column().classes("w-full gap-0 lw-short").props("role=list aria-label='What was said'")

    def _default_source(self) -> str:
        """Return the source to show first: the newest with a match, else the first there is."""
        feed = self._viewing.feed
        matched = (feed.by_position.get(match.position) for match in reversed(feed.matches))
        return next((each.source for each in matched if each is not None and each.source), self._sources[0])

    async def _source_changed(self) -> None:
        self._wanted = ""
        self._attribute.set_options([], value=None)
        await self.show()

    async def _turn(self) -> None:
        if self._attribute.value or not self._wanted:
            self._wanted = str(self._attribute.value or "")
        await self.show()

    async def show(self) -> None:
        """Bring it up to date."""
        api = self._viewing.api
        source = str(self._source.value or "").strip()
        try:
            if not self._sources:
                self._sources = [each.source for each in (await api.sources("", 500)).sources]
                self._source.set_autocomplete(self._sources)
            if not source and self._sources:
                self._source.set_value(self._default_source())
                return
            if not source:
                self._told.set_text("No source has sent anything yet.")
                return
            minutes = SPANS[str(self._span.value)][0]
            readings = await api.series(source, self._wanted, int((time.time() - 60 * minutes) * 1e6))
        except LikewiseError as error:
            self._told.set_text(sentence(str(error)))
            return
        if readings == self._shown:
            return
        self._shown = readings
        if readings.attributes and list(self._attribute.options) != list(readings.attributes):
            self._attribute.set_options(list(readings.attributes), value=readings.attribute or None)
        self._draw(readings)

    def _draw(self, readings: TimeSeries) -> None:
        self._chart.set_visibility(bool(readings.points))
        options, unit = self._chart.options, f" {readings.unit}" if readings.unit else ""
        points = {point.event: point for point in readings.points}
        options["series"][0]["data"] = [[point.at // 1000, point.value] for point in readings.points]
        options["series"][0]["name"] = f"{readings.attribute}{unit}"
        self._marks = list(readings.marks)
        nearest = [_mark_value(mark, readings, points) for mark in self._marks]
        options["series"][1]["data"] = [[m.at // 1000, y] for m, y in zip(self._marks, nearest, strict=True)]
        options["yAxis"]["name"] = readings.unit
        self._chart.update()
        summary = series_text(readings)
        self._told.set_text(summary)
        self._chart.props(f"aria-label='{attribute_text(summary)}'")
        self._said.clear()
        with self._said:
            for mark in self._marks[:-13:-1]:
                self._show_mark(readings.source, mark)

    def _show_mark(self, source: str, mark: SeriesMark) -> None:
        address = PageAddress(
            "history", mark.event, source, mark.subscriber, mark.subscription, query=self._viewing.address.query
        )
        with self._viewing.link(address):
            html(
                f"<div class='lw-head'><span>{clock(mark.at)}</span>"
                f"<span class='lw-name'>{escape(mark.subscription)}</span>"
                f"<span class='{'lw-bad' if mark.cause in ('held', 'absent') else 'lw-good'}'>"
                f"{escape(CAUSE_LABELS.get(mark.cause, mark.cause))}</span>"
                f"<span>for {escape(mark.subscriber)}</span></div>"
            )

    async def _open(self, e: EChartPointClickEventArguments) -> None:
        if e.series_index == 1 and self._shown is not None and e.data_index < len(self._marks):
            mark = self._marks[e.data_index]
            address = PageAddress("history", mark.event, self._shown.source, mark.subscriber, mark.subscription)
            assert self._viewing.explain is not None
            await self._viewing.explain(address, None)


def _mark_value(mark: SeriesMark, readings: TimeSeries, points: dict[str, Any]) -> float:
    """Return the value at which a mark is drawn: of its own point, or of the one before it if that is not shown."""
    if mark.event in points:
        return float(points[mark.event].value)
    before = [point for point in readings.points if point.at <= mark.at]
    return before[-1].value if before else readings.points[0].value if readings.points else 0.0


def series_text(readings: TimeSeries) -> str:
    """Describe a chart of a reading in a sentence.

    >>> from likewise.api.history import SeriesPoint
    >>> series_text(TimeSeries("roof", "no2", "ug/m3", (SeriesPoint(0, 5.0, "a"), SeriesPoint(1, 7.5, "b")), (), True))
    '2 values of no2 from 5 to 7.5 ug/m3; nothing was said about them.'
    """
    if not readings.points:
        return f"No number came from {readings.source} in this time."
    low, high = min(p.value for p in readings.points), max(p.value for p in readings.points)
    unit = f" {readings.unit}" if readings.unit else ""
    marks = f"{len(readings.marks):,} times something was said" if readings.marks else "nothing was said about them"
    summary = f"{len(readings.points):,} values of {readings.attribute} from {low:g} to {high:g}{unit}; {marks}."
    if readings.left_out:
        summary += f" {readings.left_out:,} are no numbers in this unit."
    return summary if readings.whole else f"{summary} Earlier ones were not looked at."


def series_options() -> dict[str, Any]:
    """Return the options of the reading chart: a line, and marks on it."""
    return {
        **_chart_options(),
        "tooltip": {"trigger": "item"},
        "series": [
            {"type": "line", "name": "", "data": [], "color": BLUE, "showSymbol": False, "lineStyle": {"width": 2}},
            {
                "type": "scatter",
                "name": "said",
                "data": [],
                "color": RED,
                "symbol": "pin",
                "symbolSize": 22,
                "symbolOffset": [0, "-40%"],
            },
        ],
    }


def _chart_options() -> dict[str, Any]:
    return {
        "animation": False,
        "grid": {"left": 46, "right": 14, "top": 30, "bottom": 26},
        "useUTC": False,
        "tooltip": {"trigger": "axis"},
        "xAxis": {"type": "time", "axisLabel": {"color": SOFT, "hideOverlap": True}, "splitLine": {"show": False}},
        "yAxis": {
            "type": "value",
            "scale": True,
            "axisLabel": {"color": SOFT},
            "nameTextStyle": {"color": SOFT},
            "splitLine": {"lineStyle": {"color": SOFT, "opacity": 0.18}},
        },
    }

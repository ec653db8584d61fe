"""Health: how much comes and how fast it goes, what waits, and what could not be read or delivered.

Figures from a page of metrics in Prometheus' text format.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

import msgspec
from nicegui import ui

from likewise.api.operations import ConnectionStatus, DeadLetterDetails, TenantStats
from likewise.api.subscribers import SubscriberDetails
from likewise.api.workers import PoolStatus
from likewise.dashboard.labels import POLICIES, REASONS
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import data_table, html, icon_button, list_row, panel
from likewise.errors import AccessError, LikewiseError

_LINE: Final = re.compile(r"^(\w+)(?:\{([^}]*)\})? (\S+)$")
_BOUND: Final = re.compile(r'le="([^"]+)"')


class PrometheusPage(msgspec.Struct, frozen=True):
    """The plain figures by name, and each histogram's cumulative counts by upper bound."""

    plain: dict[str, float]
    histograms: dict[str, list[tuple[float, float]]]

    def quantile(self, name: str, share: float, before: PrometheusPage | None = None) -> float | None:
        """Return the upper bound, in seconds, of a share of the observations; those since `before`, if given.

        >>> page = 'x_bucket{le="0.1"} 9\\nx_bucket{le="1.0"} 10\\nx_bucket{le="+Inf"} 10\\n'
        >>> parse_metrics(page).quantile("x", 0.5), parse_metrics(page).quantile("x", 0.99)
        (0.1, 1.0)
        """
        counts = self.histograms.get(name, [])
        if before is not None and name in before.histograms:
            counts = [(b, n - m) for (b, n), (_, m) in zip(counts, before.histograms[name], strict=True)]
        if not counts or counts[-1][1] <= 0:
            return None
        rank = share * counts[-1][1]
        return next(bound for bound, number in counts if number >= rank)


def parse_metrics(page: str) -> PrometheusPage:
    """Parse a page of metrics.

    >>> parse_metrics("# HELP a b\\na_total 3.0\\n").plain
    {'a_total': 3.0}
    """
    plain: dict[str, float] = {}
    histograms: dict[str, list[tuple[float, float]]] = {}
    for line in page.splitlines():
        sample = _LINE.match(line)
        if sample is None:
            continue
        name, labels, number = sample.groups()
        bound = _BOUND.search(labels or "")
        if bound is not None and name.endswith("_bucket"):
            histograms.setdefault(name.removesuffix("_bucket"), []).append((float(bound[1]), float(number)))
        elif not labels:
            plain[name] = float(number)
    return PrometheusPage(plain, histograms)


DEVICES = 50  # that are shown; there may be thousands
DOES = {
    "MessageReceiver": "takes events in",
    "Coordinator": "deals them out",
    "DeliveryService": "delivers",
    "Matcher": "matches",
}
RIGHT = "lw-n lw-right"
QUEUE_COLUMNS = (
    ("who", ""),
    ("wait", RIGHT),
    ("dropped", RIGHT),
    ("if too many wait", ""),
    ("reads now", ""),
    ("subscriptions", RIGHT),
)
CONNECTION_COLUMNS = (
    ("where", ""),
    ("connected", ""),
    *((head, RIGHT) for head in ("messages", "events kept", "no readings", "set aside", "lost (QoS 0)", "gaps")),
    *((head, RIGHT) for head in ("sent to it", "filters")),
)
PROCESS_COLUMNS = (
    ("process", ""),
    ("what it does", "lw-said"),
    ("alive", ""),
    ("busy", RIGHT),
    ("subscriptions", RIGHT),
    *((head, f"{RIGHT} lw-wide") for head in ("stretches", "below", "MB", "of them shared")),
)


class HealthPanel:
    """Figures for whoever runs the broker; what needs the scope `admin` says so."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._before: list[PrometheusPage] = []
        self._letters: list[DeadLetterDetails] | None = None
        self._figures = html().classes("w-full").mark("figures")
        with panel("Events and matches each second"):
            self._chart = (
                ui.echart(_chart()).classes("w-full").style("height: 190px").props("role=img aria-label='Throughput'")
            )
        with panel("Connections: brokers and devices that speak MQTT") as self._connections_panel:
            self._connections = html().classes("w-full").mark("connections")
        self._connections_panel.set_visibility(False)
        with panel("Processes: who matches what") as self._workers_panel:
            self._workers = html().classes("w-full").mark("workers")
        self._workers_panel.set_visibility(False)
        with ui.element("div").classes("lw-two"):
            with panel("Who is waited for"):
                self._queues = html().classes("w-full").mark("queues")
            with panel("Set aside: what could not be read or delivered"):
                self._dead = ui.column().classes("w-full gap-0").mark("letters")

    async def show(self) -> None:
        """Bring everything up to date."""
        history = list(self._viewing.feed.history)[-60:]
        self._chart.options["series"][0]["data"] = [moment.events for moment in history]
        self._chart.options["series"][1]["data"] = [moment.matches for moment in history]
        self._chart.options["xAxis"]["data"] = [clock(int(moment.at * 1e6)) for moment in history]
        self._chart.update()
        api = self._viewing.api
        try:
            self._show_queues(await api.subscribers())
            self._show_figures(await api.stats(), parse_metrics(await api.metrics()))
            self._show_connections(await api.connections())
            self._show_workers(await api.workers())
            rejected = await api.dead_letters()
        except AccessError as error:
            notice = f"Figures and what was set aside are for administrators: {error}."
            self._figures.set_content(f"<p class='lw-soft'>{escape(notice)}</p>")
            return
        except LikewiseError:
            return  # the banner says that the broker is away
        if rejected != self._letters:
            self._letters = rejected
            self._show_letters(rejected)

    def _show_queues(self, subscribers: list[SubscriberDetails]) -> None:
        rows = [
            (
                f"<b>{escape(s.id)}</b>",
                f"{s.pending:,}",
                f"{s.dropped:,}",
                escape(POLICIES.get(s.policy, s.policy)),
                "yes" if s.connected else "no",
                str(s.subscriptions),
            )
            for s in subscribers
        ]
        nobody = "<p class='lw-soft'>Nobody subscribes yet.</p>"
        self._queues.set_content(data_table(QUEUE_COLUMNS, rows) if rows else nobody)

    def _show_connections(self, connections: list[ConnectionStatus]) -> None:
        """Show a row for each bridge and each connected device, at most `DEVICES`; nothing where there is none."""
        self._connections_panel.set_visibility(bool(connections))
        devices = [c for c in connections if c.kind == "mqtt"]
        rows = [
            (
                f"<b>{escape(c.address)}</b> {escape(c.peer)}",
                "yes" if c.connected else f"<span class='lw-bad'>{escape(c.trouble)}</span>",
                *map("{:,}".format, (c.received, c.stored, c.passed_over, c.refused)),
                *map("{:,}".format, (c.lost, c.gaps, c.sent, c.subscriptions)),
            )
            for c in ([c for c in connections if c.kind != "mqtt"] + devices[:DEVICES])
        ]
        more = f"and {len(devices) - DEVICES:,} more devices" if len(devices) > DEVICES else ""
        self._connections.set_content(data_table(CONNECTION_COLUMNS, rows, more))

    def _show_workers(self, pool: PoolStatus) -> None:
        """Show a row for each process, where there are several."""
        self._workers_panel.set_visibility(len(pool.processes) > 1)
        ready = [] if pool.ready is None else [pool.ready]
        rows = [
            (
                f"<b>{'–' if each in ready else each.number}</b>",
                escape(_role_text(each.role)),
                "yes" if each.alive else "<span class='lw-bad'>no</span>",
                f"{100 * each.busy:.0f} %",
                f"{each.subscriptions:,}",
                f"{each.stretches:,}",
                str(each.parent or ""),
                _megabytes(each.resident),
                _megabytes(each.shared),
            )
            for each in (*pool.processes, *ready)
        ]
        self._workers.set_content(
            f"<p class='lw-soft'>{escape(pool.architecture)}; {pool.splits} splits, {pool.merges} merges</p>"
            f"{data_table(PROCESS_COLUMNS, rows)}"
        )

    def _show_figures(self, mine: TenantStats, now: PrometheusPage) -> None:
        """Show the tenant's counts, and the broker's latencies, which all tenants share."""
        self._before = [*self._before[-30:], now]
        old = self._before[0]
        shown = [
            ("events kept", f"{mine.events:,}"),
            ("of them met something", f"{mine.deliveries:,}"),
            ("wait to be read", f"{mine.pending:,}"),
            ("dropped, as a queue was full", _count_html(mine.dropped)),
            ("set aside", _count_html(mine.dead_letters)),
            ("requests refused", _count_html(mine.refused)),
            ("subscriptions", f"{mine.subscriptions:,}"),
            ("half are on disk within", _latency_text(now.quantile("likewise_publish_seconds", 0.5, old))),
            ("99 % are on disk within", _latency_text(now.quantile("likewise_publish_seconds", 0.99, old))),
            ("99 % are matched within", _latency_text(now.quantile("likewise_matching_seconds", 0.99, old))),
        ]
        self._figures.set_content(
            "<div class='lw-figures'>"
            + "".join(
                f"<div class='lw-figure'><b>{value}</b><span class='lw-soft'>{name}</span></div>"
                for name, value in shown
            )
            + "</div><div class='lw-soft'>engines: "
            + escape(" · ".join(f"{kind} {name}" for kind, name in mine.engines.items()))
            + "</div>"
        )

    def _show_letters(self, rejected: list[DeadLetterDetails]) -> None:
        self._dead.clear()
        with self._dead:
            if not rejected:
                ui.label("None: everything could be read and delivered.").classes("lw-soft")
            for letter in rejected:
                self._letter(letter)

    def _letter(self, letter: DeadLetterDetails) -> None:
        api = self._viewing.api
        with list_row():
            what = letter.body[:200] or f"event {letter.event} for {letter.subscriber}"
            html(
                f"<div class='lw-head'><span class='lw-name'>{escape(REASONS.get(letter.reason, letter.reason))}</span>"
                f"<span>{clock(letter.at)}</span></div><div class='lw-line'>{escape(letter.detail[:300])}</div>"
                f"<code class='lw-line'>{escape(what)}</code>"
            ).style("flex: 1; min-width: 0")
            icon_button("replay", f"Try letter {letter.number} again", lambda: self._do(api.retry(letter.number)))
            icon_button("delete", f"Forget letter {letter.number}", lambda: self._do(api.forget(letter.number)))

    async def _do(self, doing: object) -> None:
        await self._viewing.ask(doing)  # type: ignore[arg-type]
        await self.show()


def _role_text(role: str) -> str:
    """Describe what a process does.

    >>> _role_text("Coordinator, DeliveryService")
    'deals them out, delivers'
    """
    return ", ".join(DOES.get(each, each) for each in role.split(", "))


def _megabytes(count: int) -> str:
    """Return memory in MB; a dash if nobody measured it.

    >>> _megabytes(3 * 2**20), _megabytes(0)
    ('3', '–')
    """
    return f"{count / 2**20:,.0f}" if count else "–"


def _count_html(count: int) -> str:
    """Return a count that should be 0, and is highlighted if it is not.

    >>> _count_html(0), _count_html(1200)
    ('0', "<span class='lw-bad'>1,200</span>")
    """
    return f"<span class='lw-bad'>{count:,}</span>" if count else "0"


def _latency_text(bound: float | None) -> str:
    """Format the bound of a latency.

    >>> _latency_text(0.0025), _latency_text(2.5), _latency_text(None), _latency_text(float("inf"))
    ('2.5 ms', '2.5 s', '–', 'over 60 s')
    """
    if bound is None:
        return "–"
    if bound == float("inf"):
        return "over 60 s"
    return f"{bound:g} s" if bound >= 1 else f"{bound * 1000:g} ms"


def _chart() -> dict[str, object]:
    line = {"type": "line", "showSymbol": False, "data": []}
    return {
        "animation": False,
        "grid": {"left": 40, "right": 12, "top": 28, "bottom": 24},
        "legend": {"top": 0, "right": 0, "textStyle": {"color": "#8793a0"}},
        "xAxis": {"type": "category", "data": [], "axisLabel": {"color": "#8793a0"}},
        "yAxis": {
            "type": "value",
            "minInterval": 1,
            "axisLabel": {"color": "#8793a0"},
            "splitLine": {"lineStyle": {"color": "#8793a0", "opacity": 0.18}},
        },
        "series": [
            {**line, "name": "events", "data": [], "color": "#3f88d8"},
            {**line, "name": "matches", "data": [], "color": "#2fa56b"},
        ],
    }

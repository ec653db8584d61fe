"""The page: header, tabs, and what keeps them up to date.

The line to the broker, as a page says it: connecting, away, or reading a tab for the first time.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Final

from fastapi import Request
from nicegui import Client, app, ui
from nicegui.events import GenericEventArguments

from likewise.dashboard.addresses import PATHS, TABS, PageAddress, parse_page_address
from likewise.dashboard.alerts.alerts import AlertsPanel
from likewise.dashboard.alerts.rankings import RankingsPanel
from likewise.dashboard.explain.dialog import ExplanationDialog
from likewise.dashboard.feed import FeedRegistry, LiveFeed
from likewise.dashboard.history.panel import HistoryPanel
from likewise.dashboard.labels import sentence
from likewise.dashboard.map.panel import MapPanel
from likewise.dashboard.panels.edges import EdgesPanel
from likewise.dashboard.panels.editor import EditorPanel
from likewise.dashboard.panels.health import HealthPanel
from likewise.dashboard.panels.live import LivePanel
from likewise.dashboard.panels.targets import TargetsPanel
from likewise.dashboard.panels.vocabulary import VocabularyPanel
from likewise.dashboard.sources.panel import SourcesPanel
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import html, icon_button, title

CSS: Final = files("likewise.dashboard").joinpath("look.css").read_text(encoding="utf-8")
LOADING = "Asking the broker …"
LATER = "The rest of this page comes as soon as the broker answers."


class StatusBanner:
    """Above the tabs: why the broker does not answer, and from when what stands below is."""

    def __init__(self, feed: LiveFeed, enter: Callable[[], object]) -> None:
        self._feed = feed
        with ui.row().classes("lw-banner items-center").mark("banner").props("role=alert") as self._row:
            self._said = ui.label("")
            self._unlock = ui.button("Enter a token", on_click=enter)
            self._unlock.props("no-caps outline dense padding='2px 10px'")
        self._row.set_visibility(False)

    def show(self) -> None:
        """Say what is so now."""
        feed = self._feed
        self._row.set_visibility(bool(feed.problem))
        self._said.set_text(problem_text(feed.problem, feed.locked, feed.last_response))
        self._unlock.set_visibility(feed.locked)


class LoadingIndicator:
    """Below the tabs: that the tab which is looked at has not been read yet. A tab that was read once stays so."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed = feed
        self._read: set[str] = set()
        with ui.column().classes("lw-waiting").mark("waiting").props("role=status") as self._row:
            self._bar = ui.linear_progress(show_value=False).props("indeterminate size=3px aria-hidden=true")
            self._said = ui.label("").classes("lw-soft")

    def read(self, tab: str) -> None:
        """Record that a tab was read."""
        self._read.add(tab)

    def show(self, tab: str) -> None:
        """Say what is so of the tab that is looked at."""
        feed = self._feed
        waits = feed.last_response is None if tab == "live" else tab not in self._read
        self._row.set_visibility(waits and not feed.locked)
        self._bar.set_visibility(not feed.problem)
        self._said.set_text(LATER if feed.problem else LOADING)


def problem_text(problem: str, locked: bool, last_response: float | None) -> str:
    """Describe why nothing comes, in a sentence or two.

    >>> problem_text("the broker does not answer", False, None)
    'The broker does not answer. Trying again.'
    >>> problem_text("this broker wants a token: enter yours", True, None)
    'This broker wants a token: enter yours.'
    """
    if not problem:
        return ""
    if locked:
        return sentence(problem)
    since = "" if last_response is None else f" What stands below is from {clock(int(last_response * 1e6))}."
    return f"{sentence(problem)} Trying again.{since}"


ICONS = {
    "live": "bolt",
    "subscriptions": "edit_note",
    "history": "timeline",
    "map": "map",
    "sources": "sensors",
    "words": "hub",
    "rankings": "leaderboard",
    "edges": "device_hub",
    "health": "monitor_heart",
}
TABBED = "align=left dense no-caps inline-label outside-arrows mobile-arrows"
MOVED = "lw_moved"  # the browser's back and forward buttons
WATCH = f"""<script>
document.documentElement.lang = 'en';
addEventListener('popstate', () => emitEvent('{MOVED}', {{
  path: location.pathname, query: Object.fromEntries(new URLSearchParams(location.search))}}));
</script>"""


def register_pages(feeds: FeedRegistry) -> None:
    """Say what is served: the same page at every address, which then shows what the address says."""

    async def page(client: Client, request: Request) -> None:
        ui.add_css(CSS)
        ui.add_head_html(WATCH)
        await client.connected()
        if client.is_deleted:
            return  # whoever asked for the page never opened it: a check of health, or a crawler
        token = str(app.storage.tab.get("token", ""))
        _build(feeds, token, client, parse_page_address(request.url.path, request.query_params))

    for path in PATHS:
        ui.page(path, title="Likewise", dark=None)(page)


def _build(feeds: FeedRegistry, token: str, client: Client, address: PageAddress) -> None:
    feed = feeds.of(token)
    viewing = PageState(feed, address)
    dark = ui.dark_mode(app.storage.tab.get("dark"))
    ui.colors(primary="#2a6fc4")
    with ui.header(wrap=False).classes("items-center q-py-xs lw-header").style("background: #17406f; color: #fff"):
        html("<h1 style='font-size:1.15rem;font-weight:700;margin:0;line-height:1.6'>Likewise</h1>")
        ui.label("publish/subscribe by meaning").classes("lw-wide").style("opacity:.8")
        ui.space()
        status = ui.label("").classes("lw-status").mark("status")
        subscription_count = ui.label("").classes("lw-status lw-wide").mark("held-count")
        icon_button("key", "Your token", lambda: _ask_token(token, feed.problem if feed.locked else ""), "color=white")

        def toggle() -> None:
            dark.set_value(not dark.value)
            app.storage.tab["dark"] = dark.value

        icon_button("contrast", "Light or dark", toggle, "color=white")
    with ui.column().classes("lw-page gap-2"):
        banner = StatusBanner(feed, lambda: _ask_token(token, feed.problem))
        with ui.tabs().props(TABBED).classes("w-full") as tabs:
            for name in TABS:
                ui.tab(name, label=name.capitalize(), icon=ICONS[name])
        waiting = LoadingIndicator(feed)
        dialog = ExplanationDialog(viewing)
        viewing.explain = dialog.open
        with ui.tab_panels(tabs, value=address.tab, keep_alive=True, animated=False).classes("w-full") as panels:
            with ui.tab_panel("live"):
                live = LivePanel(viewing)
            with ui.tab_panel("subscriptions"):
                editor = EditorPanel(viewing)
                alerts = AlertsPanel(viewing)
                targets = TargetsPanel(viewing)
            with ui.tab_panel("history"):
                history = HistoryPanel(viewing)
            with ui.tab_panel("map"):
                places = MapPanel(viewing, feeds.tiles, feeds.credit)
            with ui.tab_panel("sources"):
                sources = SourcesPanel(viewing)
            with ui.tab_panel("words"):
                words = VocabularyPanel(viewing)
            with ui.tab_panel("rankings"):
                rankings = RankingsPanel(viewing)
            with ui.tab_panel("edges"):
                edges = EdgesPanel(viewing)
            with ui.tab_panel("health"):
                health = HealthPanel(viewing)
    drawn_version = -1

    async def tick() -> None:
        nonlocal drawn_version
        if feed.version == drawn_version:
            return
        drawn_version = feed.version
        banner.show()
        waiting.show(panels.value)
        tabs.set_visibility(not feed.locked)
        panels.set_visibility(not feed.locked)
        panels.classes(**{"add" if feed.problem else "remove": "lw-stale"})
        if feed.locked:
            dialog.close()
            live.start_over()
        seconds = list(feed.history)[-10:]
        rate = sum(moment.events for moment in seconds) / max(1, len(seconds))
        known = feed.last_response is not None and not feed.problem
        status.set_text("disconnected" if feed.problem else f"{rate:.1f} events/s" if seconds else "")
        subscription_count.set_text(f"{len(feed.subscriptions):,} subscriptions" if known else "")
        live.show()
        editor.show()

    async def subscribed() -> None:
        await alerts.show()
        await targets.show()
        await editor.show_figures(alerts.active_keys)
        await editor.learn_words()

    slow = {
        "subscriptions": subscribed,
        "history": history.show,
        "map": places.show,
        "sources": sources.show,
        "words": words.show,
        "rankings": rankings.show,
        "edges": edges.show,
        "health": health.show,
    }

    async def slow_tick() -> None:
        tab = panels.value
        if feed.last_response is None or feed.problem or tab not in slow:
            return
        await slow[tab]()
        if not feed.problem:
            waiting.read(tab)
        waiting.show(panels.value)

    async def turn() -> None:
        if viewing.address.tab != panels.value:
            viewing.move(PageAddress(panels.value))
        waiting.show(panels.value)
        await slow_tick()

    async def go(target: PageAddress) -> None:
        viewing.address = target
        panels.set_value(target.tab)
        if target.event:
            await dialog.open(target)
        else:
            dialog.close()

    async def moved(e: GenericEventArguments) -> None:
        await go(parse_page_address(e.args["path"], e.args["query"]))

    ui.timer(0.5, tick)
    ui.timer(2.0, slow_tick)
    tabs.on_value_change(turn)
    ui.on(MOVED, moved)
    feed.join()
    if address.event:
        ui.timer(0.1, lambda: go(address), once=True)
    client.on_delete(lambda: feeds.leave(token))


async def _ask_token(used: str, problem: str) -> None:
    """Ask for a token and start again with it; `problem` says why one is needed, if it is."""
    with ui.dialog() as dialog, ui.card().classes("w-96"):
        title("Your token")
        if problem:
            ui.label(sentence(problem)).classes("lw-bad")
        ui.label("It decides whose events and subscriptions you see. It is kept for this browser tab only.").classes(
            "lw-soft"
        )
        box = ui.input("Token", password=True, password_toggle_button=True).props("outlined autofocus")
        box.classes("w-full").on("keydown.enter", lambda: dialog.submit(box.value))
        with ui.row():
            ui.button("Use it", on_click=lambda: dialog.submit(box.value)).props("no-caps")
            if used:
                ui.button("Look without one", on_click=lambda: dialog.submit("")).props("flat no-caps")
            ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
    entered = await dialog
    if entered is not None:
        app.storage.tab["token"] = str(entered).strip()
        ui.navigate.reload()

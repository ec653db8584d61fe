"""The subscriptions that are held: how often each was met, when last, and where its matches go."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Final

from nicegui import ui

from likewise.api.history import SubscriptionCount
from likewise.api.sinks import TargetDetails
from likewise.api.subscriptions import SubscriptionDetails
from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.view_state import PageState
from likewise.dashboard.widgets import attribute_text, html, icon_button, title
from likewise.errors import LikewiseError
from likewise.model.rendering import KINDS

LISTED: Final = 200  # subscriptions that are listed; the filter reaches the others
Name = tuple[str, str]  # subscriber and id


class SubscriptionTable:
    """The list. `edit` is called with a subscription that somebody wants to change."""

    def __init__(self, viewing: PageState, edit: Callable[[SubscriptionDetails], None]) -> None:
        self._viewing = viewing
        self._edit = edit
        self._shown: list[SubscriptionDetails] | None = None
        self._figures: dict[Name, ui.html] = {}  # of each subscription that is drawn
        self._tallies: dict[Name, SubscriptionCount] = {}
        self._targets: dict[Name, list[TargetDetails]] = {}
        self._alerts: Mapping[Name, list[str]] = {}
        with ui.column().classes("lw-panel"):
            with ui.row().classes("items-center w-full no-wrap"):
                title("Subscriptions held")
                ui.space()
                self._filter = ui.input(placeholder="Find", on_change=self._redraw).classes("w-40")
                self._filter.props("dense outlined clearable debounce=300 aria-label='Find a subscription'")
            self._list = ui.column().classes("w-full gap-0 lw-rows").props("role=list").mark("held")
            self._counted = ui.label("").classes("lw-soft").mark("counted")

    def show(self) -> None:
        """List what is held, if that changed."""
        subscriptions = self._viewing.feed.subscriptions
        if subscriptions != self._shown:
            self._shown = list(subscriptions)
            self._redraw()

    def _redraw(self) -> None:
        words = (self._filter.value or "").casefold().split()
        subscriptions = self._shown or []
        matching = [
            s for s in subscriptions if all(word in f"{s.subscriber} {s.id} {s.text}".casefold() for word in words)
        ]
        self._filter.set_visibility(len(subscriptions) > 5)
        self._list.clear()
        self._figures = {}
        with self._list:
            if not subscriptions:
                ui.label("None yet. Fill in the form, or choose one of its examples.").classes("lw-soft").props(
                    "role=listitem"
                )
            elif not matching:
                ui.label("None has these words.").classes("lw-soft").props("role=listitem")
            for each in matching[:LISTED]:
                self._draw(each)
            if len(matching) > LISTED:
                ui.label(f"and {len(matching) - LISTED:,} more; find them by their words").classes("lw-soft")

    async def show_figures(self, alerts: Mapping[Name, list[str]]) -> None:
        """Bring the counts and the targets up to date; `alerts` has the keys of each alert that are on."""
        self._alerts = alerts
        try:
            counted = await self._viewing.api.tallies(1)
            targets = await self._viewing.api.targets()
        except LikewiseError:
            return  # the banner says that the broker is away; without the scope there is nothing to see
        self._tallies = {(t.subscriber, t.subscription): t for t in counted.subscriptions}
        self._targets = {}
        for each in targets:
            self._targets.setdefault((each.subscriber, each.subscription), []).append(each)
        if counted.since is not None:
            self._counted.set_text(f"Matches are counted since {_when(counted.since)}.")
        for name in self._figures:
            self._fill(name)

    def _fill(self, name: Name) -> None:
        targets, alerts = self._targets.get(name, []), self._alerts.get(name, [])
        self._figures[name].set_content(figures_html(self._tallies.get(name), targets, time.time(), alerts))

    def _draw(self, subscription: SubscriptionDetails) -> None:
        with ui.row().classes("w-full no-wrap items-start gap-1 lw-row lw-flex").props("role=listitem"):
            with ui.column().classes("gap-0").style("flex: 1; min-width: 0"):
                html(
                    f"<div class='lw-head'><span class='lw-name'>{escape(subscription.id)}</span>"
                    f"<span class='lw-chip'>{KINDS[subscription.kind]}</span>"
                    f"<span>for {escape(subscription.subscriber)}</span></div>"
                    f"<code class='lw-line'>{escape(subscription.text)}</code>"
                )
                figures = html().classes("lw-line lw-figures-line")
            name = attribute_text(subscription.id)
            icon_button("edit", f"Edit {name}", lambda: self._edit(subscription), "size=sm")
            icon_button("delete", f"End {name}", lambda: self._end(subscription), "size=sm")
        self._figures[subscription.subscriber, subscription.id] = figures
        if self._tallies:
            self._fill((subscription.subscriber, subscription.id))

    async def _end(self, subscription: SubscriptionDetails) -> None:
        with ui.dialog() as sure, ui.card():
            ui.label(f"End the subscription {subscription.id} of {subscription.subscriber}?")
            with ui.row():
                ui.button("End it", on_click=lambda: sure.submit(True)).props("color=negative no-caps")
                ui.button("Keep it", on_click=lambda: sure.submit(False)).props("flat no-caps")
        if await sure:
            await self._viewing.ask(self._viewing.api.delete(subscription.subscriber, subscription.id))
            await self._viewing.feed.refresh()
            self.show()


def figures_html(
    tally: SubscriptionCount | None, targets: list[TargetDetails], now: float, on: Sequence[str] = ()
) -> str:
    """Describe a subscription as a line of HTML: active keys, number of matches, targets.

    >>> figures_html(SubscriptionCount("me", "a", 1204, 940_000_000, "e1", "roof"), [], 1000.0)
    '<b>1,204</b> matches · last <a class="lw-to" href="/why?id=e1&amp;source=roof&amp;...">1 min ago</a> by roof'
    >>> figures_html(None, [], 0.0)
    'not met yet'
    >>> figures_html(None, [], 0.0, ["hall", "attic"])
    '<span class="lw-state lw-state-on">on</span> hall, attic · not met yet'
    """
    parts = ["not met yet"]
    if tally is not None and tally.matches:
        parts = [f"<b>{tally.matches:,}</b> match{'' if tally.matches == 1 else 'es'}"]
        if tally.last is not None:
            ago = f"{elapsed_text(now - tally.last / 1e6)} ago"
            if tally.event:
                why = PageAddress("subscriptions", tally.event, tally.source, tally.subscriber, tally.subscription).path
                ago = f'<a class="lw-to" href="{escape(why)}">{ago}</a>'
            parts.append(f"last {ago}{f' by {escape(tally.source)}' if tally.source else ''}")
    if on:
        more = f" and {len(on) - 3:,} more" if len(on) > 3 else ""
        parts.insert(0, f'<span class="lw-state lw-state-on">on</span> {escape(", ".join(on[:3]))}{more}')
    return " · ".join([*parts, *map(target_chip, targets)])


def target_chip(target: TargetDetails) -> str:
    """Return the address of a target, coloured by its state."""
    state = target.state
    look, status = "lw-good", "accepted"
    if state.dead:
        look, status = "lw-bad", f"{state.dead:,} dead"
    elif state.last_error and (state.last_error_at or 0) > (state.last_success or 0):
        look, status = "lw-bad", "refused"
    elif state.waiting:
        look, status = "lw-nearly", f"{state.waiting:,} wait"
    elif not state.last_success:
        look, status = "lw-soft", "nothing sent yet"
    where = target.to or target.topic or target.address
    return f"→ {escape(target.kind)} {escape(where)} <span class='{look}'>{status}</span>"


def elapsed_text(seconds: float) -> str:
    """Format an elapsed time in its largest unit.

    >>> [elapsed_text(s) for s in (-1, 7, 125, 7200, 200_000)]
    ['0 s', '7 s', '2 min', '2 h', '2 days']
    """
    for size, name in ((86_400, "day"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'s' if name == 'day' and count > 1 else ''}"
    return f"{max(0, int(seconds))} s"


def _when(microseconds: int) -> str:
    moment = time.localtime(microseconds / 1e6)
    today = time.strftime("%F", moment) == time.strftime("%F")
    return time.strftime("%H:%M" if today else "%d %b %H:%M", moment)

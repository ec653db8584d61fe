"""Alerts: the keys that are active, since when, and how far the others are."""

from __future__ import annotations

from html import escape
from typing import Final

from nicegui import ui

from likewise.api.mobile import AlertDetails, AlertKeyDetails
from likewise.api.subscriptions import SubscriptionDetails
from likewise.dashboard.view_state import PageState
from likewise.dashboard.widgets import html, title
from likewise.errors import LikewiseError

ALERTS: Final = 20  # shown at once
KEYS: Final = 10  # of each
NAMES: Final = {
    "on": "on",
    "absent": "absent",
    "lasting": "lasting",
    "excused": "unheard",
    "watched": "watched",
    "off": "off",
}


class AlertsPanel:
    """Every alert with its keys; `show` brings them up to date. Where there is no alert, nothing is shown."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self.active_keys: dict[tuple[str, str], list[str]] = {}  # which keys of each alert are on, or silent
        with ui.column().classes("lw-panel w-full") as self._panel:
            title("Where alerts stand")
            self._alerts = html().classes("w-full").mark("alerts")
        self._panel.set_visibility(False)

    async def show(self) -> None:
        """Ask for the keys of every alert and draw them."""
        every = [subscription for subscription in self._viewing.feed.subscriptions if subscription.kind == "alert"]
        drawn, active_keys = [], {}
        for subscription in every[:ALERTS]:
            try:
                shown = await self._viewing.api.keys(subscription.subscriber, subscription.id, KEYS)
            except LikewiseError:
                continue  # it has just ended, or the broker is away, which the banner says
            drawn.append(alert_html(subscription, shown))
            active_keys[subscription.subscriber, subscription.id] = [
                _key_text(key) for key in shown.keys if key.state in ("on", "absent")
            ]
        self.active_keys = active_keys
        if len(every) > ALERTS:
            drawn.append(f"<p class='lw-soft'>and {len(every) - ALERTS:,} more alerts</p>")
        self._panel.set_visibility(bool(every))
        self._alerts.set_content("".join(drawn))


def alert_html(subscription: SubscriptionDetails, shown: AlertDetails) -> str:
    """Return one alert as HTML: its name, and a row for each key.

    >>> held = SubscriptionDetails("ann", "door", "{door = open} for 5 min", "alert", 0)
    >>> "hall" in alert_html(held, AlertDetails(1, (AlertKeyDetails(("hall",), 0, state="on", words="on"),)))
    True
    """
    rows = "".join(_row(each) for each in shown.keys)
    more = shown.total - len(shown.keys)
    if more > 0:
        rows += f"<tr><td colspan=3 class='lw-soft'>and {more:,} more</td></tr>"
    if not rows:
        rows = "<tr><td colspan=3 class='lw-soft'>Nothing about it came yet.</td></tr>"
    return (
        f"<div class='lw-alert'><b>{escape(subscription.id)}</b> "
        f"<span class='lw-soft'>for {escape(subscription.subscriber)}</span> "
        f"<code class='lw-soft'>{escape(subscription.text)}</code><table class='lw-table'>{rows}</table></div>"
    )


def _row(each: AlertKeyDetails) -> str:
    name = NAMES.get(each.state, each.state)
    return (
        f"<tr><td class='lw-n'><span class='lw-state lw-state-{escape(each.state)}'>{escape(name)}</span></td>"
        f"<td>{escape(_key_text(each))}</td><td>{escape(each.words)}</td></tr>"
    )


def _key_text(each: AlertKeyDetails) -> str:
    return " \u00b7 ".join(filter(None, each.key)) or "no source"

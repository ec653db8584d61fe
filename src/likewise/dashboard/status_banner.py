"""The line to the broker, as a page says it: connecting, away, or reading a tab for the first time."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from likewise.dashboard.feed import Feed
from likewise.dashboard.view_state import clock

ASKED = "Asking the broker …"
LATER = "The rest of this page comes as soon as the broker answers."


class Banner:
    """Above the tabs: why the broker does not answer, and from when what stands below is."""

    def __init__(self, feed: Feed, enter: Callable[[], object]) -> None:
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
        self._said.set_text(trouble(feed.problem, feed.locked, feed.heard))
        self._unlock.set_visibility(feed.locked)


class Waiting:
    """Below the tabs: that the tab which is looked at has not been read yet. A tab that was read once stays so."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._read: set[str] = set()
        with ui.column().classes("lw-waiting").mark("waiting").props("role=status") as self._row:
            self._bar = ui.linear_progress(show_value=False).props("indeterminate size=3px aria-hidden=true")
            self._said = ui.label("").classes("lw-soft")

    def read(self, tab: str) -> None:
        """A tab was read."""
        self._read.add(tab)

    def show(self, tab: str) -> None:
        """Say what is so of the tab that is looked at."""
        feed = self._feed
        waits = feed.heard is None if tab == "live" else tab not in self._read
        self._row.set_visibility(waits and not feed.locked)
        self._bar.set_visibility(not feed.problem)
        self._said.set_text(LATER if feed.problem else ASKED)


def trouble(problem: str, locked: bool, heard: float | None) -> str:
    """Why nothing comes, in a sentence or two.

    >>> trouble("the broker does not answer", False, None)
    'The broker does not answer. Trying again.'
    >>> trouble("this broker wants a token: enter yours", True, None)
    'This broker wants a token: enter yours.'
    """
    if not problem:
        return ""
    said = f"{problem[:1].upper()}{problem[1:]}."
    if locked:
        return said
    since = "" if heard is None else f" What stands below is from {clock(int(heard * 1e6))}."
    return f"{said} Trying again.{since}"

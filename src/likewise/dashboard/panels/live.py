"""Live: the events that come in, and what they meet."""

from __future__ import annotations

from html import escape

from nicegui import ui
from nicegui.events import GenericEventArguments

from likewise.api.live_views import Arrival, EventMatches
from likewise.dashboard.feed import MatchKey
from likewise.dashboard.labels import event_line, marked_line
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import html, panel, score_badge

SHOWN = 40
CAUSES = {
    "arrival": "",
    "initial": "came before the subscription",
    "promoted": "moved up into the best",
    "replayed": "tried again",
    "topic": "published to a topic",
    "retained": "kept for a topic",
}
NONE_YET = (
    "<b>No match yet.</b> Say under <a class='lw-to' href='/subscriptions'>Subscriptions</a> what you want to know.",
    "<b>No event yet.</b> Connect devices over MQTT (<code>likewise serve --mqtt 1883</code>), or publish one: "
    "<code>echo '{temperature: 27.1, city: Galway}' | likewise publish</code>",
)
NONE_FITS = ("<b>No match fits the filter.</b>", "<b>No event fits the filter.</b>")
# A mouse over the lists holds them still, so that a click meets the row it aims at; a finger does not hover.
HOVER = "(e) => { if (e.pointerType === 'mouse') emit(e.type === 'pointerenter'); }"


class LivePanel:
    """Two lists, newest first. A click, or Enter, on a row opens its explanation."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._paused = self._hovered = False
        self._position = self._sequence = 0
        self._wanted = ""
        self._unmarked: dict[MatchKey, list[tuple[ui.html, Arrival]]] = {}
        with ui.row().classes("items-center w-full gap-3"):
            ui.label("Click a row to see why it matched, or what kept it from matching.").classes("lw-soft")
            self._held = ui.label("").classes("lw-nearly").mark("held-still")
            ui.space()
            self._filter = (
                ui.input(placeholder="Filter", on_change=self._refilter)
                .props("dense outlined clearable debounce=300 aria-label='Filter events and matches'")
                .classes("w-44")
            )
            self._pause = ui.button("Pause", on_click=self._toggle, icon="pause").props("flat dense no-caps")
        lists = ui.element("div").classes("lw-two")
        for event in ("pointerenter", "pointerleave"):
            lists.on(event, self._hover, js_handler=HOVER)
        with lists:
            with panel("Matches"):
                self._matches = ui.column().classes("lw-rows").props("role=list aria-label=Matches").mark("matches")
            with panel("Events"):
                self._events = ui.column().classes("lw-rows").props("role=list aria-label=Events").mark("events")
        self._add_placeholders()

    def _add_placeholders(self) -> None:
        matches, events = NONE_FITS if self._wanted else NONE_YET
        with self._matches:
            self._no_match = html(matches).classes("lw-nothing").props("role=listitem")
        with self._events:
            self._no_event = html(events).classes("lw-nothing").props("role=listitem")
        self._show_placeholders()

    def _show_placeholders(self) -> None:
        """Show the placeholders once the broker has answered: before that, nobody knows that there is nothing."""
        for nothing in (self._no_match, self._no_event):
            if not nothing.is_deleted:
                nothing.set_visibility(self._viewing.feed.last_response is not None)

    def _hover(self, e: GenericEventArguments) -> None:
        self._hovered = bool(e.args)
        self.show()

    def _toggle(self) -> None:
        self._paused = not self._paused
        self._pause.set_text("Go on" if self._paused else "Pause")
        self._pause.props(f"icon={'play_arrow' if self._paused else 'pause'}")

    def _refilter(self) -> None:
        self._wanted = (self._filter.value or "").casefold()
        self.start_over()

    def start_over(self) -> None:
        """Show what the feed holds from the start, as after a change of filter."""
        self._position = self._sequence = 0
        self._events.clear()
        self._matches.clear()
        self._unmarked.clear()
        self._add_placeholders()
        self._add_new()

    def show(self) -> None:
        """Add what is new in the feed, unless the lists are to stand still; mark what met the matches shown."""
        self._mark_readings()
        self._show_placeholders()
        hovered = self._hovered and self._position > 0
        if self._paused or hovered:
            new = sum(event.position > self._position for event in self._viewing.feed.events)
            why = "Paused" if self._paused else "Held while the mouse is over the lists"
            self._held.set_text(f"{why}; {new} new" if new else "")
        else:
            self._held.set_text("")
            self._add_new()

    def _add_new(self) -> None:
        feed = self._viewing.feed
        if feed.events and feed.events[-1].position < self._position:
            self._position = self._sequence = 0
        events = [e for e in feed.events if e.position > self._position]
        matches = [m for m in feed.matches if m.sequence > self._sequence]
        for arrival in events[-SHOWN:]:
            if self._passes_filter(arrival, ""):
                self._add_event(arrival)
        for match in matches[-SHOWN:]:
            if (event := feed.by_position.get(match.position)) is not None and self._passes_filter(
                event, _names(match)
            ):
                self._add_match(match, event)
        if events:
            self._position = events[-1].position
        if matches:
            self._sequence = matches[-1].sequence
        for rows in (self._events, self._matches):
            for old in list(rows.default_slot.children)[SHOWN:]:
                old.delete()

    def _passes_filter(self, arrival: Arrival, names: str) -> bool:
        words = self._wanted
        return not words or words in f"{names} {arrival.source} {event_line(arrival.event, 10_000)}".casefold()

    def _add_event(self, arrival: Arrival) -> None:
        if not self._no_event.is_deleted:
            self._no_event.delete()
        with self._events, self._viewing.row(arrival) as row:
            html(
                f"<div class='lw-head'><span class='lw-name'>{escape(arrival.source or arrival.id)}</span>"
                f"<span>{escape(' · '.join(arrival.themes))}</span><span>{clock(arrival.arrival)}</span></div>"
                f"<div class='lw-line'>{escape(event_line(arrival.event))}</div>"
            )
        row.move(target_index=0)

    def _add_match(self, match: EventMatches, arrival: Arrival) -> None:
        if not self._no_match.is_deleted:
            self._no_match.delete()
        for subscription in reversed(match.met):
            with self._matches, self._viewing.row(arrival, subscription.subscriber, subscription.subscription) as row:
                cause = CAUSES.get(match.cause, match.cause)
                html(
                    f"<div class='lw-head'>{score_badge(subscription.score)}"
                    f"<span class='lw-name'>{escape(subscription.subscription)}</span>"
                    f"<span class='lw-name lw-device'>{escape(arrival.source or arrival.id)}</span>"
                    f"<span class='lw-wide'>for {escape(subscription.subscriber)}</span>"
                    f"<span>{clock(arrival.arrival)}</span>{f'<span>{escape(cause)}</span>' if cause else ''}</div>"
                )
                known = MatchKey(match.position, subscription.subscriber, subscription.subscription)
                answers = self._viewing.feed.matched_readings.get(known)
                line = html(marked_line(arrival.event, answers or ())).classes("lw-line")
                if answers is None:
                    self._unmarked.setdefault(known, []).append((line, arrival))
            row.move(target_index=0)
        if match.total > len(match.met):
            ui.notify(f"{match.total - len(match.met)} more subscriptions met one event", position="bottom")

    def _mark_readings(self) -> None:
        """Mark the readings that became known since their rows were drawn."""
        answers = self._viewing.feed.matched_readings
        for known in list(self._unmarked):
            rows = [(line, arrival) for line, arrival in self._unmarked[known] if not line.is_deleted]
            if known in answers:
                for line, arrival in rows:
                    line.set_content(marked_line(arrival.event, answers[known]))
            if known in answers or not rows:
                del self._unmarked[known]


def _names(match: EventMatches) -> str:
    return " ".join(f"{subscription.subscription} {subscription.subscriber}" for subscription in match.met)

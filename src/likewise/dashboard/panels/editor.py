"""Subscriptions: those that are held, and an editor that says what it understood while one types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from nicegui import ui

from likewise.api.live_views import Arrival
from likewise.api.queries import BacktestMatch, BacktestResult
from likewise.api.sources import AttributeSummary
from likewise.api.subscriptions import SubscriptionDetails
from likewise.client.targets import default_target_id, parse_target
from likewise.dashboard.forms.fields import FormFields
from likewise.dashboard.forms.form import SubscriptionForm
from likewise.dashboard.forms.from_subscription import UnsupportedByForm, form_from_subscription
from likewise.dashboard.forms.to_text import form_to_text
from likewise.dashboard.history.charts import CAUSE_LABELS
from likewise.dashboard.history.subscription_table import SubscriptionTable
from likewise.dashboard.labels import ParsedText, event_line, parse_typed_text
from likewise.dashboard.panels.targets import show_secret
from likewise.dashboard.sources.completion import complete_text, suggest_themes
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import html, score_badge, table, title
from likewise.errors import LikewiseError

EXAMPLES = (
    "{temperature~ > 25 degC}",
    "{noise~ > 70 dB}",
    "{parking} {free spaces~ < 20}",
    "{NO2 exists} top 3 within 2 min by value(NO2) highest",
)


SHOWN = 12  # events listed below the editor
PAUSE = 1.0  # seconds without a change after which what is typed is tried
PREVIEWED = 500  # stored events that it is tried on then


class EditorPanel:
    """Fill in a form or type, see how it was understood, try it on the last events, then save it."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._words: list[AttributeSummary] = []
        self._written = ""  # what the form wrote, so that it is not read back while somebody types in a field
        with ui.element("div").classes("lw-two"):
            with ui.column().classes("lw-panel"):
                self._editor()
            self._held = SubscriptionTable(viewing, self._edit)

    def _editor(self) -> None:
        title("What do you want to know?")
        self._form = FormFields(self._write)
        self._text = (
            ui.textarea("The same as text", placeholder=EXAMPLES[0], on_change=self._understand)
            .props("outlined autogrow debounce=250 aria-label='Subscription' spellcheck=false stack-label")
            .classes("w-full lw-mono q-mt-sm")
        )
        with ui.row().classes("gap-1 items-center lw-offers"):
            ui.label("For example:").classes("lw-soft")
            for example in EXAMPLES:
                ui.button(example, on_click=lambda e=example: self._text.set_value(e)).props(
                    "flat dense no-caps size=sm"
                ).classes("lw-mono")
        self._offered = ui.row().classes("gap-1 items-center w-full lw-offers").mark("offered")
        self._understood = ui.column().classes("w-full gap-1").mark("understood")
        with ui.row().classes("items-end gap-2 w-full"):
            self._subscriber = ui.input("For whom", value="me").props("dense outlined").classes("w-28")
            self._id = ui.input("Name", placeholder="from its words").props("dense outlined stack-label")
            self._id.classes("w-36")
            self._to = ui.input("Send matches to", placeholder="nowhere; or https://..., mqtt://...")
            self._to.props("dense outlined stack-label").classes("lw-grow")
        with ui.row().classes("items-center gap-2 w-full"):
            self._try = ui.button("Try on the last events", on_click=self._run).props("outline no-caps")
            self._save = ui.button("Save", on_click=self._keep).props("no-caps")
        self._tried = ui.column().classes("w-full gap-1").mark("tried")
        self._unchanged = self._previewed = ""  # texts: of a moment ago, and the last one that was tried
        self._listed = ""  # the last one that the button tried, whose matches are listed
        ui.timer(PAUSE, self._preview)
        self._understand()

    def _write(self) -> None:
        """Write the form to the text field."""
        self._written = form_to_text(self._form.form)
        self._text.set_value(self._written)

    def _fill_form(self, parsed: ParsedText) -> None:
        """Fill the form from the text field, where a form can express it."""
        text = (self._text.value or "").strip()
        if text == self._written.strip() or parsed.subscription is None:
            if not text and self._written:
                self._written = ""
                self._form.show(SubscriptionForm())
            return
        self._written = text
        try:
            self._form.show(form_from_subscription(parsed.subscription))
        except UnsupportedByForm as error:
            self._form.show_unsupported(str(error))

    async def learn_words(self) -> None:
        """Get the stream's own words, to offer them while somebody types; without them, none are offered."""
        try:
            words = await self._viewing.api.vocabulary()
        except LikewiseError:
            return  # the banner says so, or the token may not see them
        if words != self._words:
            self._words = words
            self._form.offer_words([word.attribute for word in words])
            self._offer()

    def _offer(self) -> None:
        """Offer what may come next: attributes and values of the stream, and themes where nothing stands yet."""
        text = self._text.value or ""
        self._offered.clear()
        completions = (
            complete_text(text, self._words)
            if text.strip()
            else [(t, f"{{{t}}} {{") for t in suggest_themes(self._words)]
        )
        with self._offered:
            if completions:
                ui.label("In this stream:" if text.strip() else "Themes of this stream:").classes("lw-soft")
            for shown, whole in completions:
                ui.button(shown, on_click=lambda e=whole: self._text.set_value(e)).props(
                    "flat dense no-caps size=sm"
                ).classes("lw-mono")

    def _understand(self) -> None:
        self._offer()
        parsed = parse_typed_text(self._text.value or "")
        self._fill_form(parsed)
        good = parsed.subscription is not None
        self._try.set_enabled(good)
        self._save.set_enabled(good)
        self._understood.clear()
        with self._understood:
            if not good:
                ui.label(parsed.problem).classes("lw-bad" if (self._text.value or "").strip() else "lw-soft")
                if parsed.excerpt.strip():
                    html(f"<pre class='lw-mono'>{escape(parsed.excerpt)}</pre>")
                return
            rows = "".join(
                f"<tr><th scope='row' style='white-space:pre-wrap'>{escape(what)}</th><td>{escape(meaning)}</td></tr>"
                for what, meaning in parsed.parts
            )
            ui.label("Understood as").classes("lw-good")
            html(table(rows)).classes("w-full")

    async def _preview(self) -> None:
        """Say what the text would have found, once nobody has typed for a moment. An error waits for the button."""
        text = (self._text.value or "").strip()
        if text == self._previewed or not self._try.enabled:
            return
        if text != self._unchanged:
            self._unchanged = text
            return
        self._previewed = text
        try:
            backtest = await self._viewing.api.backtest(text, PREVIEWED, 0)
        except LikewiseError:
            return
        if text == (self._text.value or "").strip() != self._listed:
            self._tried.clear()
            with self._tried:
                ui.label(_result(backtest)).classes("lw-good" if backtest.matched else "lw-nearly")

    async def _run(self) -> None:
        text = self._text.value or ""
        self._listed = self._previewed = text.strip()
        backtest = await self._viewing.ask(self._viewing.api.backtest(text))
        if backtest is None:
            return
        self._tried.clear()
        newest = [(match.arrived, _badge(match)) for match in reversed(backtest.matches[-SHOWN:])]
        with self._tried:
            ui.label(_result(backtest)).classes("lw-good" if backtest.matched else "lw-nearly")
            if backtest.matches:
                ui.label("The newest of them; click one to see why.").classes("lw-soft")
            elif backtest.events:
                ui.label("The newest events; click one to see what kept it from matching.").classes("lw-soft")
                newest = [(arrival, "") for arrival in list(self._viewing.feed.events)[: -SHOWN - 1 : -1]]
            with ui.column().classes("w-full gap-0").props("role=list aria-label='Events it was tried on'"):
                for arrival, badge in newest:
                    self._tried_on(arrival, badge, text)

    def _tried_on(self, arrival: Arrival, badge: str, text: str) -> None:
        with self._viewing.row(arrival, text=text, tab="subscriptions"):
            html(
                f"<div class='lw-head'>{badge}<span class='lw-name'>{escape(arrival.source or arrival.id)}</span>"
                f"<span>{clock(arrival.arrival)}</span></div>"
                f"<div class='lw-line'>{escape(event_line(arrival.event, 140))}</div>"
            )

    async def _keep(self) -> None:
        text, subscriber = (self._text.value or "").strip(), (self._subscriber.value or "").strip() or "me"
        parsed, to = parse_typed_text(text), (self._to.value or "").strip()
        if parsed.subscription is None:
            return
        name = (self._id.value or "").strip() or _default_name(parsed.printed)
        try:
            target = parse_target(to) if to else None
        except LikewiseError as error:
            ui.notify(str(error), type="negative", position="top")
            return
        api = self._viewing.api
        saved = await self._viewing.ask(api.save(subscriber, name, text))
        if saved is None:
            return
        self._id.set_value("")
        notice = f"Saved as {saved.id}. Matches show under Live."
        if target is not None:
            made = await self._viewing.ask(api.set_target(subscriber, saved.id, default_target_id(target), target, {}))
            if made is not None:
                self._to.set_value("")
                notice = f"Saved as {saved.id}. Matches go to {made.address}."
                if made.secret:
                    show_secret(made.secret)
        ui.notify(notice, type="positive", position="top")
        await self._viewing.feed.refresh()
        self.show()

    def show(self) -> None:
        """List what is held, if that changed."""
        self._held.show()

    async def show_figures(self, alerts: Mapping[tuple[str, str], list[str]]) -> None:
        """Bring the counts of what is held up to date; `alerts` has the keys of each alert that are on."""
        await self._held.show_figures(alerts)

    def _edit(self, subscription: SubscriptionDetails) -> None:
        self._text.set_value(subscription.text)
        self._subscriber.set_value(subscription.subscriber)
        self._id.set_value(subscription.id)
        ui.run_javascript("scrollTo({top: 0, behavior: 'smooth'})")


def _default_name(printed: str) -> str:
    """Return a short name made from the words of a subscription.

    >>> _default_name("{temperature~ > 25 degC}")
    'temperature-25-degc'
    """
    words = re.findall(r"[A-Za-z0-9]+", printed)[:4]
    return "-".join(words).lower() or "subscription"


def _result(backtest: BacktestResult) -> str:
    """Sum up a backtest in one line; alerts by cause, since one event may lead to several notifications, or to none.

    >>> _result(BacktestResult(9, 2, 0, 0, (), {"arrival": 2}))
    '2 of the last 9 events would have matched.'
    >>> _result(BacktestResult(9, 1, 0, 0, (), {"held": 1, "cleared": 1}))
    'In the last 9 events: 1 has held, 1 is over.'
    """
    if set(backtest.causes) <= {"arrival", "promoted"}:
        return f"{backtest.matched:,} of the last {backtest.events:,} events would have matched."
    counts = ", ".join(f"{count:,} {CAUSE_LABELS.get(cause, cause)}" for cause, count in backtest.causes.items())
    return f"In the last {backtest.events:,} events: {counts}."


def _badge(match: BacktestMatch) -> str:
    """Show the score of a match; of an alert its cause, key and time."""
    if not match.key and match.cause in ("arrival", "promoted"):
        return score_badge(match.score)
    whose = f" ({escape(', '.join(match.key))})" if match.key else ""
    return (
        f"<span class='lw-name'>{escape(CAUSE_LABELS.get(match.cause, match.cause))}{whose} {clock(match.time)}</span>"
    )

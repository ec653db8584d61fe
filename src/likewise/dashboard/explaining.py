"""The explanation of a match or a near miss, as a picture, with themes to switch and thumbs to give."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape

import msgspec
from nicegui import ui

from likewise.dashboard.answers import Arrival, HeldSubscription
from likewise.dashboard.heat_map import heat_map, mapping_picture
from likewise.dashboard.look import score_badge, table
from likewise.dashboard.viewing import Viewing
from likewise.dashboard.wording import VERDICTS, event_line
from likewise.errors import LikewiseError
from likewise.language import parse, subscription_text
from likewise.model import Explanation

Redraw = Callable[[dict[str, object], str], Awaitable[float]]
MOST_COMPARED = 25  # subscriptions an event is compared with to find the nearest


class ExplanationDialog:
    """One dialog for each page; `open` fills it."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._redraw: Redraw | None = None
        self._dialog = ui.dialog().props("aria-label='Explanation'")
        with self._dialog, ui.card().classes("w-full").style("max-width: 980px; background: var(--panel)"):
            with ui.row().classes("items-center w-full no-wrap"):
                ui.html("<h2 class='lw-title' style='font-size:1.15rem'>Why?</h2>", sanitize=False)
                ui.space()
                ui.button(icon="close", on_click=self._dialog.close).props("flat round dense aria-label='Close'")
            self._body = ui.column().classes("w-full gap-3").mark("explanation")

    async def open(self, arrival: Arrival, subscriber: str, id: str) -> None:
        """Explain an event against a subscription; without one, against the subscription it comes nearest to."""
        self._body.clear()
        with self._body:
            ui.spinner(size="lg")
        self._dialog.open()
        held = self._viewing.feed.subscriptions
        chosen = next((s for s in held if (s.subscriber, s.id) == (subscriber, id)), None)
        if chosen is None:
            await self._compare(arrival)
        else:
            await self._one(arrival, chosen)

    async def _compare(self, arrival: Arrival) -> None:
        """The event against every subscription, the nearest first."""
        found: list[tuple[float, HeldSubscription, Explanation]] = []
        for held in self._viewing.feed.subscriptions[:MOST_COMPARED]:
            try:
                explained = await self._viewing.api.explain(arrival.event, held.text)
            except LikewiseError:
                continue  # the subscription ended meanwhile, or its kind cannot be explained with this event
            found.append((_nearness(explained), held, explained))
        found.sort(key=lambda each: -each[0])
        self._body.clear()
        with self._body:
            self._event(arrival)
            if not found:
                ui.label("There is no subscription to compare it with.").classes("lw-soft")
            else:
                ui.label("Compared with the subscriptions held, the nearest first:").classes("lw-soft")
            with ui.column().classes("w-full gap-0"):
                for _, held, explained in found:
                    self._compared(arrival, held, explained)

    def _compared(self, arrival: Arrival, held: HeldSubscription, explained: Explanation) -> None:
        with ui.item(on_click=lambda: self._one(arrival, held)).classes("lw-row"):
            ui.html(
                f"<div class='lw-head'>{_badge(explained)}"
                f"<span class='lw-name'>{escape(held.id)}</span><code>{escape(held.text)}</code></div>"
                f"<div class='lw-line'>{escape(VERDICTS[explained.verdict])} {escape(explained.change)}</div>",
                sanitize=False,
            )

    def _event(self, arrival: Arrival) -> None:
        ui.html(
            f"<div class='lw-soft'>The event of <b>{escape(arrival.source)}</b> says</div>"
            f"<div class='lw-line'>{escape(event_line(arrival.event, 600))}</div>",
            sanitize=False,
        )

    async def _one(self, arrival: Arrival, held: HeldSubscription) -> None:
        self._body.clear()
        with self._body:
            self._event(arrival)
            ui.html(
                f"<div class='lw-soft'><b>{escape(held.subscriber)}</b> asks, as <b>{escape(held.id)}</b></div>"
                f"<code>{escape(held.text)}</code>",
                sanitize=False,
            )
            verdict = ui.column().classes("w-full gap-1")
            self._themes(arrival, held, verdict)
            picture = ui.column().classes("w-full gap-2").mark("picture")
            self._thumbs(arrival, held)
        whole = await self._draw(arrival.event, held.text, verdict, picture, held=(held.subscriber, held.id))
        self._redraw = lambda event, text: self._draw(
            event, text, verdict, picture, before=None if (event, text) == (arrival.event, held.text) else whole
        )

    async def _draw(
        self,
        event: dict[str, object],
        text: str,
        verdict: ui.column,
        picture: ui.column,
        held: tuple[str, str] | None = None,
        before: float | None = None,
    ) -> float:
        """Draw the verdict and the picture; the score. `before` is the score with every theme."""
        api = self._viewing.api
        try:
            explained = await (api.explain_held(event, *held) if held else api.explain(event, text))
        except LikewiseError:  # the event or the subscription is gone; the words are still here
            explained = await api.explain(event, text)
        grid = await self._viewing.ask(api.grid(event, text))
        verdict.clear()
        with verdict:
            _verdict(explained, "" if before is None else f"({before:.2f} with all themes)")
        picture.clear()
        with picture:
            if grid is not None and grid.predicates:
                drawn = f"<div class='lw-pictures'>{mapping_picture(grid)}{heat_map(grid)}</div>"
                ui.html(drawn, sanitize=False).classes("w-full")
                ui.label(
                    "Darker is more similar; ✓ marks the chosen mapping. Hatched, as (0.70): the name is related, "
                    "but the value does not hold. The score is the geometric mean over the relaxed parts (~)."
                ).classes("lw-soft")
            _notes(explained)
        return explained.score

    def _themes(self, arrival: Arrival, held: HeldSubscription, verdict: ui.column) -> None:
        """A switch for each theme tag of both sides; the picture follows."""
        subscription = parse(held.text)
        themes = subscription.themes
        asked, seen = list(themes), arrival.themes
        if not asked and not seen:
            return
        off: set[tuple[str, str]] = set()

        async def switch(side: str, tag: str, on: bool) -> None:
            (off.discard if on else off.add)((side, tag))
            kept = tuple(t for t in asked if ("asked", t) not in off)
            text = (
                subscription_text(msgspec.structs.replace(subscription, themes=kept)) if kept != themes else held.text
            )
            event = {**arrival.event, "themes": [t for t in seen if ("seen", t) not in off]}
            assert self._redraw is not None
            await self._redraw(event, text)

        with ui.row().classes("items-center gap-1 w-full").mark("themes"):
            ui.label("Themes:").classes("lw-soft")
            for side, tags, whose in (("asked", asked, "the subscription's"), ("seen", seen, "the event's")):
                for tag in tags:
                    ui.switch(
                        f"{tag} ({whose})",
                        value=True,
                        on_change=lambda e, s=side, t=tag: switch(s, t, e.value),
                    ).props("dense").classes("q-mr-sm")

    def _thumbs(self, arrival: Arrival, held: HeldSubscription) -> None:
        async def judge(relevant: bool) -> None:
            api = self._viewing.api
            judged = await self._viewing.ask(api.feedback(arrival.event, held.subscriber, held.id, relevant))
            if judged is None:
                return
            pairs = ", ".join(f"{pair.asked} / {pair.seen}" for pair in judged.pairs) or "no pair of words"
            ui.notify(f"Learnt: {pairs} {'belong' if relevant else 'do not belong'} together.", type="positive")
            said.set_text(f"You said {'yes' if relevant else 'no'}; this moved: {pairs}.")
            assert self._redraw is not None
            await self._redraw(arrival.event, held.text)

        with ui.row().classes("items-center gap-2"):
            ui.label("Was this what the subscription means?")
            ui.button(icon="thumb_up", on_click=lambda: judge(True)).props(
                "flat round dense color=positive aria-label='Yes, it is meant'"
            )
            ui.button(icon="thumb_down", on_click=lambda: judge(False)).props(
                "flat round dense color=negative aria-label='No, it is not meant'"
            )
            said = ui.label("").classes("lw-soft").mark("judged")


def _nearness(explained: Explanation) -> float:
    """How near an event comes to a subscription, for ordering: matches first, then by score and attribute."""
    best = sum(report.attribute_relatedness for report in explained.predicates) / max(1, len(explained.predicates))
    if explained.verdict == "match":
        return 2.0 + explained.score
    return best / 10 + (explained.score if explained.verdict == "below_threshold" else 0.0)


def _badge(explained: Explanation) -> str:
    """The score, coloured by what it led to; where a part that must hold does not, there is none."""
    if explained.verdict in ("match", "not_in_top_k"):
        return score_badge(explained.score, "" if explained.verdict == "match" else "miss")
    return score_badge(explained.score, "miss") if explained.verdict == "below_threshold" else score_badge(None, "no")


def _verdict(explained: Explanation, beside: str = "") -> None:
    match = explained.verdict == "match"
    threshold = "" if explained.threshold is None else f"<span class='lw-soft'>needs {explained.threshold:.2f}</span>"
    style = "lw-good" if match else "lw-nearly"
    ui.html(
        f"<div class='lw-head' style='display:flex;gap:8px;align-items:baseline;flex-wrap:wrap'>"
        f"{_badge(explained)}{threshold}<b class='{style}'>"
        f"{escape(VERDICTS[explained.verdict])}</b>{f'<span>{escape(beside)}</span>' if beside else ''}</div>"
        f"<div class='lw-line'>{escape(explained.change)}</div>",
        sanitize=False,
    )


def _notes(explained: Explanation) -> None:
    rows = []
    for report in explained.predicates:
        evidence = ", ".join(f"{name} {score:.2f}" for name, score in report.evidence)
        notes = "<br>".join(escape(note) for note in (*report.notes, *([evidence] if evidence else [])))
        if notes:
            rows.append(f"<tr><th scope='row'><code>{escape(report.text)}</code></th><td>{notes}</td></tr>")
    if rows:
        ui.html(table("".join(rows)), sanitize=False).classes("w-full")

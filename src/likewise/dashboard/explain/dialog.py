"""The explanation of a match or a near miss, as a picture, with themes to switch and thumbs to give.

An event against the subscriptions held: what it meets, and what it misses by how much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from typing import Final

import msgspec
from nicegui import ui
from nicegui.events import GenericEventArguments

from likewise.api.live_views import Arrival
from likewise.api.queries import Grid
from likewise.api.subscriptions import SubscriptionDetails
from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.explain.evidence import draw_evidence
from likewise.dashboard.history.trace import draw_trace
from likewise.dashboard.labels import code_html, event_line
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import data_table, html, icon_button, score_badge, table
from likewise.errors import LikewiseError
from likewise.language import parse, subscription_text
from likewise.model import Condition, Explanation, Mapping, Predicate
from likewise.model.rendering import explanation_sentences
from likewise.model.text import fold, without_denials

MOST_COMPARED: Final = 100  # subscriptions an event is compared with in one go; the filter reaches the others
AT_ONCE: Final = 8  # questions under way at the same time
MAPPINGS: Final = 5  # the best mappings listed below the picture


class SubscriptionComparison:
    """The list of subscriptions, the nearest first; choosing one opens its explanation."""

    def __init__(self, viewing: PageState, arrival: Arrival) -> None:
        self._viewing = viewing
        self._arrival = arrival
        self._round = 0
        self._told = ui.label("").classes("lw-soft").mark("compared")
        self._filter: ui.input | None = None
        if len(viewing.feed.subscriptions) > MOST_COMPARED:
            self._filter = (
                ui.input("Only those with these words in name or text", on_change=self.show)
                .props("dense outlined clearable debounce=400")
                .classes("w-full")
            )
        self._rows = ui.column().classes("w-full gap-0").props("role=list")

    async def show(self) -> None:
        """Compare, and list what came of it."""
        self._round += 1
        mine = self._round
        subscriptions = self._viewing.feed.subscriptions
        words = (self._filter.value or "") if self._filter is not None else ""
        fitting = filter_subscriptions(subscriptions, words, self._viewing.feed.matches_at(self._arrival.position))
        some = fitting[:MOST_COMPARED]
        with self._rows:
            waiting = ui.spinner()
        gate = asyncio.Semaphore(AT_ONCE)
        answers = await asyncio.gather(*(self._one(gate, each) for each in some))
        if mine != self._round or self._rows.is_deleted:
            return  # another question was asked meanwhile, or the dialog was closed
        waiting.delete()
        explained = [
            (each, answer) for each, answer in zip(some, answers, strict=True) if isinstance(answer, Explanation)
        ]
        refused = [answer for answer in answers if isinstance(answer, LikewiseError)]
        explained.sort(key=lambda pair: -nearness(pair[1]))
        self._told.set_text(coverage_text(len(explained), len(fitting), len(subscriptions), bool(words.strip())))
        self._rows.clear()
        with self._rows:
            for each, answer in explained:
                self._row(each, answer)
            if refused:
                ui.label(f"{len(refused)} could not be compared: {refused[0]}").classes("lw-bad")

    async def _one(self, gate: asyncio.Semaphore, subscription: SubscriptionDetails) -> Explanation | LikewiseError:
        async with gate:
            try:
                return await self._viewing.api.explain(self._arrival.event, subscription.text)
            except LikewiseError as error:
                return error

    def _row(self, subscription: SubscriptionDetails, explained: Explanation) -> None:
        with self._viewing.row(self._arrival, subscription.subscriber, subscription.id, tab=self._viewing.address.tab):
            html(
                f"<div class='lw-head'>{verdict_badge(explained)}"
                f"<span class='lw-name'>{escape(subscription.id)}</span><code>{escape(subscription.text)}</code></div>"
                f"<div class='lw-line'>{code_html(' '.join(explanation_sentences(explained)))}</div>"
            )


def filter_subscriptions(
    subscriptions: Sequence[SubscriptionDetails], text: str, matched: frozenset[tuple[str, str]]
) -> list[SubscriptionDetails]:
    """Return the subscriptions that contain every word, those that the event matched first.

    >>> some = [SubscriptionDetails("me", id, f"{{{id} > 1}}", "exact", 0) for id in ("warm", "loud")]
    >>> [each.id for each in filter_subscriptions(some, "", frozenset({("me", "loud")}))]
    ['loud', 'warm']
    >>> [each.id for each in filter_subscriptions(some, "WARM", frozenset())]
    ['warm']
    """
    words = text.casefold().split()
    fitting = [s for s in subscriptions if all(word in f"{s.subscriber} {s.id} {s.text}".casefold() for word in words)]
    return sorted(fitting, key=lambda s: (s.subscriber, s.id) not in matched)


def coverage_text(compared: int, fitting: int, total: int, filtered: bool) -> str:
    """Describe how many subscriptions the list covers.

    >>> coverage_text(9, 9, 9, False)
    'Compared with all 9 subscriptions held, the nearest first:'
    >>> coverage_text(100, 2340, 2340, False)
    'Compared with 100 of the 2,340 subscriptions held, the nearest of them first; the filter reaches the others:'
    >>> coverage_text(3, 3, 2340, True)
    'Compared with the 3 of 2,340 subscriptions that have these words, the nearest first:'
    """
    if not total:
        return "There is no subscription to compare it with."
    if filtered and compared >= fitting:
        return f"Compared with the {fitting:,} of {total:,} subscriptions that have these words, the nearest first:"
    if filtered:
        return f"Compared with {compared:,} of the {fitting:,} that have these words, the nearest of them first:"
    if compared >= total:
        every = "the one subscription" if total == 1 else f"all {total:,} subscriptions"
        return f"Compared with {every} held, the nearest first:"
    if fitting <= MOST_COMPARED:
        return f"Compared with {compared:,} of the {total:,} subscriptions held, the nearest of them first:"
    return (
        f"Compared with {compared:,} of the {total:,} subscriptions held, the nearest of them first; "
        "the filter reaches the others:"
    )


def nearness(explained: Explanation) -> float:
    """Return how near an event comes to a subscription, for sorting: matches first, then by score and attribute."""
    best = sum(report.attribute_relatedness for report in explained.predicates) / max(1, len(explained.predicates))
    if explained.verdict == "match":
        return 2.0 + explained.score
    return best / 10 + (explained.score if explained.verdict == "below_threshold" else 0.0)


def verdict_badge(explained: Explanation) -> str:
    """Return the score, coloured by the verdict; none where an exact predicate fails."""
    if explained.verdict in ("match", "not_in_top_k"):
        return score_badge(explained.score, "" if explained.verdict == "match" else "miss")
    return score_badge(explained.score, "miss") if explained.verdict == "below_threshold" else score_badge(None, "no")


Redraw = Callable[[dict[str, object], str], Awaitable[float]]


class ExplanationDialog:
    """One dialog for each page; `open` fills it."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._redraw: Redraw | None = None
        self._dialog = ui.dialog().props("aria-label='Explanation'")
        self._dialog.on_value_change(self._closed)
        with self._dialog, ui.card().classes("w-full").style("max-width: 980px; background: var(--panel)"):
            with ui.row().classes("items-center w-full no-wrap"):
                self._title = html()
                ui.space()
                icon_button("link", "Copy the address", self._copy)
                icon_button("close", "Close", self._dialog.close)
            self._body = ui.column().classes("w-full gap-3").mark("explanation")

    def close(self) -> None:
        """Close it, whatever it shows."""
        self._dialog.close()

    def _closed(self) -> None:
        if not self._dialog.value:
            self._viewing.move(self._viewing.address.without_event)

    def _copy(self) -> None:
        ui.run_javascript("navigator.clipboard.writeText(location.href)")
        ui.notify("The address is copied", position="top")

    async def open(self, address: PageAddress, arrival: Arrival | None = None) -> None:
        """Explain an event against a subscription; without one, against the subscriptions it comes nearest to."""
        self._viewing.move(address)
        compares = bool(address.subscription or address.text)
        self._title.set_content(f"<h2 class='lw-title lw-large'>{'Why?' if compares else 'What meets this?'}</h2>")
        self._body.clear()
        with self._body:
            ui.spinner(size="lg")
        self._dialog.open()
        try:
            arrival = arrival or self._viewing.feed.find(address.event, address.source or None)
            arrival = arrival or await self._viewing.api.event(address.event, address.source)
        except LikewiseError as error:
            self._show_message(f"This event is not stored any more, or never was: {error}.")
            return
        if address.text:
            await self._one(arrival, SubscriptionDetails("", "", address.text, parse(address.text).kind, 0))
            return
        if not address.subscription:
            self._body.clear()
            with self._body:
                self._event(arrival)
                compared = SubscriptionComparison(self._viewing, arrival)
            await compared.show()
            return
        if (subscription := await self._find_subscription(address.subscriber, address.subscription)) is None:
            await self._explain_ended(arrival, address)
        else:
            await self._one(arrival, subscription)

    async def _find_subscription(self, subscriber: str, id: str) -> SubscriptionDetails | None:
        """Find a stored subscription; refresh the feed once if it is not there."""
        for look_again in (False, True):
            if look_again:
                await self._viewing.feed.refresh()
            for subscription in self._viewing.feed.subscriptions:
                if (subscription.subscriber, subscription.id) == (subscriber, id):
                    return subscription
        return None

    async def _explain_ended(self, arrival: Arrival, address: PageAddress) -> None:
        """Explain an event against a subscription that has ended: what became of it, and how its text compares now."""
        self._show_message(f"The subscription {address.subscription} of {address.subscriber} has ended.")
        about = (arrival.id, arrival.source, address.subscriber, address.subscription)
        trace = await draw_trace(self._viewing, self._body, *about)
        if trace is not None and trace.text:
            await self._one(arrival, SubscriptionDetails("", "", trace.text, parse(trace.text).kind, 0))
            with self._body:
                ui.label(f"The subscription {address.subscription} of {address.subscriber} has ended.").classes(
                    "lw-soft"
                )
            await draw_trace(self._viewing, self._body, *about)

    def _show_message(self, text: str) -> None:
        self._body.clear()
        with self._body:
            ui.label(text).classes("lw-nearly")

    def _event(self, arrival: Arrival) -> None:
        html(
            f"<div class='lw-soft'>At {clock(arrival.arrival)} <b>{escape(arrival.source or arrival.id)}</b> said</div>"
            f"<div class='lw-line'>{escape(event_line(arrival.event, 600))}</div>"
        )

    async def _one(self, arrival: Arrival, subscription: SubscriptionDetails) -> None:
        self._body.clear()
        with self._body:
            self._event(arrival)
            who = (
                f"<b>{escape(subscription.subscriber)}</b> asks, as <b>{escape(subscription.id)}</b>"
                if subscription.id
                else "You ask"
            )
            html(f"<div class='lw-soft'>{who}</div><code>{escape(subscription.text)}</code>")
            verdict = ui.column().classes("w-full gap-1")
            then = ui.column().classes("w-full gap-1")
            self._themes(arrival, subscription)
            picture = ui.column().classes("w-full gap-2").mark("picture")
            with picture:
                ui.spinner()
            if subscription.id:
                self._thumbs(arrival, subscription)
        known = (subscription.subscriber, subscription.id) if subscription.id else None
        whole = await self._draw(arrival.event, subscription.text, verdict, picture, stored=known)
        if known is not None:
            await draw_trace(self._viewing, then, arrival.id, arrival.source, *known)
        self._redraw = lambda event, text: self._draw(
            event, text, verdict, picture, before=None if (event, text) == (arrival.event, subscription.text) else whole
        )

    async def _draw(
        self,
        event: dict[str, object],
        text: str,
        verdict: ui.column,
        picture: ui.column,
        stored: tuple[str, str] | None = None,
        before: float | None = None,
    ) -> float:
        """Draw the verdict and the picture; the score. `before` is the score with every theme."""
        api = self._viewing.api
        best = MAPPINGS if isinstance(parse(text).body, Condition) else 0
        try:
            explained: Explanation | None = await (
                api.explain_stored(event, *stored, best) if stored else api.explain(event, text, best)
            )
        except LikewiseError:  # the event or the subscription is gone; the words are still here
            explained = await self._viewing.ask(api.explain(event, text, best))
        grid = await self._viewing.ask(api.grid(event, text)) if explained is not None else None
        if verdict.is_deleted:
            return 0.0  # another explanation was opened meanwhile
        verdict.clear()
        picture.clear()
        if explained is None:
            return 0.0
        with verdict:
            _verdict(explained, "" if before is None else f"({before:.2f} with all themes)")
        with picture:
            if grid is not None and grid.predicates:
                self._picture(event, text, grid)
                if len(explained.mappings) > 1:
                    html(mappings_table(explained.mappings, grid.tuples)).classes("w-full").mark("mappings")
            _notes(explained)
            self._denials(event, text, explained)
        return explained.score

    def _denials(self, event: dict[str, object], text: str, explained: Explanation) -> None:
        """Draw a button for each name that met a relaxed one, which ends that match for the device's model."""
        source = event.get("source")
        for report in explained.predicates if isinstance(source, str) else ():
            asked, name = _attribute_of(report.text), without_denials(report.attribute)[0]
            if report.verdict != "match" or report.negated or not name or fold(asked) == fold(name):
                continue

            async def deny(asked: str = asked, name: str = name, source: str = str(source)) -> None:
                api = self._viewing.api
                known = await self._viewing.ask(api.source(source))
                model = "" if known is None else known.model
                of, whose = ("model", model) if model else ("source", source)
                if await self._viewing.ask(api.correct(name, of, whose, "", "", [asked])) is not None:
                    ui.notify(f"{name} of {of} {whose} is not {asked}.", type="positive", position="top")
                    assert self._redraw is not None
                    await self._redraw(event, text)

            ui.button(f"{name} is not {asked}", on_click=deny).props("flat no-caps dense").mark("deny")

    def _picture(self, event: dict[str, object], text: str, grid: Grid) -> None:
        drawn = html(f"<div class='lw-pictures'>{mapping_picture(grid)}{heat_map(grid)}</div>").classes("w-full")
        ui.label(
            "The bluer, the more alike; ✓ marks the reading that was taken. Hatched, such as (0.70): the name fits, "
            "the value does not. Choose a cell to see what is behind it."
        ).classes("lw-soft")
        behind = ui.column().classes("w-full gap-1").mark("behind").props("aria-live=polite")

        async def choose(e: GenericEventArguments) -> None:
            predicate, item = (int(part) for part in str(e.args).split(","))
            attribute, event_attribute = _attribute_of(grid.predicates[predicate]), _attribute_in(event, item)
            mine = event.get("themes")
            themes = [str(tag) for tag in mine] if isinstance(mine, list) else []
            evidence = await self._viewing.ask(
                self._viewing.api.evidence(attribute, event_attribute, parse(text).themes, themes)
            )
            if behind.is_deleted:
                return
            behind.clear()
            with behind:
                ui.label(cell_text(grid, predicate, item)).classes("text-bold")
                if evidence is not None:
                    draw_evidence(attribute, event_attribute, evidence)

        drawn.on("click", choose, js_handler=CHOOSE).on("keydown", js_handler=MOVE_BY_ARROWS)

    def _themes(self, arrival: Arrival, stored: SubscriptionDetails) -> None:
        """Draw a switch for each theme tag of both sides; the picture follows."""
        subscription = parse(stored.text)
        themes = subscription.themes
        subscription_themes, event_themes = list(themes), arrival.themes
        if not subscription_themes and not event_themes:
            return
        off: set[tuple[str, str]] = set()

        async def switch(side: str, tag: str, on: bool) -> None:
            (off.discard if on else off.add)((side, tag))
            remaining = tuple(t for t in subscription_themes if ("asked", t) not in off)
            text = (
                subscription_text(msgspec.structs.replace(subscription, themes=remaining))
                if remaining != themes
                else stored.text
            )
            event = {**arrival.event, "themes": [t for t in event_themes if ("seen", t) not in off]}
            assert self._redraw is not None
            await self._redraw(event, text)

        with ui.row().classes("items-center gap-1 w-full").mark("themes"):
            ui.label("Themes:").classes("lw-soft")
            for side, tags, whose in (
                ("asked", subscription_themes, "the subscription's"),
                ("seen", event_themes, "the event's"),
            ):
                for tag in tags:
                    ui.switch(
                        f"{tag} ({whose})",
                        value=True,
                        on_change=lambda e, s=side, t=tag: switch(s, t, e.value),
                    ).props("dense").classes("q-mr-sm")

    def _thumbs(self, arrival: Arrival, subscription: SubscriptionDetails) -> None:
        async def judge(relevant: bool) -> None:
            api = self._viewing.api
            judged = await self._viewing.ask(
                api.feedback(arrival.event, subscription.subscriber, subscription.id, relevant)
            )
            if judged is None:
                return
            pairs = ", ".join(f"{pair.asked} / {pair.seen}" for pair in judged.pairs) or "no pair of words"
            learnt = "belong together" if relevant else "do not belong together"
            status.set_text(f"You said {'yes' if relevant else 'no'}; learnt that these {learnt}: {pairs}.")
            assert self._redraw is not None
            await self._redraw(arrival.event, subscription.text)

        with ui.row().classes("items-center gap-2"):
            ui.label("Was this what the subscription means?")
            icon_button("thumb_up", "Yes, it is meant", lambda: judge(True), "color=positive")
            icon_button("thumb_down", "No, it is not meant", lambda: judge(False), "color=negative")
            status = ui.label("").classes("lw-soft").mark("judged").props("role=status")


def _verdict(explained: Explanation, note: str = "") -> None:
    match = explained.verdict == "match"
    threshold = "" if explained.threshold is None else f"<span class='lw-soft'>needs {explained.threshold:.2f}</span>"
    style = "lw-good" if match else "lw-nearly"
    first, second = explanation_sentences(explained)
    html(
        f"<div class='lw-head' style='display:flex;gap:8px;align-items:baseline;flex-wrap:wrap'>"
        f"{verdict_badge(explained)}{threshold}"
        f"<b class='{style}'>{code_html(first)}</b>{f'<span>{escape(note)}</span>' if note else ''}</div>"
        f"<div class='lw-line'>{code_html(second)}</div>"
    )


def mappings_table(mappings: Sequence[Mapping], tuples: Sequence[str]) -> str:
    """Return a table of the best mappings: each with the tuples it takes, its score and its probability.

    >>> from likewise.model.mapping import Correspondence
    >>> one = Mapping((Correspondence(0, 1, 1.0, 0.5, 0.5),), 0.5, 0.5, 0.625)
    >>> "<td class='lw-n'>62.5 %</td>" in mappings_table([one], ["t: 3", "u: 4"])
    True
    """
    rows = []
    for rank, mapping in enumerate(mappings, 1):
        chosen = "<br>".join(escape(tuples[each.tuple]) for each in mapping.correspondences)
        rows.append([str(rank), chosen, f"{mapping.score:.2f}", f"{100 * mapping.probability:.3g} %"])
    columns = [("rank", "lw-n"), ("mapping to these readings", ""), ("score", "lw-n"), ("probability", "lw-n")]
    return data_table(columns, rows)


def _notes(explained: Explanation) -> None:
    rows = []
    for report in explained.predicates:
        evidence = _measure_scores(report.evidence)
        notes = "<br>".join(escape(note) for note in (*report.notes, *([evidence] if evidence else [])))
        if notes:
            rows.append(f"<tr><th scope='row'><code>{escape(report.text)}</code></th><td>{notes}</td></tr>")
    if rows:
        html(table("".join(rows))).classes("w-full")


def _measure_scores(evidence: Sequence[tuple[str, float]]) -> str:
    """Describe the score of each measure, for the attribute and for the value.

    >>> _measure_scores([("attribute esa", 0.11), ("attribute names", 0.58)])
    'attribute, by measure: esa 0.11 · names 0.58'
    """
    parts: dict[str, list[str]] = {}
    for name, score in evidence:
        part, _, measure = name.rpartition(" ")
        parts.setdefault(part, []).append(f"{measure} {score:.2f}")
    return "; ".join(f"{f'{part}, ' if part else ''}by measure: {' · '.join(scores)}" for part, scores in parts.items())


def _attribute_of(text: str) -> str:
    """Return the attribute of a predicate, from its text.

    >>> _attribute_of("wind speed~ > 20 km/h")
    'wind speed'
    """
    body = parse("{" + text + "}").body
    item = body.items[0] if isinstance(body, Condition) else None
    return item.attribute if isinstance(item, Predicate) else text


def _attribute_in(event: dict[str, object], item: int) -> str:
    """Return the attribute of a tuple of an event, by its index.

    >>> _attribute_in({"tuples": [{"attribute": "no2", "value": 45}]}, 0)
    'no2'
    """
    items = event.get("tuples")
    return str(items[item].get("attribute", "")) if isinstance(items, list) and item < len(items) else ""


MOST_TUPLES: Final = 30  # rows drawn; the best ones are kept
DEEP: Final = 0.8  # from this similarity on, a cell is so strongly coloured that its text changes colour
LONGEST: Final = 34  # characters shown in a box of the mapping
_ROW, _GAP = 34, 80
_LETTER, _MARGIN = 7.2, 20  # the width of a letter, and what a box has beside its text


def _order(grid: Grid) -> list[int]:
    """Return the indices of the tuples to draw, in their order; of many, those nearest to some predicate."""
    best = [
        max((grid.attribute[p][t] for p in range(len(grid.predicates))), default=0) for t in range(len(grid.tuples))
    ]
    chosen = set(grid.chosen)
    shown = sorted(range(len(best)), key=lambda t: (t not in chosen, -best[t]))[:MOST_TUPLES]
    return sorted(shown)


def heat_map(grid: Grid) -> str:
    """Return an HTML table: a row a tuple, a column a predicate, each cell as blue as the two are similar.

    >>> '0.50' in heat_map(Grid(("t > 1",), ("t: 3",), ((0.5,),), ((1.0,),), (0,), 0.5))
    True
    """
    heads = "".join(f'<th scope="col"><code>{escape(text)}</code></th>' for text in grid.predicates)
    rows = []
    for item in _order(grid):
        cells = "".join(_cell(grid, predicate, item) for predicate in range(len(grid.predicates)))
        rows.append(f'<tr><th scope="row">{escape(grid.tuples[item])}</th>{cells}</tr>')
    drawn = "".join(rows).replace('tabindex="-1"', 'tabindex="0"', 1)  # where the tab key comes in
    left_out = len(grid.tuples) - len(rows)
    note = f"<caption>{left_out} further readings come less near.</caption>" if left_out else ""
    return (
        f'<div class="lw-scroll"><table class="lw-heat">{note}<thead><tr><td></td>{heads}</tr></thead>'
        f"<tbody>{drawn}</tbody></table></div>"
    )


def _cell(grid: Grid, predicate: int, item: int) -> str:
    chosen = grid.chosen[predicate] == item
    attribute, both = grid.attribute[predicate][item], grid.similarity(predicate, item)
    mark = '<span class="lw-mark" aria-hidden="true">✓</span>' if chosen else ""
    # A related attribute whose value does not hold is shown hatched: it came near.
    near = " lw-near" if both == 0 and attribute >= 0.05 else ""
    shown = attribute if near else both
    deep = " lw-deep" if not near and shown >= DEEP else ""
    label = escape(cell_text(grid, predicate, item))
    return (
        f'<td class="lw-cell{" lw-chosen" if chosen else ""}{near}{deep}" style="--v:{shown:.3f}">'
        f'<button type="button" data-cell="{predicate},{item}" tabindex="-1" title="{label}" aria-label="{label}">'
        f"{f'({attribute:.2f})' if near else f'{both:.2f}' if both >= 0.005 else '·'}{mark}</button></td>"
    )


def cell_text(grid: Grid, predicate: int, item: int) -> str:
    """Describe a cell in words.

    >>> cell_text(Grid(("t > 1",), ("t: 3",), ((0.5,),), ((1.0,),), (0,), 0.5), 0, 0)
    't > 1 against t: 3: name 0.50 × value 1.00 (taken)'
    """
    attribute, value = grid.attribute[predicate][item], grid.value[predicate][item]
    chosen = " (taken)" if grid.chosen[predicate] == item else ""
    what = f"{grid.predicates[predicate]} against {grid.tuples[item]}"
    return f"{what}: name {attribute:.2f} × value {value:.2f}{chosen}"


# One stop of the tab key for the whole map; arrows, Home and End move within, as in any grid.
MOVE_BY_ARROWS: Final = """(e) => {
  const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[e.key];
  const cell = e.target.closest('[data-cell]');
  if (!cell || !(step || e.key === 'Home' || e.key === 'End')) return;
  e.preventDefault();
  const all = [...cell.closest('tbody').rows].map(row => [...row.querySelectorAll('[data-cell]')]);
  let row = all.findIndex(cells => cells.includes(cell)), column = all[row].indexOf(cell);
  if (step) { row += step[0]; column += step[1]; }
  else { row = e.key === 'Home' ? 0 : all.length - 1; }
  const next = all[row] && all[row][column];
  if (!next) return;
  cell.tabIndex = -1; next.tabIndex = 0; next.focus();
}"""
CHOOSE: Final = "(e) => { const cell = e.target.closest('[data-cell]'); if (cell) emit(cell.dataset.cell); }"


def mapping_picture(grid: Grid) -> str:
    """Return an SVG: predicates left, tuples right, and a link for each pair, as thick as it is similar.

    >>> mapping_picture(Grid(("t > 1",), ("t: 3",), ((0.5,),), ((1.0,),), (0,), 0.5)).count("<path")
    1
    """
    shown = [t for t in _order(grid) if any(grid.attribute[p][t] > 0.05 for p in range(len(grid.predicates)))][:14]
    rows = max(len(grid.predicates), len(shown), 1)
    predicate_width, tuple_width = _width(grid.predicates), _width([grid.tuples[t] for t in shown])
    height, width = rows * _ROW + 12, predicate_width + _GAP + tuple_width
    left = [_middle(i, len(grid.predicates), rows) for i in range(len(grid.predicates))]
    right = [_middle(i, len(shown), rows) for i in range(len(shown))]
    drawn = []
    for predicate, y in enumerate(left):
        for place, item in enumerate(shown):
            both, chosen = grid.similarity(predicate, item), grid.chosen[predicate] == item
            if both > 0.05 or chosen:
                drawn.append(_link(predicate_width, y, right[place], both, chosen))
    drawn += [_box(0, y, predicate_width, text, "lw-asked") for y, text in zip(left, grid.predicates, strict=True)]
    drawn += [
        _box(predicate_width + _GAP, y, tuple_width, grid.tuples[t], "lw-seen")
        for y, t in zip(right, shown, strict=True)
    ]
    return (
        f'<svg class="lw-map" width="{width}" viewBox="-1 0 {width + 2} {height}" role="img" '
        f'aria-label="{escape(_mapping_label(grid))}">'
        f"{''.join(drawn)}</svg>"
    )


def _mapping_label(grid: Grid) -> str:
    pairs = [
        f"{grid.predicates[p]} is answered by {grid.tuples[t]}" for p, t in enumerate(grid.chosen) if t is not None
    ]
    return "; ".join(pairs) or "no mapping was found"


def _middle(index: int, count: int, rows: int) -> float:
    return 6 + (rows - count) * _ROW / 2 + index * _ROW + _ROW / 2


def _width(texts: Sequence[str]) -> int:
    """Return the width of boxes that contain some texts."""
    return _MARGIN + round(_LETTER * min(LONGEST, max(map(len, texts), default=0)))


def _link(a: float, y: float, z: float, both: float, chosen: bool) -> str:
    b = a + _GAP
    bend = _GAP / 2
    return (
        f'<path class="lw-link{" lw-chosen" if chosen else ""}" d="M{a} {y} C{a + bend} {y} {b - bend} {z} {b} {z}" '
        f'stroke-width="{1 + 6 * both:.1f}"><title>{both:.2f}</title></path>'
    )


def _box(x: float, y: float, width: float, text: str, kind: str) -> str:
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return (
        f'<g class="{kind}"><rect x="{x}" y="{y - 13}" width="{width}" height="26" rx="6"/>'
        f'<text x="{x + 9}" y="{y + 4}">{escape(short)}<title>{escape(text)}</title></text></g>'
    )

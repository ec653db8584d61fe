"""An event against the subscriptions held: what it meets, and what it misses by how much."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from html import escape
from typing import Final

from nicegui import ui

from likewise.api.live_views import Arrival
from likewise.api.subscriptions import SubscriptionShown
from likewise.dashboard.labels import verdict_sentence
from likewise.dashboard.theme import score_badge
from likewise.dashboard.view_state import Viewing
from likewise.errors import LikewiseError
from likewise.model import Explanation

MOST_COMPARED: Final = 100  # subscriptions an event is compared with in one go; the filter reaches the others
AT_ONCE: Final = 8  # questions under way at the same time


class Comparison:
    """The list of subscriptions, the nearest first; choosing one opens its explanation."""

    def __init__(self, viewing: Viewing, arrival: Arrival) -> None:
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
        held = self._viewing.feed.subscriptions
        wanted = (self._filter.value or "") if self._filter is not None else ""
        fitting = in_order(held, wanted, self._viewing.feed.met_at(self._arrival.position))
        some = fitting[:MOST_COMPARED]
        with self._rows:
            waiting = ui.spinner()
        gate = asyncio.Semaphore(AT_ONCE)
        answers = await asyncio.gather(*(self._one(gate, each) for each in some))
        if mine != self._round or self._rows.is_deleted:
            return  # another question was asked meanwhile, or the dialog was closed
        waiting.delete()
        found = [(each, said) for each, said in zip(some, answers, strict=True) if isinstance(said, Explanation)]
        refused = [said for said in answers if isinstance(said, LikewiseError)]
        found.sort(key=lambda pair: -nearness(pair[1]))
        self._told.set_text(how_many(len(found), len(fitting), len(held), bool(wanted.strip())))
        self._rows.clear()
        with self._rows:
            for each, said in found:
                self._row(each, said)
            if refused:
                ui.label(f"{len(refused)} could not be compared: {refused[0]}").classes("lw-bad")

    async def _one(self, gate: asyncio.Semaphore, held: SubscriptionShown) -> Explanation | LikewiseError:
        async with gate:
            try:
                return await self._viewing.api.explain(self._arrival.event, held.text)
            except LikewiseError as error:
                return error

    def _row(self, held: SubscriptionShown, explained: Explanation) -> None:
        with self._viewing.row(self._arrival, held.subscriber, held.id, tab=self._viewing.address.tab):
            ui.html(
                f"<div class='lw-head'>{verdict_badge(explained)}"
                f"<span class='lw-name'>{escape(held.id)}</span><code>{escape(held.text)}</code></div>"
                f"<div class='lw-line'>{escape(verdict_sentence(explained.verdict))} {escape(explained.change)}</div>",
                sanitize=False,
            )


def in_order(
    held: Sequence[SubscriptionShown], wanted: str, met: frozenset[tuple[str, str]]
) -> list[SubscriptionShown]:
    """The subscriptions that hold every wanted word, those that the event met first.

    >>> some = [SubscriptionShown("me", id, f"{{{id} > 1}}", "exact", 0) for id in ("warm", "loud")]
    >>> [each.id for each in in_order(some, "", frozenset({("me", "loud")}))]
    ['loud', 'warm']
    >>> [each.id for each in in_order(some, "WARM", frozenset())]
    ['warm']
    """
    words = wanted.casefold().split()
    fitting = [s for s in held if all(word in f"{s.subscriber} {s.id} {s.text}".casefold() for word in words)]
    return sorted(fitting, key=lambda s: (s.subscriber, s.id) not in met)


def how_many(compared: int, fitting: int, held: int, filtered: bool) -> str:
    """What the list covers, said plainly.

    >>> how_many(9, 9, 9, False)
    'Compared with all 9 subscriptions held, the nearest first:'
    >>> how_many(100, 2340, 2340, False)
    'Compared with 100 of the 2,340 subscriptions held, the nearest of them first; the filter reaches the others:'
    >>> how_many(3, 3, 2340, True)
    'Compared with the 3 of 2,340 subscriptions that have these words, the nearest first:'
    """
    if not held:
        return "There is no subscription to compare it with."
    if filtered and compared >= fitting:
        return f"Compared with the {fitting:,} of {held:,} subscriptions that have these words, the nearest first:"
    if filtered:
        return f"Compared with {compared:,} of the {fitting:,} that have these words, the nearest of them first:"
    if compared >= held:
        every = "the one subscription" if held == 1 else f"all {held:,} subscriptions"
        return f"Compared with {every} held, the nearest first:"
    if fitting <= MOST_COMPARED:
        return f"Compared with {compared:,} of the {held:,} subscriptions held, the nearest of them first:"
    return (
        f"Compared with {compared:,} of the {held:,} subscriptions held, the nearest of them first; "
        "the filter reaches the others:"
    )


def nearness(explained: Explanation) -> float:
    """How near an event comes to a subscription, for ordering: matches first, then by score and attribute."""
    best = sum(report.attribute_relatedness for report in explained.predicates) / max(1, len(explained.predicates))
    if explained.verdict == "match":
        return 2.0 + explained.score
    return best / 10 + (explained.score if explained.verdict == "below_threshold" else 0.0)


def verdict_badge(explained: Explanation) -> str:
    """The score, coloured by what it led to; where a part that must hold does not, there is none."""
    if explained.verdict in ("match", "not_in_top_k"):
        return score_badge(explained.score, "" if explained.verdict == "match" else "miss")
    return score_badge(explained.score, "miss") if explained.verdict == "below_threshold" else score_badge(None, "no")

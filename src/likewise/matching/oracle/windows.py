"""All windows of the plain engine, moved step by step: arrivals, the passing of time, withdrawals.

Time is the latest moment the engine was given and never runs backwards. When it moves, expiries are
taken one after the other, so that a long step delivers what many short ones would.
"""

from __future__ import annotations

from pathlib import Path

from likewise.errors import UnknownId
from likewise.matching.engine import Ranked
from likewise.matching.reference.conditions import MetCondition
from likewise.matching.reference.scoring import rank_value
from likewise.matching.reference.window import PlainWindow, Publication, Standing, Trace
from likewise.model.event import Event
from likewise.model.match import Match
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Subscription, Top

Hits = list[tuple[int, Match]]


class PlainWindows:
    """The windows of every top-k subscription, by ordinal; `refused_late` counts events that came too late."""

    def __init__(self, lateness: int, curve: ProbabilityCurve = AS_SCORED) -> None:
        self._curve = curve
        self.lateness = lateness
        self.now: int | None = None
        self.refused_late = 0
        self._arrivals = 0
        self._windows: dict[int, PlainWindow] = {}
        self._ids: dict[int, str] = {}

    def open(self, ordinal: int, subscription: Subscription, top: Top) -> None:
        """Start an empty window."""
        self._windows[ordinal] = PlainWindow(top)
        self._ids[ordinal] = subscription.id

    def close(self, ordinal: int) -> None:
        """Forget a window, if there is one."""
        self._windows.pop(ordinal, None)
        self._ids.pop(ordinal, None)

    def enter(self, event: Event, at: int, met: list[tuple[int, MetCondition, Trace | None]]) -> tuple[Hits, Hits]:
        """An event arrives that met these subscriptions' conditions, `at` being no later than `now`.

        What it meets on arrival, and what it promotes. An event whose own time lies further back than
        the lateness takes part in no window.
        """
        arrived: Hits = []
        promoted: Hits = []
        assert self.now is not None
        if self._is_late(event, self.now):
            self.refused_late += 1
            return arrived, promoted
        sequence, self._arrivals = self._arrivals, self._arrivals + 1
        for ordinal, how, trace in met:
            window = self._windows[ordinal]
            window.insert(_publication(event, how, window.top, sequence, at, self.now), trace)
            for hit in self._deliver(ordinal, self.now, sequence):
                (arrived if hit[1].cause == "arrival" else promoted).append(hit)
        return arrived, promoted

    def _is_late(self, event: Event, now: int) -> bool:
        return event.time is not None and event.time < now - self.lateness

    def _deliver(self, ordinal: int, now: int, arriving: int | None = None) -> Hits:
        window, id = self._windows[ordinal], self._ids[ordinal]
        traces = dict(window.traces)
        return [
            (
                ordinal,
                Match(
                    p.event_id,
                    id,
                    "top",
                    p.score,
                    p.product,
                    traces.get(p.sequence),
                    (),
                    p.rank_value,
                    "arrival" if p.sequence == arriving else "promoted",
                    self._curve,
                ),
            )
            for p in window.deliver(now)
        ]

    def advance(self, now: int) -> Hits:
        """Let time pass; the promotions this causes, ordered by moment, then ordinal."""
        promoted: Hits = []
        if self.now is not None and now <= self.now:
            return promoted
        due = [(moment, ordinal) for ordinal, window in self._windows.items() for moment in window.expiries(now)]
        for moment, ordinal in sorted(due):
            promoted += self._deliver(ordinal, moment)
        self.now = now
        return promoted

    def shift(self, by: int) -> None:
        """Let time, and every publication, count as so many µs later."""
        if self.now is not None:
            self.now += by
        for window in self._windows.values():
            for publication in window.publications:
                publication.time += by

    def holds_for_long(self, event_id: str) -> bool:
        """Whether an event is in a window that no passing of time takes it out of."""
        return any(
            p.event_id == event_id and not p.withdrawn
            for window in self._windows.values()
            if window.top.duration is None
            for p in window.publications
        )

    def withdraw(self, event_id: str) -> Hits:
        """Take an event out of every window; the promotions this causes, ordered by ordinal."""
        promoted: Hits = []
        for ordinal, window in sorted(self._windows.items()):
            if window.withdraw(event_id) and self.now is not None:
                promoted += self._deliver(ordinal, self.now)
        return promoted

    def standing(self, event: Event, ordinal: int, at: int, met: MetCondition | None) -> Standing | None:
        """Where the event stands in a window, or would stand if it came now; None if it is no candidate."""
        window = self._windows[ordinal]
        now = at if self.now is None else max(self.now, at)
        if event.id is not None:
            held = [p for p in window.publications if p.event_id == event.id and not p.withdrawn]
            if held:
                return None if held[-1].rank_value is None else window.standing(held[-1], now)
        if met is None:
            return None
        if self._is_late(event, now):
            return Standing(None, None, expired=True)
        publication = _publication(event, met, window.top, self._arrivals, at, now)
        return None if publication.rank_value is None else window.standing(publication, now)

    def board(self, ordinal: int) -> list[Ranked]:
        """The k best of a window now, best first."""
        window = self._windows[ordinal]
        best = [] if self.now is None else window.candidates(self.now)[: window.top.k]
        return [
            Ranked(rank, p.event_id, p.rank_value, p.time) for rank, p in enumerate(best, 1) if p.rank_value is not None
        ]

    def save(self, folder: Path) -> None:
        """Write every window to a folder."""
        from likewise.matching.oracle.saved_windows import SavedWindows, write_windows

        held = {ordinal: window.publications for ordinal, window in self._windows.items()}
        write_windows(folder, SavedWindows(self.now, self._arrivals, held))

    def load(self, folder: Path) -> None:
        """Fill the open windows with what `save` wrote; mappings of earlier events are not kept."""
        from likewise.matching.oracle.saved_windows import read_windows

        saved = read_windows(folder)
        unknown = saved.windows.keys() - self._windows.keys()
        if unknown:
            raise UnknownId(str(min(unknown)))
        self.now, self._arrivals = saved.now, saved.arrivals
        for ordinal, publications in saved.windows.items():
            self._windows[ordinal].publications = publications


def _publication(event: Event, met: MetCondition, top: Top, sequence: int, at: int, now: int) -> Publication:
    time = min(now, at if event.time is None else event.time)  # a clock that is ahead holds no place for longer
    return Publication(sequence, time, event.id, rank_value(top.by, event, met.score), met.score, met.product)

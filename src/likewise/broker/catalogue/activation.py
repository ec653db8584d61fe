"""Who shall sense and who may rest (sources.md C, Figures 7 to 10, 14 and 15).

Only a source whose announcement says that it can be told is told: to wake at the first demand, and to rest when the
last is gone. Where all that ask for it say `from one source`, one of several that offer the same in overlapping places
is chosen; the next is started before the old one is stopped. What a source is told is an event, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from likewise.broker.catalogue.reputation import Reputation
from likewise.broker.catalogue.wanted import WantedSources
from likewise.broker.store.entries import Entry
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import StateError
from likewise.formats.wire.sources import Sense
from likewise.model import Event, Subscription, fold
from likewise.model.announcements.announcement import Announcement
from likewise.model.announcements.shown_event import source_event

HOLD: Final = 60_000_000  # µs that a chosen source is kept before another may take its place
BETTER: Final = 1.1  # how much more another must be worth
SILENT: Final = 3.0  # intervals without a reading after which another is chosen
Say = Callable[[Tenant, Event], None]


class _Chosen:
    """Which source serves a subscription that wants one, among some, and since when."""

    def __init__(self, source: str, since: int) -> None:
        self.source = source
        self.since = since


class Activation:
    """What every controllable source is told; `say` publishes it. One thread takes turns, any may ask."""

    def __init__(self, wanted: WantedSources, clock: Callable[[], int], say: Say) -> None:
        self._wanted = wanted
        self._clock = clock
        self._say = say
        self._told: dict[tuple[int, str], Sense] = {}
        self._chosen: dict[tuple[int, int], list[_Chosen]] = {}  # by tenant and subscription
        self._reputation: dict[int, Reputation] = {}
        self._since: dict[tuple[int, str], int] = {}  # since when a source is told to sense
        self._changed = threading.Condition()

    def heard(self, tenant: Tenant, entries: Iterable[Entry]) -> None:
        """Events came by: what they say about their sources' reputation."""
        announced = {source: held.announcement for source, held in list(tenant.known.announcements.items())}
        if announced:
            self._reputation.setdefault(tenant.number, Reputation()).hear(announced, entries)

    def turn(self, tenant: Tenant) -> None:
        """Tell those to whom something else is to be told now."""
        told = {source for number, source in self._told if number == tenant.number}
        if not self._wanted.bring_up_to_date(tenant) and not told:
            return
        announced = {source: held.announcement for source, held in list(tenant.known.announcements.items())}
        controllable = {source: said for source, said in announced.items() if said.controllable}
        for source in told - controllable.keys():
            del self._told[tenant.number, source]
            self._since.pop((tenant.number, source), None)
            self._reputation.setdefault(tenant.number, Reputation()).forget(source)
        asked = {source: self._wanted.wanted_by(tenant, source) for source in controllable}
        chosen = self._choose(tenant, controllable, asked)
        wake: list[Sense] = []
        rest: list[Sense] = []
        for source, said in controllable.items():
            wanting = [(n, s) for n, s in asked[source] if not s.from_one_source or (n, source) in chosen]
            kept = source in tenant.known.kept
            on = kept or bool(wanting)
            reason = "a person keeps it" if kept else "" if on else "nobody asks for it"
            if not on and asked[source]:
                reason = "another source is chosen"
            sense = Sense(source, on, 0, sensing_interval(said, [s for _, s in wanting], kept), len(wanting), reason)
            (wake if on else rest).append(sense)
        for sense in (*wake, *rest):  # the next is started before the old one is stopped
            self._tell(tenant, sense)

    def _tell(self, tenant: Tenant, sense: Sense) -> None:
        key = (tenant.number, sense.source)
        before, now = self._told.get(key), self._clock()
        if before is not None and (before.on, before.interval) == (sense.on, sense.interval):
            self._told[key] = Sense(
                sense.source, sense.on, before.version, sense.interval, sense.wanted, sense.reason
            )  # fmt: skip
            return
        version = max(now, 0 if before is None else before.version + 1)
        with self._changed:
            self._told[key] = Sense(sense.source, sense.on, version, sense.interval, sense.wanted, sense.reason)
            self._changed.notify_all()
        if sense.on:
            self._since[key] = now
        else:
            self._since.pop(key, None)
        self._say(tenant, source_event("sense on" if sense.on else "sense off", sense.source, sense.reason,
                                       sense.interval if sense.on else None))  # fmt: skip

    # -- one of several -------------------------------------------------------------------------

    def _choose(
        self, tenant: Tenant, controllable: dict[str, Announcement], asked: dict[str, list[tuple[int, Subscription]]]
    ) -> set[tuple[int, str]]:
        """The sources chosen for subscriptions that want one: by subscription and source."""
        candidates: dict[int, list[str]] = {}
        for source, wanting in asked.items():
            for number, subscription in wanting:
                if subscription.from_one_source:
                    candidates.setdefault(number, []).append(source)
        found: set[tuple[int, str]] = set()
        for number, sources in candidates.items():
            before = self._chosen.get((tenant.number, number), [])
            groups = _groups([controllable[source] for source in sorted(sources)])
            best = self._chosen[tenant.number, number] = [self._best(tenant, before, group) for group in groups]
            found.update((number, each.source) for each in best)
        for key in [key for key in self._chosen if key[0] == tenant.number and key[1] not in candidates]:
            del self._chosen[key]
        return found

    def _best(self, tenant: Tenant, chosen: list[_Chosen], group: list[Announcement]) -> _Chosen:
        """The one of a group that serves: the one that did, unless it is silent or another is clearly better."""
        now, reputation = self._clock(), self._reputation.setdefault(tenant.number, Reputation())
        worth = {each.source: reputation.worth(each, now) for each in group}
        speaking = [each for each in group if not self._silent(tenant, each, now)] or group
        best = max(speaking, key=lambda each: (worth[each.source], each.source))
        names = {each.source for each in speaking}
        before = next((each for each in chosen if each.source in names), None)
        if before is not None:
            held = now - before.since < HOLD
            if held or worth[best.source] <= BETTER * worth[before.source]:
                return before
        return _Chosen(best.source, now)

    def _silent(self, tenant: Tenant, said: Announcement, now: int) -> bool:
        """Whether a source that is told to sense has not spoken for three of its intervals."""
        since = self._since.get((tenant.number, said.source))
        if since is None or said.interval is None:
            return False
        last = self._reputation[tenant.number].last_heard(said.source)
        return now - max(since, last or 0) > SILENT * said.interval * 1e6

    # -- asking ---------------------------------------------------------------------------------

    def sense(self, tenant: Tenant, source: str, after: int = 0, wait: float = 0.0) -> Sense:
        """What a source is told; with `wait`, once its version is above `after`, for so many seconds."""
        said = tenant.known.announcement(source).announcement
        if not said.controllable:
            raise StateError(f"{source!r} did not announce that it can be told; announce it with `controllable`")
        key = (tenant.number, source)
        with self._changed:
            self._changed.wait_for(lambda: key in self._told and self._told[key].version > after, wait)
            return self._told.get(key, Sense(source, True, 0))

    def resting(self, tenant: Tenant, source: str) -> bool:
        """Whether a source was told to rest."""
        told = self._told.get((tenant.number, source))
        return told is not None and not told.on


def sensing_interval(said: Announcement, wanting: list[Subscription], kept: bool) -> float | None:
    """How often a source need sense, in seconds: as it announced, less often if everybody asks for less."""
    spans = [each.alert.at_most_every if each.alert is not None else None for each in wanting]
    if kept or not spans or any(span is None for span in spans):
        return said.interval
    least = min(span for span in spans if span is not None) / 1e6
    return least if said.interval is None else max(said.interval, least)


def _groups(announced: list[Announcement]) -> list[list[Announcement]]:
    """Announcements in groups of overlapping places."""
    groups: list[list[Announcement]] = []
    for each in announced:
        own = [group for group in groups if any(_near(each, other) for other in group)]
        merged = [other for group in own for other in group] + [each]
        groups = [group for group in groups if group not in own] + [merged]
    return groups


def _near(one: Announcement, other: Announcement) -> bool:
    if one.area is not None and other.area is not None:
        return all(a[0] <= b[1] and b[0] <= a[1] for a, b in ((one.area.lat, other.area.lat),
                                                             (one.area.long, other.area.long)))  # fmt: skip
    return fold(one.place) == fold(other.place)

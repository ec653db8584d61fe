"""Who shall sense and who may rest (sources.md C, Figures 7 to 10, 14 and 15).

Only a source whose announcement says that it can be told is told: to wake at the first demand, and to rest when the
last is gone. Where all that ask for it say `from one source`, one of several that offer the same in overlapping places
is chosen; the next is started before the old one is stopped. What a source is told is an event, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from likewise.api.sources import Sense
from likewise.broker.catalogue.demand_index import WantedSources
from likewise.broker.catalogue.reputation import Reputation
from likewise.broker.catalogue.sensing_commands import sense_message
from likewise.broker.catalogue.topic_demand import TopicDemand
from likewise.broker.log.entries import Entry
from likewise.broker.log.mqtt.messages import Kept
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import StateError
from likewise.model import Event, Subscription, fold
from likewise.model.announcements.announcement import Announcement
from likewise.model.announcements.announcement_event import source_event

HOLD: Final = 60_000_000  # µs that a chosen source is kept before another may take its place
BETTER: Final = 1.1  # how much more another must be worth
SILENT: Final = 3.0  # intervals without a reading after which another is chosen
Say = Callable[[Tenant, Event, Kept], None]
Recall = Callable[[Tenant], Iterable[Sense]]
Also = Callable[[Tenant, str], str]
Topics = Callable[[Tenant, str], Iterable[str]]


class _Chosen:
    """Which source serves a subscription that wants one, among some, and since when."""

    def __init__(self, source: str, since: int) -> None:
        self.source = source
        self.since = since


class Activation:
    """What every controllable source is told; `say` publishes it, `recall` gives what was told before a restart.

    One thread takes turns, any may ask. `listeners` are called on that thread whenever somebody is told, or no more.
    """

    def __init__(
        self,
        wanted: WantedSources,
        clock: Callable[[], int],
        say: Say,
        recall: Recall = lambda tenant: (),
        topics_of: Topics = lambda tenant, source: (source,),
    ) -> None:
        self._wanted = wanted
        self._clock = clock
        self._say = say
        self._recall = recall
        self._topics_of = topics_of
        self._recalled: set[int] = set()
        self.listeners: list[Callable[[], None]] = []
        self.topics = TopicDemand(lambda tenant: [held.filter for held in list(tenant.topics.held.values())])
        self.others: list[Also] = []  # who else asks for a source, and in which words; '' if it does not
        self._told: dict[tuple[int, str], Sense] = {}
        self._chosen: dict[tuple[int, int], list[_Chosen]] = {}  # by tenant and subscription
        self._reputation: dict[int, Reputation] = {}
        self._since: dict[tuple[int, str], int] = {}  # since when a source is told to sense
        self._failed: dict[tuple[int, str], int] = {}  # when a source was found silent that should have sensed
        self._changed = threading.Condition()
        self.above: Callable[[str], Sense | None] | None = None  # what the broker above tells a source, if there is one

    def heard(self, tenant: Tenant, entries: Iterable[Entry]) -> None:
        """Events came by: what they say about their sources' reputation."""
        announced = {source: held.announcement for source, held in list(tenant.known.announcements.items())}
        if announced:
            self._reputation.setdefault(tenant.number, Reputation()).hear(announced, entries)

    def turn(self, tenant: Tenant) -> None:
        """Tell those to whom something else is to be told now."""
        self._recall_once(tenant)
        told = {source for number, source in self._told if number == tenant.number}
        if not self._wanted.bring_up_to_date(tenant) and not told:
            return
        announced = {source: held.announcement for source, held in list(tenant.known.announcements.items())}
        controllable = {source: said for source, said in announced.items() if said.controllable}
        for source in told - controllable.keys():
            del self._told[tenant.number, source]
            self._since.pop((tenant.number, source), None)
            self._failed.pop((tenant.number, source), None)
            self._reputation.setdefault(tenant.number, Reputation()).forget(source)
        if told - controllable.keys():
            self._notify()
        asked = {source: self._wanted.wanted_by(tenant, source) for source in controllable}
        self.topics.bring_up_to_date(tenant)
        chosen = self._choose(tenant, controllable, asked)
        wake: list[Sense] = []
        rest: list[Sense] = []
        for source, said in controllable.items():
            wanting = [(n, s) for n, s in asked[source] if not s.from_one_source or (n, source) in chosen]
            reason = self._kept(tenant, source)
            kept = bool(reason)
            above = None if self.above is None else self.above(source)
            needed = self.above is not None and (above is None or above.on)  # until it has spoken, it may ask for it
            on = kept or bool(wanting) or needed
            if not on:
                reason = "nobody asks for it"
            if not on and asked[source]:
                reason = "another source is chosen"
            interval = sensing_interval(said, [s for _, s in wanting], kept)
            if needed and not wanting and not kept and above is not None:
                interval = above.interval
            sense = Sense(source, on, 0, interval, len(wanting) + (0 if above is None else above.wanted), reason)
            (wake if on else rest).append(sense)
        for sense in (*wake, *rest):  # the next is started before the old one is stopped
            self._tell(tenant, sense)

    def _recall_once(self, tenant: Tenant) -> None:
        """Take up what was told before a restart, whoever asks for it first."""
        if tenant.number in self._recalled:
            return
        with self._changed:
            if tenant.number not in self._recalled:
                for each in self._recall(tenant):
                    self._told[tenant.number, each.source] = each
                    if each.on:
                        self._since[tenant.number, each.source] = self._clock()  # silence counts from now on
                self._recalled.add(tenant.number)

    def _kept(self, tenant: Tenant, source: str) -> str:
        """Why a source is kept awake whatever subscriptions by meaning ask for; '' if it is not."""
        if source in tenant.known.kept:
            return "a person keeps it"
        if self.topics.asks_for(tenant, self._topics_of(tenant, source)):
            return "its topic is subscribed to"
        return next((words for also in self.others if (words := also(tenant, source))), "")

    def _tell(self, tenant: Tenant, sense: Sense) -> None:
        key = (tenant.number, sense.source)
        before, now = self._told.get(key), self._clock()
        if before is not None and (before.on, before.interval) == (sense.on, sense.interval):
            self._told[key] = Sense(sense.source, sense.on, before.version, sense.interval, sense.wanted, sense.reason)
            return
        version = max(now, 0 if before is None else before.version + 1)
        with self._changed:
            self._told[key] = Sense(sense.source, sense.on, version, sense.interval, sense.wanted, sense.reason)
            self._changed.notify_all()
        if sense.on:
            self._since[key] = now
        else:
            self._since.pop(key, None)
        said = source_event(
            "sense on" if sense.on else "sense off", sense.source, sense.reason, sense.interval if sense.on else None
        )
        self._say(tenant, said, sense_message(self._told[key]))
        self._notify()

    def _notify(self) -> None:
        for listener in list(self.listeners):
            listener()

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
            before = self._chosen.get((tenant.number, number))
            if before is None:  # new, or there was a restart: whoever senses goes on
                awake = [self._told.get((tenant.number, source)) for source in sources]
                before = [_Chosen(each.source, each.version) for each in awake if each is not None and each.on]
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
        """Whether a source that is told to sense has not spoken for three of its intervals.

        It is taken for silent until it is heard again, or renews its lease: who rests cannot be heard, and without that
        a dead source would be chosen again and again.
        """
        key = (tenant.number, said.source)
        last = self._reputation[tenant.number].last_heard(said.source) or 0
        failed = self._failed.get(key)
        if failed is not None:
            held = tenant.known.announcements.get(said.source)
            renewed = 0 if held is None else held.ends - int(held.announcement.lease * 1e6)
            if max(last, renewed) <= failed:
                return True
            del self._failed[key]
        since = self._since.get(key)
        if since is None or said.interval is None or now - max(since, last) <= SILENT * said.interval * 1e6:
            return False
        self._failed[key] = now
        return True

    # -- asking ---------------------------------------------------------------------------------

    def sense(self, tenant: Tenant, source: str, after: int = 0, wait: float = 0.0) -> Sense:
        """What a source is told; with `wait`, once its version is above `after`, for so many seconds."""
        said = tenant.known.announcement(source).announcement
        if not said.controllable:
            raise StateError(f"{source!r} did not announce that it can be told; announce it with `controllable`")
        self._recall_once(tenant)
        key = (tenant.number, source)
        with self._changed:
            self._changed.wait_for(lambda: key in self._told and self._told[key].version > after, wait)
            return self._told.get(key, Sense(source, True, 0))

    def told(self, tenant: Tenant) -> dict[str, Sense]:
        """What every source is told now."""
        self._recall_once(tenant)
        return {source: said for (number, source), said in list(self._told.items()) if number == tenant.number}

    def at_rest(self, tenant: Tenant) -> set[str]:
        """The sources that were told to rest."""
        return {source for source, said in self.told(tenant).items() if not said.on}

    def told_one(self, tenant: Tenant, source: str) -> Sense | None:
        """What a source was told last; None if nothing."""
        return self._told.get((tenant.number, source))

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
        return all(
            a[0] <= b[1] and b[0] <= a[1] for a, b in ((one.area.lat, other.area.lat), (one.area.long, other.area.long))
        )
    return fold(one.place) == fold(other.place)

"""Who shall sense and who may rest (sources.md C, Figures 7 to 10, 14 and 15).

Only a source whose announcement says that it can be told is told: to wake at the first demand, and to rest when the
last is gone. Where all that ask for it say `from one source`, one of several that offer the same in overlapping places
is chosen; the next is started before the old one is stopped. What a source is told is an event, too.

Who asks for a source by its topics: subscriptions of MQTT's kind are demand as any other.

A source is asked for if a filter takes the topic that it was last seen to publish to, or the topic that is called as
it is. Filters come from whoever holds some: the broker those that are acknowledged, a listener those that are not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from likewise.api.sources import SensingCommand
from likewise.broker.catalogue.demand_index import SourceDemand
from likewise.broker.catalogue.reputation import SourceReputation
from likewise.broker.catalogue.sensing_commands import sense_message
from likewise.broker.log.entries import Entry
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import StateError
from likewise.matching.topics.topic_trie import TopicTrie
from likewise.model import Event, Subscription, fold
from likewise.model.announcements.announcement import Announcement, source_event

Filters = Callable[[Tenant], Iterable[str]]


class TopicDemand:
    """Looks up topics among the filters of a tenant; on one thread.

    >>> demand = TopicDemand(lambda tenant: ["home/+/t"])
    >>> demand.bring_up_to_date(None)  # type: ignore[arg-type]
    >>> demand.is_requested(None, ["home/attic/t"]), demand.is_requested(None, ["attic"])  # type: ignore[arg-type]
    (True, False)
    """

    def __init__(self, *filters: Filters) -> None:
        self.filters: list[Filters] = list(filters)
        self._made: dict[Tenant, tuple[frozenset[str], TopicTrie]] = {}

    def is_requested(self, tenant: Tenant, topics: Iterable[str]) -> bool:
        """Whether a filter takes one of some topics."""
        known = self._made.get(tenant)
        return known is not None and any(True for topic in topics for _ in known[1].find(topic))

    def bring_up_to_date(self, tenant: Tenant) -> None:
        """Take in which filters there are now."""
        asked = frozenset(each for filters in self.filters for each in filters(tenant))
        known = self._made.get(tenant)
        if known is None or known[0] != asked:
            trie = TopicTrie()
            for place, each in enumerate(sorted(asked)):
                trie.add(each, place)
            self._made[tenant] = asked, trie


MIN_SERVICE_US: Final = 60_000_000  # µs that a chosen source is kept before another may take its place
SWITCH_FACTOR: Final = 1.1  # how much more another must be worth
SILENT_INTERVALS: Final = 3.0  # intervals without a reading after which another is chosen
PublishCommand = Callable[[Tenant, Event, StoredMessage], None]
RestoreCommands = Callable[[Tenant], Iterable[SensingCommand]]
OtherDemand = Callable[[Tenant, str], str]
Topics = Callable[[Tenant, str], Iterable[str]]


class _Chosen:
    """Which source serves a subscription that wants one, among some, and since when."""

    def __init__(self, source: str, since: int) -> None:
        self.source = source
        self.since = since


class SourceActivation:
    """What every controllable source is told; `say` publishes it, `recall` gives what was told before a restart.

    One thread takes turns, any may ask. `listeners` are called on that thread whenever somebody is told, or no more.
    """

    def __init__(
        self,
        wanted: SourceDemand,
        clock: Callable[[], int],
        say: PublishCommand,
        recall: RestoreCommands = lambda tenant: (),
        topics_of: Topics = lambda tenant, source: (source,),
    ) -> None:
        self._demand = wanted
        self._clock = clock
        self._publish = say
        self._recall = recall
        self._topics_of = topics_of
        self._recalled: set[int] = set()
        self.listeners: list[Callable[[], None]] = []
        self.topics = TopicDemand(lambda tenant: [held.filter for held in list(tenant.topics.by_number.values())])
        self.other_demand: list[OtherDemand] = []  # who else asks for a source, and in which words; '' if it does not
        self._commands: dict[tuple[int, str], SensingCommand] = {}
        self._chosen: dict[tuple[int, int], list[_Chosen]] = {}  # by tenant and subscription
        self._reputation: dict[int, SourceReputation] = {}
        self._since: dict[tuple[int, str], int] = {}  # since when a source is told to sense
        self._failed: dict[tuple[int, str], int] = {}  # when a source was found silent that should have sensed
        self._changed = threading.Condition()
        self.above: Callable[[str], SensingCommand | None] | None = (
            None  # what the broker above tells a source, if there is one
        )

    def observe(self, tenant: Tenant, entries: Iterable[Entry]) -> None:
        """Events came by: what they say about their sources' reputation."""
        announced = {source: held.announcement for source, held in list(tenant.sources.announcements.items())}
        if announced:
            self._reputation.setdefault(tenant.number, SourceReputation()).observe(announced, entries)

    def update(self, tenant: Tenant) -> None:
        """Tell those to whom something else is to be told now."""
        self._recall_once(tenant)
        told = {source for number, source in self._commands if number == tenant.number}
        if not self._demand.bring_up_to_date(tenant) and not told:
            return
        announced = {source: held.announcement for source, held in list(tenant.sources.announcements.items())}
        controllable = {source: said for source, said in announced.items() if said.controllable}
        for source in told - controllable.keys():
            del self._commands[tenant.number, source]
            self._since.pop((tenant.number, source), None)
            self._failed.pop((tenant.number, source), None)
            self._reputation.setdefault(tenant.number, SourceReputation()).forget(source)
        if told - controllable.keys():
            self._notify()
        asked = {source: self._demand.subscriptions_for(tenant, source) for source in controllable}
        self.topics.bring_up_to_date(tenant)
        chosen = self._choose(tenant, controllable, asked)
        wake: list[SensingCommand] = []
        rest: list[SensingCommand] = []
        for source, said in controllable.items():
            wanting = [(n, s) for n, s in asked[source] if not s.from_one_source or (n, source) in chosen]
            reason = self._pinned_by(tenant, source)
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
            sense = SensingCommand(
                source, on, 0, interval, len(wanting) + (0 if above is None else above.wanted), reason
            )
            (wake if on else rest).append(sense)
        for sense in (*wake, *rest):  # the next is started before the old one is stopped
            self._send(tenant, sense)

    def _recall_once(self, tenant: Tenant) -> None:
        """Take up what was told before a restart, whoever asks for it first."""
        if tenant.number in self._recalled:
            return
        with self._changed:
            if tenant.number not in self._recalled:
                for each in self._recall(tenant):
                    self._commands[tenant.number, each.source] = each
                    if each.on:
                        self._since[tenant.number, each.source] = self._clock()  # silence counts from now on
                self._recalled.add(tenant.number)

    def _pinned_by(self, tenant: Tenant, source: str) -> str:
        """Why a source is kept awake whatever subscriptions by meaning ask for; '' if it is not."""
        if source in tenant.sources.pinned:
            return "a person keeps it"
        if self.topics.is_requested(tenant, self._topics_of(tenant, source)):
            return "its topic is subscribed to"
        return next((words for also in self.other_demand if (words := also(tenant, source))), "")

    def _send(self, tenant: Tenant, sense: SensingCommand) -> None:
        key = (tenant.number, sense.source)
        before, now = self._commands.get(key), self._clock()
        if before is not None and (before.on, before.interval) == (sense.on, sense.interval):
            self._commands[key] = SensingCommand(
                sense.source, sense.on, before.version, sense.interval, sense.wanted, sense.reason
            )
            return
        version = max(now, 0 if before is None else before.version + 1)
        with self._changed:
            self._commands[key] = SensingCommand(
                sense.source, sense.on, version, sense.interval, sense.wanted, sense.reason
            )
            self._changed.notify_all()
        if sense.on:
            self._since[key] = now
        else:
            self._since.pop(key, None)
        said = source_event(
            "sense on" if sense.on else "sense off", sense.source, sense.reason, sense.interval if sense.on else None
        )
        self._publish(tenant, said, sense_message(self._commands[key]))
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
                awake = [self._commands.get((tenant.number, source)) for source in sources]
                before = [_Chosen(each.source, each.version) for each in awake if each is not None and each.on]
            groups = _groups([controllable[source] for source in sorted(sources)])
            best = self._chosen[tenant.number, number] = [self._best(tenant, before, group) for group in groups]
            found.update((number, each.source) for each in best)
        for key in [key for key in self._chosen if key[0] == tenant.number and key[1] not in candidates]:
            del self._chosen[key]
        return found

    def _best(self, tenant: Tenant, chosen: list[_Chosen], group: list[Announcement]) -> _Chosen:
        """The one of a group that serves: the one that did, unless it is silent or another is clearly better."""
        now, reputation = self._clock(), self._reputation.setdefault(tenant.number, SourceReputation())
        worth = {each.source: reputation.worth(each, now) for each in group}
        speaking = [each for each in group if not self._silent(tenant, each, now)] or group
        best = max(speaking, key=lambda each: (worth[each.source], each.source))
        names = {each.source for each in speaking}
        before = next((each for each in chosen if each.source in names), None)
        if before is not None:
            held = now - before.since < MIN_SERVICE_US
            if held or worth[best.source] <= SWITCH_FACTOR * worth[before.source]:
                return before
        return _Chosen(best.source, now)

    def _silent(self, tenant: Tenant, said: Announcement, now: int) -> bool:
        """Whether a source that is told to sense has not spoken for three of its intervals.

        It is taken for silent until it is heard again, or renews its lease: who rests cannot be heard, and without that
        a dead source would be chosen again and again.
        """
        key = (tenant.number, said.source)
        last = self._reputation[tenant.number].last_observed(said.source) or 0
        failed = self._failed.get(key)
        if failed is not None:
            held = tenant.sources.announcements.get(said.source)
            renewed = 0 if held is None else held.ends - int(held.announcement.lease * 1e6)
            if max(last, renewed) <= failed:
                return True
            del self._failed[key]
        since = self._since.get(key)
        if since is None or said.interval is None or now - max(since, last) <= SILENT_INTERVALS * said.interval * 1e6:
            return False
        self._failed[key] = now
        return True

    # -- asking ---------------------------------------------------------------------------------

    def sense(self, tenant: Tenant, source: str, after: int = 0, wait: float = 0.0) -> SensingCommand:
        """What a source is told; with `wait`, once its version is above `after`, for so many seconds."""
        said = tenant.sources.announcement(source).announcement
        if not said.controllable:
            raise StateError(f"{source!r} did not announce that it can be told; announce it with `controllable`")
        self._recall_once(tenant)
        key = (tenant.number, source)
        with self._changed:
            self._changed.wait_for(lambda: key in self._commands and self._commands[key].version > after, wait)
            return self._commands.get(key, SensingCommand(source, True, 0))

    def commands(self, tenant: Tenant) -> dict[str, SensingCommand]:
        """What every source is told now."""
        self._recall_once(tenant)
        return {source: said for (number, source), said in list(self._commands.items()) if number == tenant.number}

    def at_rest(self, tenant: Tenant) -> set[str]:
        """The sources that were told to rest."""
        return {source for source, said in self.commands(tenant).items() if not said.on}

    def command(self, tenant: Tenant, source: str) -> SensingCommand | None:
        """What a source was told last; None if nothing."""
        return self._commands.get((tenant.number, source))

    def resting(self, tenant: Tenant, source: str) -> bool:
        """Whether a source was told to rest."""
        told = self._commands.get((tenant.number, source))
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
        own = [group for group in groups if any(_overlap(each, other) for other in group)]
        merged = [other for group in own for other in group] + [each]
        groups = [group for group in groups if group not in own] + [merged]
    return groups


def _overlap(one: Announcement, other: Announcement) -> bool:
    if one.area is not None and other.area is not None:
        return all(
            a[0] <= b[1] and b[0] <= a[1] for a, b in ((one.area.lat, other.area.lat), (one.area.long, other.area.long))
        )
    return fold(one.place) == fold(other.place)

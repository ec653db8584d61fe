"""Switch sources on and off by demand (sources.md C, Figures 7 to 10, 14 and 15).

Only a source whose announcement says that it is controllable gets commands: on at the first demand, off when the last
is gone. Where every demand for it is `from one source`, one of several that offer the same in overlapping places is
chosen; the next is started before the old one is stopped. Every command is an event, too.

A topic subscription is demand as well: for a source whose last observed topic matches the filter, or whose name does.
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
    """Looks up topics among the topic filters of a tenant; used by one thread.

    >>> demand = TopicDemand(lambda tenant: ["home/+/t"])
    >>> demand.bring_up_to_date(None)  # type: ignore[arg-type]
    >>> demand.is_requested(None, ["home/attic/t"]), demand.is_requested(None, ["attic"])  # type: ignore[arg-type]
    (True, False)
    """

    def __init__(self, *filters: Filters) -> None:
        self.filters: list[Filters] = list(filters)
        self._made: dict[Tenant, tuple[frozenset[str], TopicTrie]] = {}

    def is_requested(self, tenant: Tenant, topics: Iterable[str]) -> bool:
        """Return whether a filter matches one of some topics."""
        known = self._made.get(tenant)
        return known is not None and any(True for topic in topics for _ in known[1].find(topic))

    def bring_up_to_date(self, tenant: Tenant) -> None:
        """Take in which filters there are now."""
        requested = frozenset(each for filters in self.filters for each in filters(tenant))
        known = self._made.get(tenant)
        if known is None or known[0] != requested:
            trie = TopicTrie()
            for place, each in enumerate(sorted(requested)):
                trie.add(each, place)
            self._made[tenant] = requested, trie


MIN_SERVICE_US: Final = 60_000_000  # µs that a chosen source is kept before another may take its place
SWITCH_FACTOR: Final = 1.1  # how much more another must be worth
SILENT_INTERVALS: Final = 3.0  # intervals without a reading after which another is chosen
PublishCommand = Callable[[Tenant, Event, StoredMessage], None]
RestoreCommands = Callable[[Tenant], Iterable[SensingCommand]]
OtherDemand = Callable[[Tenant, str], str]
Topics = Callable[[Tenant, str], Iterable[str]]


class _Chosen:
    """The source that serves a subscription `from one source`, and since when."""

    def __init__(self, source: str, since: int) -> None:
        self.source = source
        self.since = since


class SourceActivation:
    """Sends sensing commands to controllable sources: `publish` sends one, `recall` restores them after a restart.

    One thread takes turns, any may ask. `listeners` are called on that thread whenever somebody is told, or no more.
    """

    def __init__(
        self,
        demand: SourceDemand,
        clock: Callable[[], int],
        publish: PublishCommand,
        recall: RestoreCommands = lambda tenant: (),
        topics_of: Topics = lambda tenant, source: (source,),
    ) -> None:
        self._demand = demand
        self._clock = clock
        self._publish = publish
        self._recall = recall
        self._topics_of = topics_of
        self._recalled: set[int] = set()
        self.listeners: list[Callable[[], None]] = []
        self.topics = TopicDemand(
            lambda tenant: [subscription.filter for subscription in list(tenant.topics.by_number.values())]
        )
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
        """Update the reputation of announced sources by their events."""
        announced = {source: stored.announcement for source, stored in list(tenant.sources.announcements.items())}
        if announced:
            self._reputation.setdefault(tenant.number, SourceReputation()).observe(announced, entries)

    def update(self, tenant: Tenant) -> None:
        """Tell those to whom something else is to be told now."""
        self._recall_once(tenant)
        commanded = {source for number, source in self._commands if number == tenant.number}
        if not self._demand.bring_up_to_date(tenant) and not commanded:
            return
        announced = {source: stored.announcement for source, stored in list(tenant.sources.announcements.items())}
        controllable = {source: announcement for source, announcement in announced.items() if announcement.controllable}
        for source in commanded - controllable.keys():
            del self._commands[tenant.number, source]
            self._since.pop((tenant.number, source), None)
            self._failed.pop((tenant.number, source), None)
            self._reputation.setdefault(tenant.number, SourceReputation()).forget(source)
        if commanded - controllable.keys():
            self._notify()
        subscriptions = {source: self._demand.subscriptions_for(tenant, source) for source in controllable}
        self.topics.bring_up_to_date(tenant)
        chosen = self._choose(tenant, controllable, subscriptions)
        wake: list[SensingCommand] = []
        rest: list[SensingCommand] = []
        for source, announcement in controllable.items():
            wanting = [(n, s) for n, s in subscriptions[source] if not s.from_one_source or (n, source) in chosen]
            reason = self._pinned_by(tenant, source)
            pinned = bool(reason)
            above = None if self.above is None else self.above(source)
            needed = self.above is not None and (above is None or above.on)  # until it has spoken, it may ask for it
            on = pinned or bool(wanting) or needed
            if not on:
                reason = "nobody asks for it"
            if not on and subscriptions[source]:
                reason = "another source is chosen"
            interval = sensing_interval(announcement, [s for _, s in wanting], pinned)
            if needed and not wanting and not pinned and above is not None:
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
        """Return why a source stays on regardless of subscriptions by meaning; '' if nothing keeps it on."""
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
        event = source_event(
            "sense on" if sense.on else "sense off", sense.source, sense.reason, sense.interval if sense.on else None
        )
        self._publish(tenant, event, sense_message(self._commands[key]))
        self._notify()

    def _notify(self) -> None:
        for listener in list(self.listeners):
            listener()

    # -- one of several -------------------------------------------------------------------------

    def _choose(
        self,
        tenant: Tenant,
        controllable: dict[str, Announcement],
        subscriptions: dict[str, list[tuple[int, Subscription]]],
    ) -> set[tuple[int, str]]:
        """Choose the sources that serve subscriptions `from one source`; as pairs of subscription and source."""
        candidates: dict[int, list[str]] = {}
        for source, wanting in subscriptions.items():
            for number, subscription in wanting:
                if subscription.from_one_source:
                    candidates.setdefault(number, []).append(source)
        chosen: set[tuple[int, str]] = set()
        for number, sources in candidates.items():
            before = self._chosen.get((tenant.number, number))
            if before is None:  # new, or there was a restart: whoever senses goes on
                awake = [self._commands.get((tenant.number, source)) for source in sources]
                before = [_Chosen(each.source, each.version) for each in awake if each is not None and each.on]
            groups = _groups([controllable[source] for source in sorted(sources)])
            best = self._chosen[tenant.number, number] = [self._best(tenant, before, group) for group in groups]
            chosen.update((number, each.source) for each in best)
        for key in [key for key in self._chosen if key[0] == tenant.number and key[1] not in candidates]:
            del self._chosen[key]
        return chosen

    def _best(self, tenant: Tenant, chosen: list[_Chosen], group: list[Announcement]) -> _Chosen:
        """Choose the source of a group: the current one, unless it is silent or another is clearly better."""
        now, reputation = self._clock(), self._reputation.setdefault(tenant.number, SourceReputation())
        worth = {each.source: reputation.worth(each, now) for each in group}
        speaking = [each for each in group if not self._silent(tenant, each, now)] or group
        best = max(speaking, key=lambda each: (worth[each.source], each.source))
        names = {each.source for each in speaking}
        before = next((each for each in chosen if each.source in names), None)
        if before is not None:
            recent = now - before.since < MIN_SERVICE_US
            if recent or worth[best.source] <= SWITCH_FACTOR * worth[before.source]:
                return before
        return _Chosen(best.source, now)

    def _silent(self, tenant: Tenant, announcement: Announcement, now: int) -> bool:
        """Return whether a source that should sense was silent for three of its intervals.

        It is taken for silent until it is heard again, or renews its lease: who rests cannot be heard, and without that
        a dead source would be chosen again and again.
        """
        key = (tenant.number, announcement.source)
        last = self._reputation[tenant.number].last_observed(announcement.source) or 0
        failed = self._failed.get(key)
        if failed is not None:
            stored = tenant.sources.announcements.get(announcement.source)
            renewed = 0 if stored is None else stored.ends - int(stored.announcement.lease * 1e6)
            if max(last, renewed) <= failed:
                return True
            del self._failed[key]
        since = self._since.get(key)
        if (
            since is None
            or announcement.interval is None
            or now - max(since, last) <= SILENT_INTERVALS * announcement.interval * 1e6
        ):
            return False
        self._failed[key] = now
        return True

    # -- asking ---------------------------------------------------------------------------------

    def sense(self, tenant: Tenant, source: str, after: int = 0, wait: float = 0.0) -> SensingCommand:
        """Return a source's sensing command; with `wait`, wait so many seconds for a version above `after`."""
        announcement = tenant.sources.announcement(source).announcement
        if not announcement.controllable:
            raise StateError(f"{source!r} did not announce that it can be told; announce it with `controllable`")
        self._recall_once(tenant)
        key = (tenant.number, source)
        with self._changed:
            self._changed.wait_for(lambda: key in self._commands and self._commands[key].version > after, wait)
            return self._commands.get(key, SensingCommand(source, True, 0))

    def commands(self, tenant: Tenant) -> dict[str, SensingCommand]:
        """Return the current sensing command of every source."""
        self._recall_once(tenant)
        return {
            source: command for (number, source), command in list(self._commands.items()) if number == tenant.number
        }

    def at_rest(self, tenant: Tenant) -> set[str]:
        """Return the sources that are switched off."""
        return {source for source, command in self.commands(tenant).items() if not command.on}

    def command(self, tenant: Tenant, source: str) -> SensingCommand | None:
        """Return the last sensing command of a source; None if it has none."""
        return self._commands.get((tenant.number, source))

    def resting(self, tenant: Tenant, source: str) -> bool:
        """Return whether a source is switched off."""
        command = self._commands.get((tenant.number, source))
        return command is not None and not command.on


def sensing_interval(announcement: Announcement, wanting: list[Subscription], pinned: bool) -> float | None:
    """Return how often a source must sense, in seconds: as announced, less often if every subscription allows it."""
    spans = [each.alert.at_most_every if each.alert is not None else None for each in wanting]
    if pinned or not spans or any(span is None for span in spans):
        return announcement.interval
    least = min(span for span in spans if span is not None) / 1e6
    return least if announcement.interval is None else max(announcement.interval, least)


def _groups(announced: list[Announcement]) -> list[list[Announcement]]:
    """Group announcements whose places overlap."""
    groups: list[list[Announcement]] = []
    for each in announced:
        overlapping = [group for group in groups if any(_overlap(each, other) for other in group)]
        merged = [other for group in overlapping for other in group] + [each]
        groups = [group for group in groups if group not in overlapping] + [merged]
    return groups


def _overlap(one: Announcement, other: Announcement) -> bool:
    if one.area is not None and other.area is not None:
        return all(
            a[0] <= b[1] and b[0] <= a[1] for a, b in ((one.area.lat, other.area.lat), (one.area.long, other.area.long))
        )
    return fold(one.place) == fold(other.place)

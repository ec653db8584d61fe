"""Views of the catalogue: announcements, observations, the interpretation of each attribute, and short names.

A short name is the shortest end of a source's name that no other source has.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from likewise.api.sources import (
    AttributeDetails,
    AttributeSummary,
    DeviceSuggestion,
    ReviewQuestion,
    SourceClockFault,
    SourceDetails,
    SourcesPage,
    SourceState,
)
from likewise.broker.catalogue.attribute_meanings import AttributeMeanings, kinds_of
from likewise.broker.catalogue.follower import ProfileFollower
from likewise.broker.catalogue.observations import ObservedAttribute, ObservedSource
from likewise.broker.catalogue.review_queue import useful_questions
from likewise.broker.catalogue.source_profiles import SourceProfiles
from likewise.broker.log.catalogue.records import StoredAnnouncement
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import UnknownId
from likewise.model.text import fold

_STEP: Final = re.compile(r"[/:]")
_WORD: Final = re.compile(r"[^\W\d_]")


class ShortNames:
    """The short names of some sources.

    >>> names = ShortNames(["zigbee2mqtt/kitchen/climate", "zigbee2mqtt/cellar/climate", "tasmota:pump", "evcc/site"])
    >>> [names.of(each) for each in ("zigbee2mqtt/kitchen/climate", "tasmota:pump", "evcc/site")]
    ['kitchen/climate', 'pump', 'site']
    """

    def __init__(self, sources: Iterable[str]) -> None:
        self._counts = Counter(end for source in sources for end in _ends(source))

    def of(self, source: str) -> str:
        """Return the shortest end of a source's name that no other has, and that holds a letter; else all of it."""
        for end in _ends(source):
            if self._counts[end] <= 1 and _WORD.search(end):
                return end
        return source


def _ends(source: str) -> list[str]:
    """Return the ends of a name that begin at a level, the shortest first; none of an address, such as a URN."""
    if "://" in source or source.startswith("urn:") or source.endswith(("/", ":")):
        return []
    return [source[step.end() :] for step in _STEP.finditer(source)][::-1]


PLACES: Final = ("place", "room", "location", "site", "zone", "building", "area", "city")
MODELS: Final = ("model", "device.model", "model_id", "modelid", "device.model_id", "device_model")
SILENT_AFTER: Final = 3.0  # intervals without an event after which a source is called silent
SHORTEST: Final = 30.0  # seconds that are no silence, however often a source speaks
SHOWN_VALUES: Final = 16
OFFERED: Final = 20  # groups of sources that may be one device
OFFERED_SOURCES: Final = 50  # of one group


class Catalogue:
    """Answers queries about the sources and attribute names of tenants, from any thread."""

    def __init__(
        self,
        follower: ProfileFollower,
        clock: Callable[[], int],
        resting: Callable[[Tenant, str], bool] = lambda tenant, source: False,
        demand_count: Callable[[Tenant, str], int | None] = lambda tenant, source: None,
        reads: bool = True,
    ) -> None:
        self._reads = reads
        self._follower = follower
        self._clock = clock
        self._resting = resting
        self._demand_count = demand_count
        self._understanding: dict[int, AttributeMeanings] = {}

    def learnt(self, tenant: Tenant) -> SourceProfiles:
        """Return the profiles of a tenant's sources."""
        return self._follower.learnt.get(tenant.number) or SourceProfiles()

    def understanding(self, tenant: Tenant) -> AttributeMeanings:
        """Return the interpretation of a tenant's attributes."""
        return self._understanding.setdefault(tenant.number, AttributeMeanings(tenant, self._reads))

    def page(self, tenant: Tenant, after: str = "", limit: int = 100, containing: str = "") -> SourcesPage:
        """Return a page of sources by name, filtered by a part of the name."""
        with self._follower.lock:
            learnt = self.learnt(tenant)
            names = {*learnt.sources(), *list(tenant.sources.announcements)}
            left_out = {name: count for name, count in learnt.left_out.items() if count}
            names = {name for name in names if name and not _is_retired(tenant, learnt, name)}
        short, pattern = ShortNames(names), fold(containing)
        labels = tenant.sources.identities.labels
        matching = sorted(
            name for name in names if not pattern or pattern in fold(name) or pattern in fold(labels.get(name, ""))
        )
        chosen = [name for name in matching if name > after or not after][:limit]
        more = chosen[-1] if chosen and chosen[-1] != matching[-1] else ""
        shown = []
        for name in chosen:
            each = self._shown(tenant, name)
            label = each.label or short.of(name)
            shown.append(msgspec.structs.replace(each, attributes=(), label="" if label == name else label))
        return SourcesPage(
            tuple(shown), len(matching), more, left_out, () if after else self._one_device(tenant, matching)
        )

    def _one_device(self, tenant: Tenant, names: Sequence[str]) -> tuple[DeviceSuggestion, ...]:
        """Return groups of sources that may be one device: each is a topic of its own with one value."""
        siblings: dict[str, list[str]] = {}
        for name in names:
            parent, _, leaf = name.rpartition("/")
            if parent and leaf and ":" not in parent:
                siblings.setdefault(parent, []).append(name)
        offered = []
        for parent, some in siblings.items():
            if len(some) > 1 and all(self._is_bare_topic(tenant, name) for name in some[:OFFERED_SOURCES]):
                offered.append(DeviceSuggestion(parent, tuple(some[:OFFERED_SOURCES])))
                if len(offered) == OFFERED:
                    break
        return tuple(offered)

    def _is_bare_topic(self, tenant: Tenant, source: str) -> bool:
        """Return whether a source is a topic without a map that holds one value."""
        texts = {each.attribute: each.text for each in self.observed(tenant, source)}
        return texts.pop("topic", "") == source and len(texts.keys() - {"client"}) == 1

    def source(self, tenant: Tenant, source: str) -> SourceDetails:
        """Return one source with everything that is known about it."""
        shown = self._shown(tenant, source)
        understood = self.understanding(tenant).of(
            [_as_reading(each) for each in shown.attributes], source, shown.model
        )
        attributes = tuple(
            msgspec.structs.replace(
                each,
                understood=meaning
                if meaning.basis == "corrected" or not each.announced
                else msgspec.structs.replace(meaning, basis="announced"),
            )
            for each, meaning in zip(shown.attributes, understood, strict=True)
        )
        return msgspec.structs.replace(shown, attributes=attributes)

    def words(self, tenant: Tenant, containing: str = "", limit: int = 1_000) -> list[AttributeSummary]:
        """Return attribute names over all sources, the most frequent first."""
        pattern = fold(containing)
        with self._follower.lock:
            learnt = self.learnt(tenant)
            names = [word for word in learnt.words() if not pattern or pattern in fold(word.attribute)]
            names = sorted(names, key=lambda word: (-word.times, word.attribute, word.unit))[:limit]
            texts = [learnt.texts(word.attribute, word.unit) for word in names]
        understood = self.understanding(tenant).of(names)
        return [
            AttributeSummary(
                word.attribute,
                word.unit,
                kinds_of(word.kinds),
                word.times,
                word.sources,
                _finite(word.low),
                _finite(word.high),
                word.last,
                tuple(sorted(counts, key=lambda text: -counts[text])[:SHOWN_VALUES]),
                meaning,
            )
            for word, counts, meaning in zip(names, texts, understood, strict=True)
        ]

    def questions(self, tenant: Tenant, limit: int = 10) -> list[ReviewQuestion]:
        """Return the questions whose answers would change most deliveries."""
        if not self._reads:
            return []
        with self._follower.lock:
            learnt = self.learnt(tenant)
            words, since = list(learnt.words()), learnt.since
        return useful_questions(tenant, words, self.understanding(tenant), self._clock(), since, limit)

    def texts(self, tenant: Tenant, attribute: str) -> list[str]:
        """Return the observed texts of an attribute, over all sources."""
        with self._follower.lock:
            return list(self.learnt(tenant).texts(attribute))

    def observed(self, tenant: Tenant, source: str) -> tuple[ObservedAttribute, ...]:
        """Return the observed attributes of a source."""
        with self._follower.lock:
            learnt = self.learnt(tenant).source(source)
        return () if learnt is None else learnt.readings

    def _shown(self, tenant: Tenant, source: str) -> SourceDetails:
        identities = tenant.sources.identities
        source = identities.resolve(source)
        former = identities.former(source)
        with self._follower.lock:
            every = self.learnt(tenant)
            parts = [every.source(name) for name in (source, *(name for name, alone in former.items() if alone))]
            learnt = _together([each for each in parts if each is not None])
        stored = tenant.sources.announcements.get(source)
        if learnt is None and stored is None:
            raise UnknownId(source, remedy="no source of this name was seen, and none announced itself")
        announcement = None if stored is None else stored.announcement
        attributes = _attributes(learnt, stored)
        clock = tenant.alerts.wrong_clocks.get(source)
        return SourceDetails(
            source,
            self._activity(tenant, source, learnt, stored),
            (announcement.model if announcement is not None else "") or _text_of(learnt, MODELS),
            (announcement.place if announcement is not None else "") or _text_of(learnt, PLACES),
            0 if learnt is None else learnt.events,
            0 if learnt is None else learnt.first,
            0 if learnt is None else learnt.last_seen,
            (announcement.interval if announcement is not None else None)
            if learnt is None
            else _finite(round(learnt.interval, 3)),
            len(attributes),
            attributes,
            announcement,
            None if stored is None else stored.ends,
            source in tenant.sources.pinned,
            self._demand_count(tenant, source),
            identities.labels.get(source, ""),
            tuple(sorted(former)),
            None if clock is None else SourceClockFault(*clock),
        )

    def _activity(
        self, tenant: Tenant, source: str, learnt: ObservedSource | None, stored: StoredAnnouncement | None
    ) -> SourceState:
        if stored is not None and self._resting(tenant, source):
            return "resting"
        if learnt is None:
            return "announced"
        usual = stored.announcement.interval if stored is not None else None
        usual = learnt.interval if usual is None else usual
        silent_after = SHORTEST if math.isnan(usual) else max(SHORTEST, SILENT_AFTER * usual)
        return "silent" if self._clock() - learnt.last_seen > silent_after * 1e6 and not math.isnan(usual) else "awake"


def _is_retired(tenant: Tenant, learnt: SourceProfiles, name: str) -> bool:
    """Return whether a name was given up for others, and nothing came under it since."""
    at = tenant.sources.identities.retired_at(name)
    if at is None:
        return False
    observed = learnt.source(name)
    return observed is None or observed.last_seen <= at


def _together(parts: list[ObservedSource]) -> ObservedSource | None:
    """Return what was learnt of a source under all of its names; the first part is what holds now."""
    if len(parts) < 2:
        return parts[0] if parts else None
    readings: dict[tuple[str, str], ObservedAttribute] = {}
    for each in (each for part in parts for each in part.readings):
        known = readings.setdefault((each.attribute, each.unit), each)
        if known is not each:
            low, high = _lower(known.low, each.low), -_lower(-known.high, -each.high)
            readings[each.attribute, each.unit] = known._replace(times=known.times + each.times, low=low, high=high)
    newest = parts[0]
    return newest._replace(
        events=sum(each.events for each in parts),
        first=min(each.first for each in parts),
        last_seen=max(each.last_seen for each in parts),
        readings=tuple(readings.values()),
    )


def _lower(one: float, other: float) -> float:
    return other if math.isnan(one) or other < one else one


def _attributes(learnt: ObservedSource | None, stored: StoredAnnouncement | None) -> tuple[AttributeDetails, ...]:
    """Merge the announced attributes with what was observed of them, followed by other observed attributes."""
    observed = {} if learnt is None else {(each.attribute, each.unit): each for each in learnt.readings}
    made = []
    for each in () if stored is None else stored.announcement.all_attributes():
        names = [key for key in observed if fold(key[0]) == fold(each.name)]
        reading = observed.pop(names[0]) if len(names) == 1 else None
        shown = AttributeDetails(each.name, each.unit, (each.kind,) if each.kind else (), low=each.low, high=each.high)
        if reading is not None:
            shown = msgspec.structs.replace(_of_reading(reading), attribute=each.name, unit=each.unit or reading.unit)
        made.append(msgspec.structs.replace(shown, announced=True))
    return (*made, *map(_of_reading, observed.values()))


def _of_reading(reading: ObservedAttribute) -> AttributeDetails:
    number = _finite(reading.number)
    return AttributeDetails(
        reading.attribute,
        reading.unit,
        kinds_of(reading.kinds),
        reading.times,
        _finite(reading.low),
        _finite(reading.high),
        reading.text or None if number is None else number,
        reading.last,
        reading.line,
    )


def _as_reading(shown: AttributeDetails) -> ObservedAttribute:
    bits = sum({"text": 1, "number": 2, "boolean": 4}[kind] for kind in shown.kinds)
    nan = math.nan
    return ObservedAttribute(shown.attribute, shown.unit, shown.times, bits, nan, nan, shown.seen, nan, "", ())


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _text_of(learnt: ObservedSource | None, names: tuple[str, ...]) -> str:
    """Return the last text of the first of some attributes that a source has."""
    if learnt is None:
        return ""
    texts = {fold(each.attribute): each.text for each in learnt.readings if each.text}
    return next((texts[name] for name in names if name in texts), "")

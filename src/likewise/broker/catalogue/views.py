"""The catalogue as it is shown: what was announced, what was learnt, and what each attribute is taken for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from likewise.api.sources import (
    AttributeShown,
    OneDevice,
    SourceShown,
    SourcesPage,
    SourceState,
    UsefulQuestion,
    WordShown,
    WrongClock,
)
from likewise.broker.catalogue.attribute_meanings import Understanding, kinds_of
from likewise.broker.catalogue.follower import CatalogueFollower
from likewise.broker.catalogue.observations import LearntSource, Reading
from likewise.broker.catalogue.review_queue import useful_questions
from likewise.broker.catalogue.short_names import ShortNames
from likewise.broker.catalogue.source_profiles import Learnt
from likewise.broker.log.catalogue.rows import HeldAnnouncement
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import UnknownId
from likewise.model.text import fold

PLACES: Final = ("place", "room", "location", "site", "zone", "building", "area", "city")
MODELS: Final = ("model", "device.model", "model_id", "modelid", "device.model_id", "device_model")
SILENT_AFTER: Final = 3.0  # intervals without an event after which a source is called silent
SHORTEST: Final = 30.0  # seconds that are no silence, however often a source speaks
SHOWN_VALUES: Final = 16
OFFERED: Final = 20  # groups of sources that may be one device
OFFERED_SOURCES: Final = 50  # of one group


class Catalogue:
    """Answers about the sources and the words of tenants; any thread may ask."""

    def __init__(
        self,
        follower: CatalogueFollower,
        clock: Callable[[], int],
        resting: Callable[[Tenant, str], bool] = lambda tenant, source: False,
        wanted: Callable[[Tenant, str], int | None] = lambda tenant, source: None,
        reads: bool = True,
    ) -> None:
        self._reads = reads
        self._follower = follower
        self._clock = clock
        self._resting = resting
        self._wanted = wanted
        self._understanding: dict[int, Understanding] = {}

    def learnt(self, tenant: Tenant) -> Learnt:
        """What was learnt of a tenant's sources."""
        return self._follower.learnt.get(tenant.number) or Learnt()

    def understanding(self, tenant: Tenant) -> Understanding:
        """What a tenant's attributes are taken for."""
        return self._understanding.setdefault(tenant.number, Understanding(tenant, self._reads))

    def page(self, tenant: Tenant, after: str = "", limit: int = 100, containing: str = "") -> SourcesPage:
        """Sources by name, some at a time; those whose name contains a text, if one is given."""
        with self._follower.lock:
            learnt = self.learnt(tenant)
            names = {*learnt.sources(), *list(tenant.known.announcements)}
            left_out = {name: count for name, count in learnt.left_out.items() if count}
            names = {name for name in names if name and not _given_up(tenant, learnt, name)}
        short, wanted = ShortNames(names), fold(containing)
        labels = tenant.known.identities.labels
        found = sorted(
            name for name in names if not wanted or wanted in fold(name) or wanted in fold(labels.get(name, ""))
        )
        chosen = [name for name in found if name > after or not after][:limit]
        more = chosen[-1] if chosen and chosen[-1] != found[-1] else ""
        shown = []
        for name in chosen:
            each = self._shown(tenant, name)
            label = each.label or short.of(name)
            shown.append(msgspec.structs.replace(each, attributes=(), label="" if label == name else label))
        return SourcesPage(tuple(shown), len(found), more, left_out, () if after else self._one_device(tenant, found))

    def _one_device(self, tenant: Tenant, names: Sequence[str]) -> tuple[OneDevice, ...]:
        """Return groups of sources that may be one device: each is a topic of its own with one value."""
        beside: dict[str, list[str]] = {}
        for name in names:
            parent, _, leaf = name.rpartition("/")
            if parent and leaf and ":" not in parent:
                beside.setdefault(parent, []).append(name)
        offered = []
        for parent, some in beside.items():
            if len(some) > 1 and all(self._is_bare_topic(tenant, name) for name in some[:OFFERED_SOURCES]):
                offered.append(OneDevice(parent, tuple(some[:OFFERED_SOURCES])))
                if len(offered) == OFFERED:
                    break
        return tuple(offered)

    def _is_bare_topic(self, tenant: Tenant, source: str) -> bool:
        """Return whether a source is a topic without a map that holds one value."""
        said = {each.attribute: each.text for each in self.seen(tenant, source)}
        return said.pop("topic", "") == source and len(said.keys() - {"client"}) == 1

    def source(self, tenant: Tenant, source: str) -> SourceShown:
        """One source with everything that is known about it."""
        shown = self._shown(tenant, source)
        understood = self.understanding(tenant).of(
            [_as_reading(each) for each in shown.attributes], source, shown.model
        )
        attributes = tuple(
            msgspec.structs.replace(
                each,
                understood=said
                if said.basis == "corrected" or not each.announced
                else msgspec.structs.replace(said, basis="announced"),
            )
            for each, said in zip(shown.attributes, understood, strict=True)
        )
        return msgspec.structs.replace(shown, attributes=attributes)

    def words(self, tenant: Tenant, containing: str = "", limit: int = 1_000) -> list[WordShown]:
        """The names of attributes over all sources, those seen most often first."""
        wanted = fold(containing)
        with self._follower.lock:
            learnt = self.learnt(tenant)
            found = [word for word in learnt.words() if not wanted or wanted in fold(word.attribute)]
            found = sorted(found, key=lambda word: (-word.times, word.attribute, word.unit))[:limit]
            texts = [learnt.texts(word.attribute, word.unit) for word in found]
        understood = self.understanding(tenant).of(found)
        return [
            WordShown(
                word.attribute,
                word.unit,
                kinds_of(word.kinds),
                word.times,
                word.sources,
                _finite(word.low),
                _finite(word.high),
                word.last,
                tuple(sorted(said, key=lambda text: -said[text])[:SHOWN_VALUES]),
                taken,
            )
            for word, said, taken in zip(found, texts, understood, strict=True)
        ]

    def questions(self, tenant: Tenant, limit: int = 10) -> list[UsefulQuestion]:
        """The questions whose answers would change most deliveries."""
        if not self._reads:
            return []
        with self._follower.lock:
            learnt = self.learnt(tenant)
            words, since = list(learnt.words()), learnt.since
        return useful_questions(tenant, words, self.understanding(tenant), self._clock(), since, limit)

    def texts(self, tenant: Tenant, attribute: str) -> list[str]:
        """The texts that an attribute was seen with, over all sources."""
        with self._follower.lock:
            return list(self.learnt(tenant).texts(attribute))

    def seen(self, tenant: Tenant, source: str) -> tuple[Reading, ...]:
        """What was learnt of a source's attributes."""
        with self._follower.lock:
            learnt = self.learnt(tenant).source(source)
        return () if learnt is None else learnt.readings

    def _shown(self, tenant: Tenant, source: str) -> SourceShown:
        identities = tenant.known.identities
        source = identities.resolve(source)
        former = identities.former(source)
        with self._follower.lock:
            every = self.learnt(tenant)
            parts = [every.source(name) for name in (source, *(name for name, alone in former.items() if alone))]
            learnt = _together([each for each in parts if each is not None])
        held = tenant.known.announcements.get(source)
        if learnt is None and held is None:
            raise UnknownId(source, remedy="no source of this name was seen, and none announced itself")
        said = None if held is None else held.announcement
        attributes = _attributes(learnt, held)
        clock = tenant.alerts.wrong_clocks.get(source)
        return SourceShown(
            source,
            self._activity(tenant, source, learnt, held),
            (said.model if said is not None else "") or _text_of(learnt, MODELS),
            (said.place if said is not None else "") or _text_of(learnt, PLACES),
            0 if learnt is None else learnt.events,
            0 if learnt is None else learnt.first,
            0 if learnt is None else learnt.seen,
            (said.interval if said is not None else None) if learnt is None else _finite(round(learnt.interval, 3)),
            len(attributes),
            attributes,
            said,
            None if held is None else held.ends,
            source in tenant.known.kept,
            self._wanted(tenant, source),
            identities.labels.get(source, ""),
            tuple(sorted(former)),
            None if clock is None else WrongClock(*clock),
        )

    def _activity(
        self, tenant: Tenant, source: str, learnt: LearntSource | None, held: HeldAnnouncement | None
    ) -> SourceState:
        if held is not None and self._resting(tenant, source):
            return "resting"
        if learnt is None:
            return "announced"
        usual = held.announcement.interval if held is not None else None
        usual = learnt.interval if usual is None else usual
        patience = SHORTEST if math.isnan(usual) else max(SHORTEST, SILENT_AFTER * usual)
        return "silent" if self._clock() - learnt.seen > patience * 1e6 and not math.isnan(usual) else "awake"


def _given_up(tenant: Tenant, learnt: Learnt, name: str) -> bool:
    """Return whether a name was given up for others, and nothing came under it since."""
    at = tenant.known.identities.given_up_at(name)
    if at is None:
        return False
    seen = learnt.source(name)
    return seen is None or seen.seen <= at


def _together(parts: list[LearntSource]) -> LearntSource | None:
    """Return what was learnt of a source under all of its names; the first part is what holds now."""
    if len(parts) < 2:
        return parts[0] if parts else None
    readings: dict[tuple[str, str], Reading] = {}
    for each in (each for part in parts for each in part.readings):
        known = readings.setdefault((each.attribute, each.unit), each)
        if known is not each:
            low, high = _lower(known.low, each.low), -_lower(-known.high, -each.high)
            readings[each.attribute, each.unit] = known._replace(times=known.times + each.times, low=low, high=high)
    newest = parts[0]
    return newest._replace(
        events=sum(each.events for each in parts),
        first=min(each.first for each in parts),
        seen=max(each.seen for each in parts),
        readings=tuple(readings.values()),
    )


def _lower(one: float, other: float) -> float:
    return other if math.isnan(one) or other < one else one


def _attributes(learnt: LearntSource | None, held: HeldAnnouncement | None) -> tuple[AttributeShown, ...]:
    """What was announced, with what was learnt of it, then what was learnt beside it."""
    seen = {} if learnt is None else {(each.attribute, each.unit): each for each in learnt.readings}
    made = []
    for each in () if held is None else held.announcement.everything():
        names = [key for key in seen if fold(key[0]) == fold(each.name)]
        reading = seen.pop(names[0]) if len(names) == 1 else None
        shown = AttributeShown(each.name, each.unit, (each.kind,) if each.kind else (), low=each.low, high=each.high)
        if reading is not None:
            shown = msgspec.structs.replace(_of_reading(reading), attribute=each.name, unit=each.unit or reading.unit)
        made.append(msgspec.structs.replace(shown, announced=True))
    return (*made, *map(_of_reading, seen.values()))


def _of_reading(reading: Reading) -> AttributeShown:
    number = _finite(reading.number)
    return AttributeShown(
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


def _as_reading(shown: AttributeShown) -> Reading:
    bits = sum({"text": 1, "number": 2, "boolean": 4}[kind] for kind in shown.kinds)
    nan = math.nan
    return Reading(shown.attribute, shown.unit, shown.times, bits, nan, nan, shown.seen, nan, "", ())


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _text_of(learnt: LearntSource | None, names: tuple[str, ...]) -> str:
    """The last text of the first of some attributes that a source has."""
    if learnt is None:
        return ""
    said = {fold(each.attribute): each.text for each in learnt.readings if each.text}
    return next((said[name] for name in names if name in said), "")

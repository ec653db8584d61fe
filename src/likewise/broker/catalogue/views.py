"""Views of the catalogue: announcements, observations, the interpretation of each attribute, and short names.

A short name is the shortest end of a source's name that no other source has.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from likewise.api.sources import (
    AttributeDetails,
    AttributeInterpretation,
    AttributeSummary,
    DeviceSuggestion,
    ReviewQuestion,
    SourceClockFault,
    SourceDetails,
    SourcesPage,
    SourceState,
)
from likewise.broker.catalogue.follower import ProfileFollower
from likewise.broker.catalogue.observations import ObservedAttribute, ObservedName, ObservedSource
from likewise.broker.catalogue.source_profiles import SourceProfiles
from likewise.broker.log.catalogue.records import StoredAnnouncement
from likewise.broker.tenants.source_registry import SourceRegistry
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import UnknownId
from likewise.matching.reference.terms import predicate_attribute_term, theme_of
from likewise.model import Condition, fold
from likewise.semantics.concepts.explanations import describe_facets
from likewise.semantics.concepts.facets import UNKNOWN, Facets
from likewise.semantics.enrichment.corrections import Correction
from likewise.semantics.measure import Term, ValueKind
from likewise.units import any_unit

_STEP: Final = re.compile(r"[/:]")
_WORD: Final = re.compile(r"[^\W\d_]")


MOST_WORDS: Final = 2_000  # those seen most often
MOST_TERMS: Final = 2_000  # those asked for most often
DAY: Final = 86_400.0
LEAST: Final = 0.02  # what is less doubtful is no question


CACHED_MEANINGS: Final = 20_000  # understandings kept: a stream's words are few
LEAST_SURE: Final = 0.5  # a meaning that is rather not meant is not named
KINDS: Final = ((1, "text"), (2, "number"), (4, "boolean"), (8, "number"))


def kinds_of(bits: int) -> tuple[str, ...]:
    """Return the kinds of values in a bit set.

    >>> kinds_of(9)
    ('text', 'number')
    """
    return tuple(dict.fromkeys(name for bit, name in KINDS if bits & bit))


def observed_term(attribute: str, unit: str, bits: int) -> Term:
    """Return the term of an observed attribute."""
    known_unit = any_unit(unit) if unit else None
    kinds = kinds_of(bits)
    kind: ValueKind = kinds[0] if len(kinds) == 1 else ""  # type: ignore[assignment]
    return Term(attribute, "attribute", (), "" if known_unit is None else known_unit.symbol, kind)


def concept_of(facets: Facets) -> str:
    """Return the concept of a parsed name in a few words; '' if nothing in it is known.

    >>> from likewise.semantics.concepts.facets import Qualifier
    >>> concept_of(Facets(("temperature",), (Qualifier("water"),), role="setpoint"))
    'water temperature setpoint'
    """
    if not facets.kinds:
        return ""
    which = [each.name for each in facets.qualifiers if not each.is_outer and each.source != UNKNOWN]
    role = [facets.role] if facets.role and facets.role not in (*facets.kinds, "instantaneous") else []
    return " ".join(dict.fromkeys([*which, facets.kinds[0], *role]))


class AttributeMeanings:
    """Caches the interpretation of a tenant's attributes as long as corrections and feedback stay the same."""

    def __init__(self, tenant: Tenant, reads: bool = True) -> None:
        self._tenant = tenant
        self._reads = reads  # whether names are read at all: that takes a space
        self._cached: dict[Term, AttributeInterpretation] = {}
        self._judged = -1

    def of(
        self, attributes: Iterable[ObservedAttribute | ObservedName], source: str = "", model: str = ""
    ) -> list[AttributeInterpretation]:
        """Return the interpretation of each attribute, of one source or of any."""
        observed = list(attributes)
        terms = [observed_term(each.attribute, each.unit, each.kinds) for each in observed]
        self._read([term for term in terms if term not in self._cached])
        meanings = []
        for term in terms:
            corrected = correction_of(self._tenant.sources, term.text, source, model)
            if corrected is None:
                meanings.append(self._cached[term])
                continue
            number, correction = corrected
            meanings.append(
                AttributeInterpretation(
                    correction.means or self._cached[term].means,
                    1.0 if correction.means else self._cached[term].probability,
                    str(correction),
                    "corrected",
                    number,
                )
            )
        return meanings

    def _read(self, terms: list[Term]) -> None:
        if not self._reads:
            self._cached.update(
                dict.fromkeys(terms, AttributeInterpretation(words="the profile `small` reads no names"))
            )
            return
        interpretation = self._tenant.stateless.interpretation
        judged = len(interpretation.feedback)
        if judged != self._judged or len(self._cached) > CACHED_MEANINGS:
            terms = list(dict.fromkeys((*terms, *(self._cached if len(self._cached) <= CACHED_MEANINGS else ()))))
            self._cached, self._judged = {}, judged
        measure: Any = interpretation.measure
        facets = getattr(getattr(measure, "measure", measure), "facets", None)
        if facets is None:
            self._cached.update(dict.fromkeys(terms, AttributeInterpretation(words="this measure reads no names")))
            return
        curve = interpretation.probability_curve("conditions")
        for term in terms:
            parsed: Facets = facets(term)
            means = concept_of(parsed)
            if not means:
                self._cached[term] = AttributeInterpretation(words=describe_facets(parsed))
                continue
            concept = Term(means, "attribute", (), term.unit, term.kind)
            likely = curve.of(float(measure.matrix([concept], [term])[0, 0])) / len(parsed.kinds)
            if likely < LEAST_SURE:
                words = f"{describe_facets(parsed)}; with a probability of {likely:.2f} too unsure to say"
                self._cached[term] = AttributeInterpretation(words=words)
                continue
            self._cached[term] = AttributeInterpretation(means, round(likely, 3), describe_facets(parsed))


def correction_of(known: SourceRegistry, attribute: str, source: str, model: str) -> tuple[int, Correction] | None:
    """Return the correction of an attribute: of the source, else of its model, else of all sources."""
    name = fold(attribute)
    best: tuple[int, int, Correction] | None = None
    for number, each in known.corrected(name):
        rank = {"attribute": 0, "model": 1, "source": 2}[each.of]
        fits = (True, bool(model) and fold(each.name) == fold(model), each.name == source)[rank]
        if fits and (best is None or rank > best[0]):
            best = rank, number, each
    return None if best is None else best[1:]


def requested_terms(tenant: Tenant) -> dict[Term, int]:
    """Count the subscriptions that ask for each relaxed attribute."""
    counts: dict[Term, int] = {}
    for stored in tenant.live():
        body = stored.subscription.body
        if isinstance(body, Condition):
            theme = theme_of(stored.subscription.themes)
            for term in {predicate_attribute_term(p, theme) for p in body.predicates() if p.attribute_relaxed}:
                counts[term] = counts.get(term, 0) + 1
    return counts


def useful_questions(
    tenant: Tenant, words: Sequence[ObservedName], understanding: AttributeMeanings, now: int, since: int, limit: int
) -> list[ReviewQuestion]:
    """Return the questions whose answers would change most deliveries; corrected attributes are left out."""
    corrected = {fold(each.attribute) for each in tenant.sources.corrections.values()}
    left = sorted((w for w in words if fold(w.attribute) not in corrected), key=lambda w: -w.times)[:MOST_WORDS]
    requested = requested_terms(tenant)
    terms = sorted(requested, key=lambda term: -requested[term])[:MOST_TERMS]
    if not left or not terms:
        return []
    interpretation = tenant.stateless.interpretation
    observed = [observed_term(word.attribute, word.unit, word.kinds) for word in left]
    scores = interpretation.measure.matrix(terms, observed)
    likely = interpretation.probability_curve("conditions").each(np.asarray(scores, np.float32))
    doubt = np.minimum(likely, 1 - likely)
    doubt[doubt < LEAST] = 0
    weight = np.array([requested[term] for term in terms], np.float64)
    span = max((now - since) / 1e6, 60.0)
    daily = np.array([word.times / span * DAY for word in left])
    gain = (weight[:, None] * doubt).sum(0) * daily
    order = [place for place in np.argsort(-gain, kind="stable").tolist() if gain[place] > 0][:limit]
    meanings = understanding.of([left[place] for place in order])
    made = []
    for place, meaning in zip(order, meanings, strict=True):
        word, column = left[place], likely[:, place]
        best = [at for at in np.argsort(-column).tolist() if doubt[at, place] > 0][:5]
        proposed = meaning.means or terms[best[0]].text
        made.append(
            ReviewQuestion(
                word.attribute,
                word.unit,
                round(float(gain[place]), 2),
                word.sources,
                proposed,
                meaning.probability,
                tuple((terms[at].text, round(float(column[at]), 3)) for at in best),
            )
        )
    return made


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
        now = self._clock()
        attributes = tuple(
            msgspec.structs.replace(each, silent=True) if _is_silent(now - each.seen, each.every) else each
            for each in _attributes(learnt, stored)
        )
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
        return "silent" if _is_silent(self._clock() - learnt.last_seen, _finite(usual)) else "awake"


def _is_silent(since: int, usual: float | None) -> bool:
    """Return whether nothing came for so long (µs) that it is silence, by the usual time between two (s)."""
    return usual is not None and since > max(SHORTEST, SILENT_AFTER * usual) * 1e6


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
        every=_finite(round(reading.every, 3)),
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

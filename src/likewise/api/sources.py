"""Requests and responses of the catalogue: sources, vocabulary, corrections, sensing commands."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from likewise.model.announcements.announcement import Announcement

Basis = Literal["corrected", "learnt", "announced"]
SourceState = Literal["awake", "silent", "resting", "announced"]


class AttributeInterpretation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Interpretation of an attribute, its probability and reason; `correction` is the number of a correction."""

    means: str = ""
    probability: float = 0.0
    words: str = ""
    basis: Basis = "learnt"
    correction: int | None = None


class AttributeDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """One attribute of a source: announced, learnt or both. Times are µs since 1970.

    `every` is the usual time between two readings in seconds; it is `silent` after three of those.
    """

    attribute: str
    unit: str = ""
    kinds: tuple[str, ...] = ()
    times: int = 0
    low: float | None = None
    high: float | None = None
    last: str | float | None = None
    seen: int = 0
    line: tuple[float, ...] = ()
    announced: bool = False
    every: float | None = None
    silent: bool = False
    understood: AttributeInterpretation = AttributeInterpretation()


class SourceClockFault(msgspec.Struct, frozen=True):
    """A clock that fell back by more than a day: the time that an event stated, and when it came (µs)."""

    stated: int
    arrived: int


class SourceDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """A source: who it is, when it was seen, what it sends. In a list its attributes are counted, not shown.

    `label` is what people call it: what was announced, or the end of its name that no other source has. `aliases` are
    names that it had before. `clock` warns that its clock is wrong: alerts count its events when they come.
    """

    source: str
    activity: SourceState = "awake"
    model: str = ""
    place: str = ""
    events: int = 0
    first: int = 0
    seen: int = 0
    interval: float | None = None
    count: int = 0
    attributes: tuple[AttributeDetails, ...] = ()
    announcement: Announcement | None = None
    ends: int | None = None
    kept: bool = False
    wanted: int | None = None
    label: str = ""
    aliases: tuple[str, ...] = ()
    clock: SourceClockFault | None = None


class DeviceSuggestion(msgspec.Struct, frozen=True):
    """Sources of one value each, whose topics lie side by side: perhaps they are one device, which a map can say."""

    device: str
    sources: tuple[str, ...]


class SourcesPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some sources; `after` asks for the next ones, '' if there are none. `left_out` counts what did not fit.

    `one_device` offers, on the first page, what may be one device; nothing is joined unless a topic map says so.
    """

    sources: tuple[SourceDetails, ...]
    total: int
    after: str = ""
    left_out: dict[str, int] = {}
    one_device: tuple[DeviceSuggestion, ...] = ()


class AttributeSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """A name with a unit over all sources, and what it is taken for."""

    attribute: str
    unit: str = ""
    kinds: tuple[str, ...] = ()
    times: int = 0
    sources: int = 0
    low: float | None = None
    high: float | None = None
    seen: int = 0
    values: tuple[str, ...] = ()
    understood: AttributeInterpretation = AttributeInterpretation()


class CorrectionRequest(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Request to correct the meaning and unit of an attribute, of one source, a model, or all sources."""

    attribute: str
    of: Literal["source", "model", "attribute"] = "attribute"
    name: str = ""
    means: str = ""
    unit: str = ""
    denies: tuple[str, ...] = ()


class CorrectionDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """A correction that holds, by its number."""

    number: int
    attribute: str
    of: Literal["source", "model", "attribute"] = "attribute"
    name: str = ""
    means: str = ""
    unit: str = ""
    by: str = ""
    at: int = 0
    denies: tuple[str, ...] = ()


class ReviewQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """An attribute whose confirmation would change most: for how many deliveries a day, about, and what is proposed.

    `asked` are the terms of subscriptions that hang on it, each with the probability that it is what they mean.
    """

    attribute: str
    unit: str
    deliveries: float
    sources: int
    proposed: str
    probability: float
    asked: tuple[tuple[str, float], ...] = ()
    model: str = ""


class UncertainAttribute(msgspec.Struct, frozen=True, omit_defaults=True):
    """An attribute whose readings are not published under a common name: the best guesses, and why none counts.

    `advice` is what an adviser takes it for, `advised` how sure it is.
    """

    attribute: str
    source: str
    model: str = ""
    value: str | int | float | bool = ""
    unit: str = ""
    guesses: tuple[tuple[str, float], ...] = ()
    why: str = ""
    times: int = 1
    seen: int = 0
    advice: str = ""
    advised: float = 0.0


class ImportReceipt(msgspec.Struct, frozen=True):
    """Number of corrections that were imported."""

    corrections: int


class AnnouncementReceipt(msgspec.Struct, frozen=True):
    """An announcement that was taken: until when it holds (µs since 1970), and whether it only was renewed."""

    source: str
    ends: int
    renewed: bool


class SensingCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    """Sensing command: a source shall sense, at this interval (s) or more often, or rest.

    `version` grows with every change; `wanted` is how many subscriptions ask for it.
    """

    source: str
    on: bool
    version: int
    interval: float | None = None
    wanted: int = 0
    reason: str = ""


class DemandFilterDetails(msgspec.Struct, frozen=True):
    """The filter of one subscription: in words, and as alternatives of parts of predicates."""

    id: str
    text: str
    alternatives: list[Any]


class SourceDemandDetails(msgspec.Struct, frozen=True):
    """Demand for a source; `everything` lists the subscriptions that need every event of it."""

    source: str
    version: str
    filters: tuple[DemandFilterDetails, ...]
    everything: tuple[str, ...] = ()

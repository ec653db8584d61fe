"""Filters that an edge receives: exact filters of the subscriptions, and the terms that they were computed from.

An event that has a name, a unit, a kind of value, or a text in a relaxed position that was not judged, or a value
that was not announced, is wanted whatever the filters say, and reported: so neither a wrong `complete` nor a wrong
range loses a match (docs/engines/demand.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from likewise.matching.reference.operators import meets
from likewise.matching.reference.terms import event_attribute_terms
from likewise.model.event import Event, EventTuple
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import Predicate
from likewise.model.text import attribute_names, fold
from likewise.semantics.measure import Term

Part = tuple[Predicate, ...]  # one of them must be met
Parts = tuple[Part, ...]  # all of them


class DemandFilter(msgspec.Struct, frozen=True):
    """The exact filter of a subscription: one of its alternatives must be met, in all of their parts.

    >>> warm = DemandFilter("warm", (((Predicate("t", ">", 25.0), Predicate("temp", ">", 25.0)),),))
    >>> warm.matches({"temp": [EventTuple("temp", 30)]}), str(warm)
    (True, '{(t > 25 or temp > 25)}')
    """

    id: str
    alternatives: tuple[Parts, ...]

    def matches(self, by_name: Mapping[str, list[EventTuple]], types: Hierarchy = NO_TYPES) -> bool:
        """Return whether an event, as its tuples by folded name, may meet the subscription."""
        return any(all(_part_matches(part, by_name, types) for part in parts) for parts in self.alternatives)

    def __str__(self) -> str:
        from likewise.language.printer import predicate_text

        texts = []
        for parts in self.alternatives:
            shown = [" or ".join(map(predicate_text, part)) for part in parts]
            texts.append(
                ", ".join(f"({text})" if len(part) > 1 else text for text, part in zip(shown, parts, strict=True))
            )
        return "{" + (texts[0] if len(texts) == 1 else " or ".join(f"({each})" for each in texts)) + "}"


def _part_matches(part: Part, by_name: Mapping[str, list[EventTuple]], types: Hierarchy) -> bool:
    return any(
        meets(predicate, item, types) for predicate in part for item in by_name.get(fold(predicate.attribute), ())
    )


class Judged(msgspec.Struct, frozen=True):
    """Inputs of a demand: attributes as terms, the possible values of each, and texts for relaxed values."""

    terms: frozenset[Term]
    allowed: dict[str, tuple[Predicate, ...]]  # by folded name
    texts: dict[str, frozenset[str]]  # by folded name; where it is not named, texts do not matter

    def assess(self, event: Event) -> AssessedEvent:
        """Return what an event has that was not judged, or lies outside what was announced; and its tuples by name."""
        new: list[str] = []
        outside: list[str] = []
        by_name: dict[str, list[EventTuple]] = {}
        for item, term in zip(event.tuples, event_attribute_terms(event), strict=True):
            names = attribute_names(item.attribute)
            own = names[0]
            if term not in self.terms or (item.group and "[]" not in item.attribute):
                new.append(f"{item.attribute} {item.unit}".rstrip())
            elif own in by_name and "[]" not in own:
                new.append(f"{item.attribute}, twice")
            else:
                allowed = self.allowed.get(own, ())
                if allowed and not any(meets(each, item) for each in allowed):
                    outside.append(f"{item.attribute} = {item.value}")
                texts = self.texts.get(own)
                if texts is not None and isinstance(item.value, str) and fold(item.value) not in texts:
                    new.append(f"{item.attribute} = {item.value}")
            for name in names:
                by_name.setdefault(name, []).append(item)
        return AssessedEvent(by_name, tuple(new), tuple(outside))


class AssessedEvent(NamedTuple):
    """An event's tuples by folded name, what is new in it, and what lies outside what was announced."""

    by_name: dict[str, list[EventTuple]]
    new: tuple[str, ...]
    outside: tuple[str, ...]


class DemandDecision(NamedTuple):
    """Decision on an event: the subscriptions that may match it, and what in it is new or outside the announcement."""

    subscriptions: tuple[str, ...]
    new: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    @property
    def is_demanded(self) -> bool:
        """Return whether it is sent on."""
        return bool(self.subscriptions or self.new or self.outside)


class Demand(msgspec.Struct, frozen=True):
    """All that is asked of a source; `everything` are subscriptions that no filter can be made of."""

    source: str
    filters: tuple[DemandFilter, ...]
    judged: Judged
    everything: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """A name for what it says: equal demands have equal versions."""
        encoded = msgspec.json.encode(
            (
                self.filters,
                self.everything,
                sorted(map(repr, self.judged.terms)),
                sorted(self.judged.texts),
                [sorted(texts) for _, texts in sorted(self.judged.texts.items())],
            )
        )
        return hashlib.sha256(encoded).hexdigest()[:12]

    def __bool__(self) -> bool:
        return bool(self.filters or self.everything)

    def evaluate(self, event: Event, types: Hierarchy = NO_TYPES) -> DemandDecision:
        """Return whether an event of the source is wanted, by whom, and what it has that was not judged."""
        by_name, new, outside = self.judged.assess(event)
        matching = tuple(each.id for each in self.filters if each.matches(by_name, types))
        return DemandDecision((*matching, *self.everything), new, outside)

"""Conversion of a matcher's arguments: subscriptions, events, types and annotations as value, text, file, mapping."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from likewise.errors import InputError
from likewise.formats.json.batches import decode_each
from likewise.formats.json.events import event_from_json, event_from_mapping
from likewise.language import parse
from likewise.model import Event, Subscription
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.semantics.enrichment.corrections import CorrectedAnnotations
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, AnnotationSource, AnnotationTable
from likewise.semantics.enrichment.watched_file import AnnotationFile

GivenSubscription = Subscription | str | Mapping[str, object]
GivenEvent = Event | str | bytes | Mapping[str, object]
GivenTypes = Hierarchy | Mapping[str, str | Collection[str]] | str | Path
GivenAnnotations = AnnotationTable | AnnotationFile | CorrectedAnnotations | str | Path | Iterable[Mapping[str, object]]


def as_subscription(value: GivenSubscription) -> Subscription:
    """A subscription from its text in the language, or a mapping with its text or its structure.

    >>> as_subscription("{t > 25 degC}").kind, as_subscription({"text": "{t > 25}", "id": "warm"}).id
    ('exact', 'warm')
    """
    return value if isinstance(value, Subscription) else parse(value)


def as_event(value: GivenEvent) -> Event:
    """An event from JSON, or from a mapping: what it says, or the envelope around it.

    >>> as_event({"t": 21}) == as_event('{"t": 21}') == as_event({"v": 1, "payload": {"t": 21}})
    True
    """
    if isinstance(value, Event):
        return value
    if isinstance(value, (str, bytes)):
        return event_from_json(value)
    if isinstance(value, Mapping):
        return event_from_mapping(value)
    raise InputError(f"an event is an Event, a mapping or JSON, not {type(value).__name__}; use likewise.event")


def as_events(value: Sequence[GivenEvent]) -> Sequence[Event]:
    """Many events; a list of events, or a batch, is taken as it is."""
    if isinstance(value, (str, bytes, Mapping)):
        raise InputError(
            f"many events are a list of them or an EventBatch, not one {type(value).__name__}; use `match`"
        )
    if isinstance(value, (list, tuple)) and any(type(one) is not Event for one in value):
        if all(type(one) is bytes or type(one) is str for one in value):
            return decode_each(value)
        return [as_event(one) for one in value]
    return value  # type: ignore[return-value]  # a sequence of events


def as_types(value: GivenTypes | None) -> Hierarchy:
    """Declared types from a mapping of each to what is wider, or from a file of RDF.

    >>> as_types({"Thermometer": "Sensor", "Sensor": ["Device", "Asset"]}).is_a("thermometer", "asset")
    True
    """
    if value is None:
        return NO_TYPES
    if isinstance(value, Hierarchy):
        return value
    if isinstance(value, (str, Path)):
        from likewise.formats.rdf.hierarchies import types_from_file

        return Hierarchy(types_from_file(Path(value)))
    if isinstance(value, Mapping):
        pairs: list[tuple[str, str]] = []
        for narrow, wider in value.items():
            listed = wider if isinstance(wider, Collection) and not isinstance(wider, str) else (wider,)
            pairs += [(narrow, wide) for wide in listed]
        return Hierarchy(pairs)
    raise InputError(f"types are a mapping of each to wider ones, or an RDF file, not a {type(value).__name__}")


def as_annotations(value: GivenAnnotations | None) -> AnnotationSource:
    """Annotations from rows, or from a CSV file that is followed.

    >>> len(as_annotations([{"key": "source", "is": "s17", "attribute": "room", "value": "112"}]).current())
    1
    """
    if value is None:
        return NO_ANNOTATIONS
    if isinstance(value, (AnnotationTable, AnnotationFile, CorrectedAnnotations)):
        return value
    if isinstance(value, (str, Path)):
        return AnnotationFile(value)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)):
        from likewise.semantics.enrichment.rows import annotations_from_mappings

        return annotations_from_mappings(value)
    raise InputError(f"annotations are a CSV file or rows as mappings, not a {type(value).__name__}")

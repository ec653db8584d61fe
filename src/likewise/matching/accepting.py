"""What a matcher takes for a subscription or an event: the value itself, its text, or a mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from likewise.errors import InputError
from likewise.formats.json.events import event_from_document, event_from_json, is_envelope
from likewise.language import parse
from likewise.model import Event, Subscription, event

GivenSubscription = Subscription | str | Mapping[str, object]
GivenEvent = Event | str | bytes | Mapping[str, object]


def as_subscription(given: GivenSubscription) -> Subscription:
    """A subscription from its text in the language, or a mapping with its text or its structure.

    >>> as_subscription("{t > 25 degC}").kind, as_subscription({"text": "{t > 25}", "id": "warm"}).id
    ('exact', 'warm')
    """
    return given if isinstance(given, Subscription) else parse(given)


def as_event(given: GivenEvent) -> Event:
    """An event from JSON, or from a mapping: what it says, or the envelope around it.

    >>> as_event({"t": 21}) == as_event('{"t": 21}') == as_event({"v": 1, "payload": {"t": 21}})
    True
    """
    if isinstance(given, Event):
        return given
    if isinstance(given, (str, bytes)):
        return event_from_json(given)
    if isinstance(given, Mapping):
        found = dict(given)
        return event_from_document(found) if is_envelope(found) else event(found)
    raise InputError(f"an event is an Event, a mapping or JSON, not {type(given).__name__}; use likewise.event")


def as_events(given: Sequence[GivenEvent]) -> Sequence[Event]:
    """Many events; a list of events, or a batch, is taken as it is."""
    if isinstance(given, list) and any(type(one) is not Event for one in given):
        return [as_event(one) for one in given]
    return given  # type: ignore[return-value]  # a sequence of events

"""`likewise.match` and `likewise.filter`: subscriptions over one mapping, an iterable or an asynchronous iterable."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import NamedTuple, overload

from likewise.errors import InputError
from likewise.matching.coercion import GivenEvent, GivenSubscription, as_event
from likewise.matching.matcher import Matcher
from likewise.model import Match
from likewise.model.matched_reading import MatchedReading

GivenSubscriptions = GivenSubscription | Mapping[str, str] | Iterable[GivenSubscription]


class FilteredMatch(NamedTuple):
    """A match of `likewise.filter`.

    Attributes:
        event: The item of the stream, as it was given.
        match: The match.
    """

    event: GivenEvent
    match: Match

    @property
    def subscription_id(self) -> str:
        """Return the id of the subscription."""
        return self.match.subscription_id

    @property
    def readings(self) -> tuple[MatchedReading, ...]:
        """Return the readings that met the subscription, in its units."""
        return self.match.readings


def match(event: GivenEvent, subscription: GivenSubscription, *, matcher: Matcher | None = None) -> Match | None:
    """Match one event with one subscription.

    Args:
        event: An event, a mapping or JSON.
        subscription: A subscription or its text.
        matcher: Matcher whose interpretation decides. Default: what ships with the package.

    Returns:
        The match with its `readings`, or None.

    Raises:
        ParseError: The text is not in the language.
        InvalidEvent: The event is impossible.

    >>> found = match({"air_temp_f": 81.2}, "{temperature~ > 25 degC}")
    >>> found.readings[0].attribute, round(found.readings[0].converted, 1)
    ('air_temp_f', 27.3)
    >>> match({"air_temp_f": 68}, "{temperature~ > 25 degC}") is None
    True
    """
    chosen = _matcher_of(subscription, matcher)
    return next(iter(chosen.match(event)), None)


@overload
def filter(
    stream: Iterable[GivenEvent], subscriptions: GivenSubscriptions, *, matcher: Matcher | None = None
) -> Iterator[FilteredMatch]: ...
@overload
def filter(
    stream: AsyncIterable[GivenEvent], subscriptions: GivenSubscriptions, *, matcher: Matcher | None = None
) -> AsyncIterator[FilteredMatch]: ...
def filter(
    stream: Iterable[GivenEvent] | AsyncIterable[GivenEvent],
    subscriptions: GivenSubscriptions,
    *,
    matcher: Matcher | None = None,
) -> Iterator[FilteredMatch] | AsyncIterator[FilteredMatch]:
    """Yield the matches of a stream of events, one by one, as they arrive.

    Args:
        stream: Events, mappings or JSON, as an iterable or an asynchronous iterable.
        subscriptions: One subscription or its text, several of them, or a mapping of ids to texts.
        matcher: Matcher whose interpretation decides. Default: what ships with the package.

    Returns:
        An iterator, asynchronous if the stream is, of the matches with their events. Alerts and windows see the stream
        in order; what an alert sends because time passed comes with the next event.

    Raises:
        ParseError: A text is not in the language; raised at once, not with the first event.
        InvalidEvent: An item of the stream is no possible event; raised by the iterator.

    >>> stream = [{"TempC_SHT": 27.1}, {"battery_level": 81.2}, {"air_temp_f": 81.2}]
    >>> [list(found.event) for found in filter(stream, "{temperature~ > 25 degC}")]
    [['TempC_SHT'], ['air_temp_f']]
    """
    chosen = _matcher_of(subscriptions, matcher)
    if isinstance(stream, AsyncIterable):
        return _matches_later(stream, chosen)
    if isinstance(stream, (Mapping, str, bytes)) or not isinstance(stream, Iterable):
        raise InputError(f"a stream is an iterable of events, not one {type(stream).__name__}; use likewise.match")
    return _matches(stream, chosen)


def _matches(stream: Iterable[GivenEvent], matcher: Matcher) -> Iterator[FilteredMatch]:
    for item in stream:
        for each in matcher.match(as_event(item)):
            yield FilteredMatch(item, each)


async def _matches_later(stream: AsyncIterable[GivenEvent], matcher: Matcher) -> AsyncIterator[FilteredMatch]:
    async for item in stream:
        for each in matcher.match(as_event(item)):
            yield FilteredMatch(item, each)


def _matcher_of(subscriptions: GivenSubscriptions, matcher: Matcher | None) -> Matcher:
    """Return a matcher with these subscriptions and the interpretation of another one."""
    made = Matcher() if matcher is None else matcher.alike()
    if isinstance(subscriptions, Mapping) and "text" not in subscriptions and "body" not in subscriptions:
        made.add_many([{"id": id, "text": text} for id, text in subscriptions.items()])
    elif isinstance(subscriptions, Iterable) and not isinstance(subscriptions, (str, Mapping)):
        made.add_many(subscriptions)
    else:
        made.add(subscriptions)
    return made

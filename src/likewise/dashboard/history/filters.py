"""Filters of stored events: what one lets through, how it is called, and where it stands in an address."""

from __future__ import annotations

from typing import Final

import msgspec

SPANS: Final = {"hour": "the last hour", "day": "the last day", "week": "the last week", "all": "everything kept"}
LENGTHS: Final = {"hour": 3_600, "day": 86_400, "week": 7 * 86_400}  # seconds
MAX_SAVED: Final = 30  # filters that are saved in a browser


class EventFilter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A filter of stored events: words, a source, a subscription that they matched, a time span.

    >>> EventFilter("no2", span="hour").query(now=3_600.5)
    {'containing': 'no2', 'since': 500000}
    """

    words: str = ""
    source: str = ""
    subscriber: str = ""
    subscription: str = ""
    span: str = "day"

    def query(self, now: float) -> dict[str, object]:
        """Return the query parameters for the broker."""
        query: dict[str, object] = {
            "containing": self.words.strip(),
            "source": self.source.strip(),
            "subscriber": self.subscriber,
            "subscription": self.subscription,
        }
        if self.span in LENGTHS:
            query["since"] = max(0, int((now - LENGTHS[self.span]) * 1e6))
        return {name: value for name, value in query.items() if value != ""}

    @property
    def query_items(self) -> tuple[tuple[str, str], ...]:
        """The filter as the query of a page.

        >>> EventFilter("no2", "roof").query_items
        (('span', 'day'), ('words', 'no2'), ('source', 'roof'))
        """
        items = {"span": self.span, "words": self.words.strip(), "source": self.source.strip()}
        items |= {"subscriber": self.subscriber, "subscription": self.subscription}
        return tuple((name, value) for name, value in items.items() if value)

    @property
    def name(self) -> str:
        """The default name of the filter.

        >>> EventFilter("no2", subscription="bad air", span="hour").name, EventFilter().name
        ('no2, bad air, the last hour', 'the last day')
        """
        return ", ".join(
            each for each in (self.words.strip(), self.source, self.subscription, SPANS[self.span]) if each
        )


def parse_filter(query: dict[str, str]) -> EventFilter:
    """Parse a filter from the query of a page.

    >>> parse_filter({"words": "no2", "span": "soon"})
    EventFilter(words='no2', source='', subscriber='', subscription='', span='day')
    """
    known = {name: query.get(name, "") for name in ("words", "source", "subscriber", "subscription")}
    return EventFilter(**known, span=query["span"] if query.get("span") in SPANS else "day")


def parse_saved_filters(text: str | None) -> dict[str, EventFilter]:
    """Parse the filters that a browser has stored, by name; unreadable ones are left out.

    >>> parse_saved_filters('{"air": {"words": "no2"}, "bad": {"span": 3}}')
    {'air': EventFilter(words='no2', source='', subscriber='', subscription='', span='day')}
    >>> parse_saved_filters("nonsense"), parse_saved_filters(None)
    ({}, {})
    """
    try:
        documents = msgspec.json.decode(text or "{}", type=dict[str, msgspec.Raw])
    except msgspec.MsgspecError:
        return {}
    filters = {}
    for name, raw in list(documents.items())[:MAX_SAVED]:
        try:
            each = msgspec.json.decode(raw, type=EventFilter)
        except msgspec.MsgspecError:
            continue
        if each.span in SPANS:
            filters[name] = each
    return filters

"""Filters that a client subscribes with: topics, subscriptions by meaning (`$likewise/...`), groups (`$share/...`)."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

from likewise.errors import InvalidSubscription

SEMANTIC_PREFIX: Final = "$likewise/"
TEXT, MATCHES, ANSWERS, SUBSCRIPTIONS = "q/", "matches/", "answers/", "subscriptions/"
SHARED_PREFIX: Final = "$share/"

Kind = Literal["topic", "named", "text", "private"]


class TopicFilter(NamedTuple):
    """A filter, taken apart.

    `topic`: plain topics. `named`: a subscription by meaning whose text stands elsewhere; `text`: one that says it.
    `private`: where a session's own answers and matches are.
    """

    filter: str
    kind: Kind
    group: str = ""
    text: str = ""

    @property
    def id(self) -> str:
        """Return the id of a subscription by meaning: what follows `$likewise/`."""
        return self.filter.removeprefix(SEMANTIC_PREFIX)


def parse_topic_filter(text: str) -> TopicFilter:
    """Parse a filter of SUBSCRIBE: `$share/GROUP/` and `$likewise/` included.

    >>> parse_topic_filter("$share/readers/home/#")
    TopicFilter(filter='home/#', kind='topic', group='readers', text='')
    >>> parse_topic_filter("$likewise/q/%7Bno2%20%3E%2040%7D").text
    '{no2 > 40}'
    >>> parse_topic_filter("$likewise/warm").kind, parse_topic_filter("$likewise/matches/+").kind
    ('named', 'private')
    """
    group, shared = "", text
    if text.startswith(SHARED_PREFIX):
        group, _, shared = text[len(SHARED_PREFIX) :].partition("/")
    if not shared.startswith(SEMANTIC_PREFIX):
        return TopicFilter(shared, "topic", group)
    name = shared[len(SEMANTIC_PREFIX) :]
    if name.startswith((MATCHES, ANSWERS)):
        if group:
            raise InvalidSubscription(f"{shared[:80]!r} belongs to one session; it cannot be shared")
        return TopicFilter(shared, "private")
    if not name or name.startswith(SUBSCRIPTIONS) or "+" in name or "#" in name:
        raise InvalidSubscription(
            f"{shared[:80]!r} cannot be subscribed to; ask for {SEMANTIC_PREFIX}NAME with the user property `q`, "
            f"or for {SEMANTIC_PREFIX}{TEXT} and the percent-encoded text"
        )
    if name.startswith(TEXT):
        return TopicFilter(shared, "text", group, unquote(name[len(TEXT) :]))
    return TopicFilter(shared, "named", group)


def session_filter(id: str) -> str:
    """Return the filter under which a session stores the options of a semantic subscription.

    >>> session_filter("warm"), session_filter("matches/warm")
    ('$likewise/warm', '$likewise/subscriptions/warm')
    """
    if id.startswith(MATCHES):
        return f"{SEMANTIC_PREFIX}{SUBSCRIPTIONS}{id.removeprefix(MATCHES)}"
    return SEMANTIC_PREFIX + id


def group_subscriber(group: str, shared: str) -> str:
    """Return the subscriber that a group is registered as.

    >>> group_subscriber("readers", "home/#")
    'mqtt-share:readers/home/#'
    """
    return f"mqtt-share:{group}/{shared}"

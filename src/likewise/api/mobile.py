"""What the page of one subscriber shows: its subscriptions in words, where alerts stand, and what came."""

from __future__ import annotations

import msgspec


class AlertKeyDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """One key of an alert: since when it holds (µs), whether that was said, whether it is silent.

    `state` is `on`, `lasting` (it holds, but not long enough yet), `absent`, `excused` (it cannot be heard), `watched`
    or `off`; `words` say the same to people.
    """

    key: tuple[str, ...]
    heard: int
    begin: int | None = None
    said: bool = False
    absent: bool = False
    suppressed: int = 0
    state: str = ""
    words: str = ""


class AlertDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where an alert stands: how many keys have a state, and the first of them, what was said before what was not."""

    total: int
    keys: tuple[AlertKeyDetails, ...] = ()


class MobileSubscription(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subscription: as it is written, in words, and for an alert its newest keys."""

    id: str
    text: str
    words: str
    kind: str
    keys: tuple[AlertKeyDetails, ...] = ()


class MobileNotification(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that came: one line that says it, the rest, and what a thumb needs."""

    sequence: int
    cause: str
    subscription: str
    headline: str
    text: str
    score: float
    event_id: str | None = None
    source: str | None = None
    at: int | None = None


class MobilePage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who asks (`name` of the `names` that are theirs), and what is theirs after `sequence`."""

    name: str
    names: tuple[str, ...]
    sequence: int
    subscriptions: tuple[MobileSubscription, ...] = ()
    news: tuple[MobileNotification, ...] = ()

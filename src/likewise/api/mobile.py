"""Responses for the mobile page: subscriptions in words, states of alerts, and notifications."""

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
    """State of an alert: how many keys have one, and the first of them, notified ones first."""

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
    """The mobile page of one subscriber (`name`, one of `names`), with what is newer than `sequence`."""

    name: str
    names: tuple[str, ...]
    sequence: int
    subscriptions: tuple[MobileSubscription, ...] = ()
    news: tuple[MobileNotification, ...] = ()

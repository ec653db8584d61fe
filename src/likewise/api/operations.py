"""Requests and responses of administration: tokens, dead letters, statistics; and problems."""

from __future__ import annotations

from typing import Literal

import msgspec

Reason = Literal["unreadable", "queue_full", "unmatched", "undelivered"]  # why a letter is dead


class TokenRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token to be made for the tenant: what it opens, and until when (µs since 1970, or a time as text)."""

    name: str
    scopes: tuple[str, ...]
    expires: int | str | None = None


class TokenDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token that was made: everything but itself."""

    name: str
    scopes: tuple[str, ...]
    expires: int | None = None


class CreatedToken(msgspec.Struct, frozen=True):
    """A new token; it is never shown again."""

    name: str
    token: str


class DeadLetterDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """A dead letter: bytes that could not be read (`body` as text, its `media_type`), or an event for a subscriber.

    `at` is its time (µs since 1970), `age_s` its age in seconds by the broker's clock; older brokers leave that out.
    """

    number: int
    at: int
    reason: Reason
    detail: str
    age_s: float | None = None
    subscriber: str = ""
    event: str = ""
    subscriptions: tuple[str, ...] = ()
    body: str = ""
    media_type: str = ""


class ClockStatus(msgspec.Struct, frozen=True):
    """State of the broker's clock: how far it is trusted to remove expired data.

    `time` is the clock (µs since 1970), which is `behind_s` ahead of the time by which what was stored before its last
    steps ages; negative: the clock is behind. For `hold_s` more seconds sessions, leases and the like wait; with
    `holds_everything` events wait, too, read or not. `held_back` events are over by the clock and stay. `trouble` says
    so in words.
    """

    time: int
    behind_s: float
    hold_s: float
    held_back: int
    holds_everything: bool
    trouble: str = ""


class ClockAccepted(msgspec.Struct, frozen=True):
    """Result of accepting a clock step: whether there was one, and the state after it."""

    accepted: bool
    clock: ClockStatus


class TenantStats(msgspec.Struct, frozen=True):
    """Statistics of one tenant, and which engine serves each kind; nothing in them depends on other tenants."""

    events: int
    log_position: int  # of its last entry
    matched_position: int  # of its last entry that is matched
    deliveries: int
    pending: int
    subscribers: int
    subscriptions: int
    dead_letters: int
    dropped: int
    bytes: int  # of its stored events, about
    refused: int = 0  # requests, since the broker's start
    engines: dict[str, str] = {}  # by kind of subscription


class ConnectionStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """Status of a connector that brings events: its address, and the counts of its messages.

    Of a device (`mqtt`) the address is its client id, and it is said what it was sent and from where it comes.
    """

    kind: str  # mqtt-bridge, mqtt
    address: str
    connected: bool
    trouble: str  # why it is not connected; '' if it is
    received: int  # messages, since the broker's start
    stored: int  # events
    passed_over: int
    refused: int
    lost: int
    connections: int
    gaps: int
    sent: int = 0
    in_flight: int = 0
    subscriptions: int = 0
    peer: str = ""


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Problem details (RFC 9457): a stable `code`; `detail` says what was expected and what to do."""

    type: str
    title: str
    status: int
    detail: str
    code: str

"""The targets of a subscriber, as a client sets and sees them; for plain programs and for asyncio."""

from __future__ import annotations

from typing import Any, Final, Protocol
from urllib.parse import quote

import httpx
import msgspec

from likewise.api.sinks import (
    EmailSettings,
    MqttTargetSettings,
    RetryReceipt,
    TargetDetails,
    TargetSettings,
    WebhookSettings,
)
from likewise.client.messages import JSON, subscription_path
from likewise.errors import InputError

TargetSpec = TargetSettings | str  # settings, or an address alone
_ENCODE: Final = msgspec.json.Encoder().encode


def parse_target(to: TargetSpec) -> TargetSettings:
    """Settings, made of an address if that is all there is.

    >>> parse_target("mqtt://host:1883/alerts/{{place}}").topic
    'alerts/{{place}}'
    >>> parse_target("smtp://mail.example.org/ann@example.org").to
    'ann@example.org'
    >>> parse_target("example.org")
    Traceback (most recent call last):
    likewise.errors.InputError: a target's address begins with https://, http://, mqtts://, mqtt://, smtps:// or ...'
    """
    if not isinstance(to, str):
        return to
    scheme, sign, rest = to.partition("://")
    if sign and scheme in ("http", "https"):
        return WebhookSettings(to)
    if sign and scheme in ("mqtt", "mqtts"):
        host, _, topic = rest.partition("/")
        return MqttTargetSettings(f"{scheme}://{host}", topic)
    if sign and scheme in ("smtp", "smtps"):
        server, _, to_whom = rest.partition("/")
        sender = f"likewise@{to_whom.rpartition('@')[2]}"
        return EmailSettings(f"{scheme}://{server}", to_whom, sender)
    raise InputError(
        f"a target's address begins with https://, http://, mqtts://, mqtt://, smtps:// or smtp://; found {to[:20]!r}"
    )


def default_target_id(to: TargetSettings) -> str:
    """What a target is called if nobody names it: its kind."""
    return "webhook" if isinstance(to, WebhookSettings) else "email" if isinstance(to, EmailSettings) else "mqtt"


def target_path(subscriber: str, subscription: str, id: str = "", action: str = "") -> str:
    """The address of a target, or of all of a subscription.

    >>> target_path("ann", "bad air", "hook", "retry")
    '/v1/subscribers/ann/subscriptions/bad%20air/targets/hook/retry'
    """
    ends = [quote(each, safe="") for each in (id, action) if each]
    return "/".join([subscription_path(subscriber, subscription) + "/targets", *ends])


class _Sends(Protocol):
    @property
    def id(self) -> str: ...

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response: ...


class _SendsLater(Protocol):
    @property
    def id(self) -> str: ...

    async def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response: ...


class SubscriberTargets:
    """Where matches of a subscriber's subscriptions go out by themselves.

    with Subscriber("ann") as inbox:
        made = inbox.targets.set("bad air", Webhook("https://example.org/matches", because=True))
        print(made.secret)  # the only time it is shown
    """

    def __init__(self, subscriber: _Sends) -> None:
        self._subscriber = subscriber

    def set(self, subscription: str, to: TargetSpec, id: str | None = None) -> TargetDetails:
        """Set a target, or put it in place of the one with the same id (`webhook` or `mqtt` unless it is named)."""
        wanted = parse_target(to)
        path = target_path(self._subscriber.id, subscription, id or default_target_id(wanted))
        return _shown(self._subscriber.request("PUT", path, _ENCODE(wanted), JSON))

    def change(self, subscription: str, id: str, **settings: Any) -> TargetDetails:
        """Change some settings of a target; the rest stays."""
        path = target_path(self._subscriber.id, subscription, id)
        return _shown(self._subscriber.request("PATCH", path, _ENCODE(settings), JSON))

    def list(self, subscription: str | None = None) -> tuple[TargetDetails, ...]:
        """The targets of a subscription, or of all, and how they fare."""
        return _listed(
            self._subscriber.request("GET", _list_path(self._subscriber.id, subscription)), self._subscriber.id
        )

    def remove(self, subscription: str, id: str) -> None:
        """Remove a target, what waits for it, and its dead letters."""
        self._subscriber.request("DELETE", target_path(self._subscriber.id, subscription, id))

    def retry(self, subscription: str, id: str) -> int:
        """Try the dead letters of a target again; how many there are."""
        return _retried(self._subscriber.request("POST", target_path(self._subscriber.id, subscription, id, "retry")))


class AsyncSubscriberTargets:
    """The same for asyncio."""

    def __init__(self, subscriber: _SendsLater) -> None:
        self._subscriber = subscriber

    async def set(self, subscription: str, to: TargetSpec, id: str | None = None) -> TargetDetails:
        """Set a target, or put it in place of the one with the same id (`webhook` or `mqtt` unless it is named)."""
        wanted = parse_target(to)
        path = target_path(self._subscriber.id, subscription, id or default_target_id(wanted))
        return _shown(await self._subscriber.request("PUT", path, _ENCODE(wanted), JSON))

    async def change(self, subscription: str, id: str, **settings: Any) -> TargetDetails:
        """Change some settings of a target; the rest stays."""
        path = target_path(self._subscriber.id, subscription, id)
        return _shown(await self._subscriber.request("PATCH", path, _ENCODE(settings), JSON))

    async def list(self, subscription: str | None = None) -> tuple[TargetDetails, ...]:
        """The targets of a subscription, or of all, and how they fare."""
        own = self._subscriber.id
        return _listed(await self._subscriber.request("GET", _list_path(own, subscription)), own)

    async def remove(self, subscription: str, id: str) -> None:
        """Remove a target, what waits for it, and its dead letters."""
        await self._subscriber.request("DELETE", target_path(self._subscriber.id, subscription, id))

    async def retry(self, subscription: str, id: str) -> int:
        """Try the dead letters of a target again; how many there are."""
        path = target_path(self._subscriber.id, subscription, id, "retry")
        return _retried(await self._subscriber.request("POST", path))


def _list_path(subscriber: str, subscription: str | None) -> str:
    return "/v1/targets" if subscription is None else target_path(subscriber, subscription)


def _shown(answer: httpx.Response) -> TargetDetails:
    return msgspec.json.decode(answer.content, type=TargetDetails)


def _listed(answer: httpx.Response, subscriber: str) -> tuple[TargetDetails, ...]:
    found = msgspec.json.decode(answer.content, type=list[TargetDetails])
    return tuple(each for each in found if each.subscriber == subscriber)


def _retried(answer: httpx.Response) -> int:
    return msgspec.json.decode(answer.content, type=RetryReceipt).letters

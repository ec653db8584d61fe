"""The settings and paths of targets, for both kinds of client."""

from __future__ import annotations

from urllib.parse import quote

from likewise.api.sinks import EmailSettings, MqttTargetSettings, TargetSettings, WebhookSettings
from likewise.client.messages import subscription_path
from likewise.errors import InputError

TargetSpec = TargetSettings | str  # settings, or an address alone


def parse_target(to: TargetSpec) -> TargetSettings:
    """Return the settings of a target, made from its address if only that is given.

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
        server, _, recipient = rest.partition("/")
        sender = f"likewise@{recipient.rpartition('@')[2]}"
        return EmailSettings(f"{scheme}://{server}", recipient, sender)
    raise InputError(
        f"a target's address begins with https://, http://, mqtts://, mqtt://, smtps:// or smtp://; found {to[:20]!r}"
    )


def default_target_id(to: TargetSettings) -> str:
    """Return the id of a target that nobody names: its kind."""
    return "webhook" if isinstance(to, WebhookSettings) else "email" if isinstance(to, EmailSettings) else "mqtt"


def target_path(subscriber: str, subscription: str, id: str = "", action: str = "") -> str:
    """Return the path of a target, or of all targets of a subscription.

    >>> target_path("ann", "bad air", "hook", "retry")
    '/v1/subscribers/ann/subscriptions/bad%20air/targets/hook/retry'
    """
    ends = [quote(each, safe="") for each in (id, action) if each]
    return "/".join([subscription_path(subscriber, subscription) + "/targets", *ends])

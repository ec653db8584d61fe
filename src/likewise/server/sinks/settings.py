"""The settings of a target: checked before they are kept, and shown without what is secret.

Secrets go in and never out: of an address only the host is shown (services such as Slack put the secret into the path),
of headers only the names. What is left out when a target is changed stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from likewise.api.sinks import (
    EmailSettings,
    MqttTargetSettings,
    TargetDetails,
    TargetKind,
    TargetSettings,
    TargetStatus,
    WebhookSettings,
)
from likewise.broker.log.sink_rows import StoredTarget
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.errors import FormatError, InputError
from likewise.extras import require
from likewise.server.mqtt.broker_urls import parse_mqtt_url
from likewise.server.sinks.email import parse_mail_url
from likewise.server.sinks.networks import Network, check_host
from likewise.server.sinks.signing import key_of, make_secret
from likewise.server.sinks.templates import check_template

_OURS: Final = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "te", "upgrade", "expect"}
)
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"(?! )[\x20-\x7e]{0,4096}(?<! )")  # nothing that ends a header
_MOST_HEADERS: Final = 32
_LONGEST_SECRET: Final = 1_024  # characters of a secret, a name or a password
_MAILBOX: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_LONGEST_MAILBOX: Final = 254
_WORD: Final = re.compile(r"[^\x00-\x20\x7f]+")


def decode_target(body: bytes, known: StoredTarget | None, *, partly: bool = False) -> TargetSettings:
    """Decode the settings of a target; with `partly` they change some of the known ones.

    A secret, a password or headers that are left out stay; where the target goes to another scheme, host or port, what
    the earlier one was sent (headers, user name, password) has to be given again. The secret signs and is never sent.
    """
    try:
        document: Any = msgspec.json.decode(body)
        names_given = frozenset(document) if isinstance(document, dict) else frozenset()
        if partly and known is not None and isinstance(document, dict):
            document = {**msgspec.to_builtins(known.wanted), **document}
        target: TargetSettings = msgspec.convert(document, TargetSettings)
    except msgspec.ValidationError as error:
        raise FormatError(f"this is no target: {error}; see /docs") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"the request is not JSON: {error}") from None
    before = None if known is None else known.wanted
    match target, before:
        case WebhookSettings(), WebhookSettings():
            secret = before.secret if target.secret is None else target.secret
            headers = before.headers if target.headers is None else target.headers
            if _host_changed(target, before):
                _check_secrets_resent(names_given, headers=before.headers)
                headers = target.headers
            return msgspec.structs.replace(target, secret=secret, headers=headers)
        case (MqttTargetSettings() | EmailSettings(), MqttTargetSettings() | EmailSettings()) if type(target) is type(
            before
        ):
            if _host_changed(target, before):
                _check_secrets_resent(names_given, username=before.username, password=before.password)
            elif target.password is None and target.username in (None, before.username):
                return msgspec.structs.replace(target, username=before.username, password=before.password)
    return target


def _host_changed(target: TargetSettings, before: TargetSettings) -> bool:
    """Return whether two addresses differ in scheme, host or port."""
    return _origin(target) != _origin(before)


def _origin(target: TargetSettings) -> tuple[str, str, int | None]:
    if isinstance(target, MqttTargetSettings):
        return parse_mqtt_url(target.url)[:3]
    if isinstance(target, EmailSettings):
        return parse_mail_url(target.url)
    _webhook_host(target.url)
    parts = urlsplit(target.url)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _check_secrets_resent(names_given: frozenset[str], **stored: object) -> None:
    """Refuse to send what is kept for one host to another: who changes a target could read it there."""
    missing = [f"`{name}`" for name, value in stored.items() if value and name not in names_given]
    if missing:
        raise InputError(
            f"the address names another scheme, host or port, and what is kept for the earlier one is not sent there; "
            f"give {' and '.join(missing)} again, or null for none"
        )


def check_target(target: TargetSettings, allowed: Sequence[Network]) -> tuple[TargetSettings, str]:
    """Check settings; return them as they can be stored, and the secret if one was generated."""
    for field, seconds, most in (("timeout", target.timeout, 60), ("patience", target.patience, 7 * 86_400)):
        if not 1.0 <= seconds <= most:
            raise InputError(f"`{field}` is a number of seconds from 1 to {most}, not {seconds:g}")
    for hidden in (target.secret,) if isinstance(target, WebhookSettings) else (target.username, target.password):
        if hidden is not None and len(hidden) > _LONGEST_SECRET:
            raise InputError(f"a secret, a user name or a password has at most {_LONGEST_SECRET} characters")
    if target.form == "template":
        check_template(target.template)
    elif target.template is not None:
        raise InputError('a `template` is used with `"form": "template"`; say so, or leave it out')
    if isinstance(target, MqttTargetSettings):
        return _checked_mqtt(target, allowed), ""
    if isinstance(target, EmailSettings):
        return _checked_email(target, allowed), ""
    host = _webhook_host(target.url)
    check_host(host, allowed)
    if len(target.headers or {}) > _MOST_HEADERS:
        raise InputError(f"a webhook has at most {_MOST_HEADERS} headers of its own")
    for name, value in (target.headers or {}).items():
        if not _TOKEN.fullmatch(name) or name.lower() in _OURS or name.lower().startswith("webhook-"):
            raise InputError(f"{name[:60]!r} is no header to set; those of the connection and of webhooks are ours")
        if not _VALUE.fullmatch(value):
            raise InputError(f"the value of the header {name!r} is not plain text of at most 4,096 characters")
    if target.secret is not None:
        key_of(target.secret)
        return target, ""
    made = make_secret()
    return msgspec.structs.replace(target, secret=made), made


def _webhook_host(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not _WORD.fullmatch(url) or not url.isascii() or len(url) > 2_048:
        raise InputError("the address of a webhook is written like https://example.org/path; what was given is not")
    if parts.username is not None or parts.password is not None:
        raise InputError("an address with a password shows it to too many; set the header `Authorization` instead")
    return parts.hostname or ""


def _checked_mqtt(target: MqttTargetSettings, allowed: Sequence[Network]) -> MqttTargetSettings:
    require("mqtt", "a target of MQTT")
    url = parse_mqtt_url(target.url)
    if url.topic:
        raise InputError("the topic of a target stands in `topic`; leave it out of the address")
    check_host(url.host, allowed)
    check_template(target.topic, topic=True)
    return target


def _checked_email(target: EmailSettings, allowed: Sequence[Network]) -> EmailSettings:
    check_host(parse_mail_url(target.url).host, allowed)
    for name, address in (("to", target.to), ("sender", target.sender)):
        if not _MAILBOX.fullmatch(address) or len(address) > _LONGEST_MAILBOX:
            raise InputError(f"`{name}` is one mailbox, such as ann@example.org; what was given is not")
    if target.form not in ("text", "template") or not isinstance(target.template, str | None):
        raise InputError('mail is text: its `form` is "text", or "template" with a text')
    if (target.username is None) != (target.password is None):
        raise InputError("a mail server wants `username` and `password`, or neither; give both")
    return target


def redact_address(target: TargetSettings) -> str:
    """Return an address without its secrets.

    >>> redact_address(WebhookSettings("https://hooks.example.org/services/T0/B0/XXXX?k=1"))
    'https://hooks.example.org/...'
    >>> redact_address(MqttTargetSettings("mqtt://ann:secret@broker.local", "alerts"))
    'mqtt://broker.local:1883'
    """
    if isinstance(target, MqttTargetSettings):
        url = parse_mqtt_url(target.url)
        return f"{url.scheme}://{url.host}:{url.port}"
    if isinstance(target, EmailSettings):
        server = parse_mail_url(target.url)
        return f"{server.scheme}://{server.host}:{server.port}"
    parts = urlsplit(target.url)
    rest = "/..." if parts.path not in ("", "/") or parts.query else "/"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{rest}"


def target_details(feed: SinkQueue, subscriber: str, state: TargetStatus, secret: str = "") -> TargetDetails:
    """Return a target without its secrets."""
    target = feed.setting.wanted
    kinds: dict[type, TargetKind] = {WebhookSettings: "webhook", MqttTargetSettings: "mqtt", EmailSettings: "email"}
    return TargetDetails(
        subscriber,
        feed.subscription,
        feed.id,
        kinds[type(target)],
        redact_address(target),
        target.form,
        feed.setting.made,
        state,
        target.topic if isinstance(target, MqttTargetSettings) else "",
        target.template,
        tuple(sorted(target.headers or ())) if isinstance(target, WebhookSettings) else (),
        target.because,
        target.timeout,
        target.patience,
        secret,
        target.to if isinstance(target, EmailSettings) else "",
    )

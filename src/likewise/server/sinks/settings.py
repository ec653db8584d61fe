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
    """What a request wants a target to be; with `partly` it changes some of what is known.

    A secret, a password or headers that are left out stay; where the target goes to another scheme, host or port, what
    the earlier one was sent (headers, user name, password) has to be given again. The secret signs and is never sent.
    """
    try:
        said: Any = msgspec.json.decode(body)
        given = frozenset(said) if isinstance(said, dict) else frozenset()
        if partly and known is not None and isinstance(said, dict):
            said = {**msgspec.to_builtins(known.wanted), **said}
        found: TargetSettings = msgspec.convert(said, TargetSettings)
    except msgspec.ValidationError as error:
        raise FormatError(f"this is no target: {error}; see /docs") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"the request is not JSON: {error}") from None
    before = None if known is None else known.wanted
    match found, before:
        case WebhookSettings(), WebhookSettings():
            secret = before.secret if found.secret is None else found.secret
            headers = before.headers if found.headers is None else found.headers
            if _host_changed(found, before):
                _check_secrets_resent(given, headers=before.headers)
                headers = found.headers
            return msgspec.structs.replace(found, secret=secret, headers=headers)
        case (MqttTargetSettings() | EmailSettings(), MqttTargetSettings() | EmailSettings()) if type(found) is type(
            before
        ):
            if _host_changed(found, before):
                _check_secrets_resent(given, username=before.username, password=before.password)
            elif found.password is None and found.username in (None, before.username):
                return msgspec.structs.replace(found, username=before.username, password=before.password)
    return found


def _host_changed(found: TargetSettings, before: TargetSettings) -> bool:
    """Whether two addresses differ in scheme, host or port."""
    return _origin(found) != _origin(before)


def _origin(wanted: TargetSettings) -> tuple[str, str, int | None]:
    if isinstance(wanted, MqttTargetSettings):
        return parse_mqtt_url(wanted.url)[:3]
    if isinstance(wanted, EmailSettings):
        return parse_mail_url(wanted.url)
    _webhook_host(wanted.url)
    said = urlsplit(wanted.url)
    return said.scheme, said.hostname or "", said.port or (443 if said.scheme == "https" else 80)


def _check_secrets_resent(given: frozenset[str], **kept: object) -> None:
    """Refuse to send what is kept for one host to another: who changes a target could read it there."""
    missing = [f"`{name}`" for name, value in kept.items() if value and name not in given]
    if missing:
        raise InputError(
            f"the address names another scheme, host or port, and what is kept for the earlier one is not sent there; "
            f"give {' and '.join(missing)} again, or null for none"
        )


def check_target(wanted: TargetSettings, allowed: Sequence[Network]) -> tuple[TargetSettings, str]:
    """A target that can be kept, and the secret if one had to be made; what cannot work is refused with words."""
    for said, seconds, most in (("timeout", wanted.timeout, 60), ("patience", wanted.patience, 7 * 86_400)):
        if not 1.0 <= seconds <= most:
            raise InputError(f"`{said}` is a number of seconds from 1 to {most}, not {seconds:g}")
    for hidden in (wanted.secret,) if isinstance(wanted, WebhookSettings) else (wanted.username, wanted.password):
        if hidden is not None and len(hidden) > _LONGEST_SECRET:
            raise InputError(f"a secret, a user name or a password has at most {_LONGEST_SECRET} characters")
    if wanted.form == "template":
        check_template(wanted.template)
    elif wanted.template is not None:
        raise InputError('a `template` is used with `"form": "template"`; say so, or leave it out')
    if isinstance(wanted, MqttTargetSettings):
        return _checked_mqtt(wanted, allowed), ""
    if isinstance(wanted, EmailSettings):
        return _checked_email(wanted, allowed), ""
    host = _webhook_host(wanted.url)
    check_host(host, allowed)
    if len(wanted.headers or {}) > _MOST_HEADERS:
        raise InputError(f"a webhook has at most {_MOST_HEADERS} headers of its own")
    for name, value in (wanted.headers or {}).items():
        if not _TOKEN.fullmatch(name) or name.lower() in _OURS or name.lower().startswith("webhook-"):
            raise InputError(f"{name[:60]!r} is no header to set; those of the connection and of webhooks are ours")
        if not _VALUE.fullmatch(value):
            raise InputError(f"the value of the header {name!r} is not plain text of at most 4,096 characters")
    if wanted.secret is not None:
        key_of(wanted.secret)
        return wanted, ""
    made = make_secret()
    return msgspec.structs.replace(wanted, secret=made), made


def _webhook_host(url: str) -> str:
    try:
        said = urlsplit(url)
        good = said.scheme in ("http", "https") and bool(said.hostname) and said.port != 0
    except ValueError:
        good = False
    if not good or not _WORD.fullmatch(url) or not url.isascii() or len(url) > 2_048:
        raise InputError("the address of a webhook is written like https://example.org/path; what was given is not")
    if said.username is not None or said.password is not None:
        raise InputError("an address with a password shows it to too many; set the header `Authorization` instead")
    return said.hostname or ""


def _checked_mqtt(wanted: MqttTargetSettings, allowed: Sequence[Network]) -> MqttTargetSettings:
    require("mqtt", "a target of MQTT")
    found = parse_mqtt_url(wanted.url)
    if found.topic:
        raise InputError("the topic of a target stands in `topic`; leave it out of the address")
    check_host(found.host, allowed)
    check_template(wanted.topic, topic=True)
    return wanted


def _checked_email(wanted: EmailSettings, allowed: Sequence[Network]) -> EmailSettings:
    check_host(parse_mail_url(wanted.url).host, allowed)
    for said, address in (("to", wanted.to), ("sender", wanted.sender)):
        if not _MAILBOX.fullmatch(address) or len(address) > _LONGEST_MAILBOX:
            raise InputError(f"`{said}` is one mailbox, such as ann@example.org; what was given is not")
    if wanted.form not in ("text", "template") or not isinstance(wanted.template, str | None):
        raise InputError('mail is text: its `form` is "text", or "template" with a text')
    if (wanted.username is None) != (wanted.password is None):
        raise InputError("a mail server wants `username` and `password`, or neither; give both")
    return wanted


def redact_address(wanted: TargetSettings) -> str:
    """An address as anybody may see it.

    >>> redact_address(Webhook("https://hooks.example.org/services/T0/B0/XXXX?k=1"))
    'https://hooks.example.org/...'
    >>> redact_address(MqttTargetSettings("mqtt://ann:secret@broker.local", "alerts"))
    'mqtt://broker.local:1883'
    """
    if isinstance(wanted, MqttTargetSettings):
        found = parse_mqtt_url(wanted.url)
        return f"{found.scheme}://{found.host}:{found.port}"
    if isinstance(wanted, EmailSettings):
        server = parse_mail_url(wanted.url)
        return f"{server.scheme}://{server.host}:{server.port}"
    said = urlsplit(wanted.url)
    rest = "/..." if said.path not in ("", "/") or said.query else "/"
    return f"{said.scheme}://{said.netloc.rpartition('@')[2]}{rest}"


def target_details(feed: SinkQueue, subscriber: str, state: TargetStatus, secret: str = "") -> TargetDetails:
    """A target as anybody may see it."""
    wanted = feed.setting.wanted
    kinds: dict[type, TargetKind] = {WebhookSettings: "webhook", MqttTargetSettings: "mqtt", EmailSettings: "email"}
    return TargetDetails(
        subscriber,
        feed.subscription,
        feed.id,
        kinds[type(wanted)],
        redact_address(wanted),
        wanted.form,
        feed.setting.made,
        state,
        wanted.topic if isinstance(wanted, MqttTargetSettings) else "",
        wanted.template,
        tuple(sorted(wanted.headers or ())) if isinstance(wanted, WebhookSettings) else (),
        wanted.because,
        wanted.timeout,
        wanted.patience,
        secret,
        wanted.to if isinstance(wanted, EmailSettings) else "",
    )

"""Settings and status of targets, to which matches are sent. Secrets go in, never out."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from likewise.defaults import TARGET_DEADLINE_SECONDS, TARGET_TIMEOUT_SECONDS

Form = Literal[  # what is sent of a match
    "event",
    "json",
    "cloudevents",
    "template",
    "text",
    "plain",
    "slack",
    "discord",
    "ntfy",
    "telegram",
    "home-assistant",
]
FORMS_IN_WORDS: Final = frozenset({"text", "plain", "slack", "discord", "ntfy", "telegram", "home-assistant"})
TargetKind = Literal["webhook", "mqtt", "email"]


class WebhookSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="webhook", tag_field="kind"
):
    """An address that every match is posted to, signed.

    `form` says what is posted: `json`, the delivery as streams give it; `event`, the event alone; `cloudevents`, a
    structured CloudEvent; `template`, what `template` makes of it; `text`, plain words for people; `plain`, one
    sentence, which the other forms wrap as that service wants it. `secret` signs; left out, the broker makes one.
    `patience` is for how many seconds a match is tried before it becomes a dead letter.

    >>> WebhookSettings("https://example.org/hook", secret="whsec_c2VjcmV0")
    Webhook(url=..., form='json')
    """

    url: str
    secret: str | None = None
    form: Form = "json"
    template: Any = None
    headers: dict[str, str] | None = None
    because: bool = False
    timeout: float = TARGET_TIMEOUT_SECONDS
    patience: float = TARGET_DEADLINE_SECONDS

    def __repr__(self) -> str:
        return f"Webhook(url=..., form={self.form!r})"


class MqttTargetSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="mqtt", tag_field="kind"
):
    """A topic of a broker of MQTT that every match is published to with QoS 1.

    `topic` may name what the match says: `alerts/{{@subscription}}/{{place}}`. Score, cause, sequence and, if asked
    for, `because` are user properties (MQTT 5); the payload is the event unless `form` says otherwise.

    >>> MqttTargetSettings("mqtt://ann:secret@host", "alerts")
    MqttTargetSettings(url=..., topic='alerts')
    """

    url: str
    topic: str
    form: Form = "event"
    template: Any = None
    username: str | None = None
    password: str | None = None
    retain: bool = False
    because: bool = False
    timeout: float = TARGET_TIMEOUT_SECONDS
    patience: float = TARGET_DEADLINE_SECONDS

    def __repr__(self) -> str:
        return f"MqttTargetSettings(url=..., topic={self.topic!r})"


class EmailSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="email", tag_field="kind"
):
    """A mailbox that gets every match as a message in plain words, through a mail server.

    `url` is `smtp://host:587` (with STARTTLS where the server offers it) or `smtps://host`. The text is in plain words
    unless `form` is `template`.

    >>> EmailSettings("smtp://mail.example.org", "ann@example.org", "likewise@example.org")
    Email(url=..., to='ann@example.org')
    """

    url: str
    to: str
    sender: str
    form: Form = "text"
    template: Any = None
    username: str | None = None
    password: str | None = None
    because: bool = True
    timeout: float = 30.0
    patience: float = TARGET_DEADLINE_SECONDS

    def __repr__(self) -> str:
        return f"Email(url=..., to={self.to!r})"


TargetSettings = WebhookSettings | MqttTargetSettings | EmailSettings


class TargetStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """Status of a target: waiting and dead matches, the last success and the last error (µs since 1970).

    `sent`, `failed` (attempts) and `expired` (over before they could be sent) count since the broker's start.
    """

    waiting: int = 0
    dead: int = 0
    sent: int = 0
    failed: int = 0
    expired: int = 0
    last_success: int | None = None
    last_error: str = ""
    last_error_at: int | None = None
    trying_again_at: int | None = None


class TargetDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """A target as anybody may see it: of its address the host alone, of its headers the names, no secret.

    `secret` stands in the answer that made it, and in no other.
    """

    subscriber: str
    subscription: str
    id: str
    kind: TargetKind
    address: str
    form: Form
    made: int
    state: TargetStatus
    topic: str = ""
    template: Any = None
    headers: tuple[str, ...] = ()
    because: bool = False
    timeout: float = TARGET_TIMEOUT_SECONDS
    patience: float = TARGET_DEADLINE_SECONDS
    secret: str = ""
    to: str = ""


class RetryReceipt(msgspec.Struct, frozen=True):
    """Number of dead letters of a target that are retried."""

    letters: int

"""What each kind of target is made by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from likewise.api.sinks import Email, Webhook
from likewise.broker.log.sinks.rows import Setting
from likewise.server.sinks.networks import Network
from likewise.server.sinks.resolver import Resolve
from likewise.server.sinks.target import Target
from likewise.server.sinks.webhook import WebhookTarget

MakeTarget = Callable[[Setting, Sequence[Network], Resolve], Target]


def make_target(setting: Setting, allowed: Sequence[Network], resolve: Resolve) -> Target:
    """The target of some settings; nothing is connected yet."""
    wanted = setting.wanted
    if isinstance(wanted, Webhook):
        return WebhookTarget(wanted, allowed, resolve=resolve)
    if isinstance(wanted, Email):
        from likewise.server.sinks.email import EmailTarget

        return EmailTarget(wanted, allowed, resolve=resolve)
    from likewise.server.sinks.mqtt import MqttTarget

    return MqttTarget(wanted, setting.uid, allowed, resolve)

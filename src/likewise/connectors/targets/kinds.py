"""What each kind of target is made by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from likewise.broker.store.targets.rows import Setting
from likewise.connectors.targets.networks import Network
from likewise.connectors.targets.resolver import Resolve
from likewise.connectors.targets.target import Target
from likewise.connectors.targets.webhook import WebhookTarget
from likewise.formats.wire.targets import Email, Webhook

MakeTarget = Callable[[Setting, Sequence[Network], Resolve], Target]


def make_target(setting: Setting, allowed: Sequence[Network], resolve: Resolve) -> Target:
    """The target of some settings; nothing is connected yet."""
    wanted = setting.wanted
    if isinstance(wanted, Webhook):
        return WebhookTarget(wanted, allowed, resolve=resolve)
    if isinstance(wanted, Email):
        from likewise.connectors.targets.email import EmailTarget

        return EmailTarget(wanted, allowed, resolve=resolve)
    from likewise.connectors.targets.mqtt import MqttTarget

    return MqttTarget(wanted, setting.uid, allowed, resolve)

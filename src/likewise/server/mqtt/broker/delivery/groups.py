"""Shared subscriptions (`$share/GROUP/FILTER`), the consumer groups of MQTT: each message goes to one connected member.

A group is a subscriber of its own. Its members take what they can; what one has not acknowledged when its connection
breaks goes to another, with QoS 2 never. It ends with its last member's session.
"""

from __future__ import annotations

from contextlib import suppress

from likewise.broker.log.entries import SubscribeTopicCommand
from likewise.broker.log.mqtt.sessions import FilterOptions
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import InputError, StateError
from likewise.language import parse
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.outbox import DeliveryOutbox
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.delivery.topic_filters import TopicFilter, group_subscriber, parse_topic_filter


class SharedGroups:
    """The groups of all tenants."""

    def __init__(self, home: ListenerContext) -> None:
        self._home = home
        self._outboxes: dict[tuple[int, str], DeliveryOutbox] = {}

    async def join(self, session: Session, text: str, topic_filter: TopicFilter, option: FilterOptions) -> None:
        """Let a session share a filter, or a subscription by meaning, with the others of its group."""
        tenant, id = session.tenant, group_subscriber(topic_filter.group, topic_filter.filter)
        if option.no_local:
            raise InputError(f"{text[:80]!r} is shared: a group has no messages of its own; leave No Local out")
        outbox = await self._outbox(tenant, id, text)
        broker = self._home.broker
        others = (each.options[text].qos for each in outbox.members if text in each.options and each is not session)
        most = max((option.qos, *others))
        if topic_filter.kind == "topic":
            if most:
                command = SubscribeTopicCommand(id, topic_filter.filter, most)
                await self._home.gateway.wait_committed(broker.command, tenant, command)
            self._home.live_of(tenant).put(topic_filter.filter, outbox, FilterOptions(most))
        else:
            known = tenant.subscribers[id].subscriptions
            if option.own:
                subscription = parse(option.own, id=topic_filter.id)
                if (
                    topic_filter.id not in known
                    or tenant.subscription(id, topic_filter.id).subscription != subscription
                ):
                    await self._home.gateway.wait_committed(broker.start_subscribe, tenant, id, [subscription], True)
            elif topic_filter.id not in known:
                raise InputError(f"{text[:80]!r} needs the user property `q` with a subscription")
        if session not in outbox.members:
            outbox.members.append(session)
        session.groups[text] = outbox
        session.options.setdefault(text, option)
        outbox.pump()

    async def _outbox(self, tenant: Tenant, id: str, text: str) -> DeliveryOutbox:
        queue = await self._home.register(tenant, id)
        outbox = self._outboxes.get((tenant.number, id))
        if outbox is None or outbox.queue is not queue:
            outbox = self._outboxes[tenant.number, id] = DeliveryOutbox(self._home, tenant, queue, text)
        return outbox

    def restore(self, session: Session, text: str) -> DeliveryOutbox | None:
        """Rejoin a restored session to its group; None if the group is gone."""
        topic_filter = parse_topic_filter(text)
        id = group_subscriber(topic_filter.group, topic_filter.filter)
        queue = session.tenant.subscribers.get(id)
        if queue is None:
            return None
        key = (session.tenant.number, id)
        outbox = self._outboxes.get(key) or DeliveryOutbox(self._home, session.tenant, queue, text)
        self._outboxes[key] = outbox
        outbox.members.append(session)
        session.groups[text] = outbox
        if topic_filter.kind == "topic":
            most = max(member.options[text].qos for member in outbox.members if text in member.options)
            self._home.live_of(session.tenant).put(topic_filter.filter, outbox, FilterOptions(most))
        return outbox

    async def leave(self, session: Session, text: str) -> None:
        """Let a session share something no longer; the group ends with its last member."""
        outbox = session.groups.pop(text, None)
        if outbox is None:
            return
        outbox.discard_member(session)
        assert isinstance(outbox, DeliveryOutbox)
        if outbox.members:
            return
        topic_filter = parse_topic_filter(text)
        id = group_subscriber(topic_filter.group, topic_filter.filter)
        self._outboxes.pop((session.tenant.number, id), None)
        outbox.close()
        if topic_filter.kind == "topic":
            self._home.live_of(session.tenant).remove(topic_filter.filter, outbox)
        if outbox.queue.unregistered:
            return
        with suppress(StateError):  # somebody else unregistered it
            await self._home.gateway.wait_committed(self._home.broker.start_unregister, session.tenant, id)

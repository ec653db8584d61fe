"""Groups that share a queue (`$share/GROUP/FILTER`): each message goes to one of those who are connected.

A group is a subscriber of its own. Its members take what they can; what one has not acknowledged when its connection
breaks goes to another, with QoS 2 never. It ends with its last member's session.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

from likewise.broker.log.entries import SubscribeTopic
from likewise.broker.log.mqtt.sessions import Option
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import InputError, StateError
from likewise.language import parse
from likewise.server.mqtt.broker.delivery.context import Home
from likewise.server.mqtt.broker.delivery.outbox import Outbox
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.delivery.topic_filters import Asked, asked, group_subscriber
from likewise.server.mqtt.broker.delivery.topic_router import LiveTopics


class Groups:
    """The groups of all tenants; `register` gives a subscriber's queue, `live_of` a tenant's trie."""

    def __init__(
        self,
        home: Home,
        register: Callable[[Tenant, str], Awaitable[SubscriberQueue]],
        live_of: Callable[[Tenant], LiveTopics],
    ) -> None:
        self._home = home
        self._register = register
        self._live_of = live_of
        self._outboxes: dict[tuple[int, str], Outbox] = {}

    async def join(self, session: Session, text: str, found: Asked, option: Option) -> None:
        """Let a session share a filter, or a subscription by meaning, with the others of its group."""
        tenant, id = session.tenant, group_subscriber(found.group, found.filter)
        if option.no_local:
            raise InputError(f"{text[:80]!r} is shared: a group has no messages of its own; leave No Local out")
        outbox = await self._outbox(tenant, id, text)
        broker = self._home.broker
        others = (each.options[text].qos for each in outbox.members if text in each.options and each is not session)
        most = max((option.qos, *others))
        if found.kind == "topic":
            if most:
                command = SubscribeTopic(id, found.filter, most)
                await self._home.door.answer(lambda done: broker.command(tenant, command, done))
            self._live_of(tenant).put(found.filter, outbox, Option(most))
        else:
            known = tenant.subscribers[id].subscriptions
            if option.own:
                subscription = parse(option.own, id=found.id)
                if found.id not in known or tenant.subscription(id, found.id).subscription != subscription:
                    await self._home.door.answer(
                        lambda done: broker.start_subscribe(tenant, id, [subscription], True, done)
                    )
            elif found.id not in known:
                raise InputError(f"{text[:80]!r} needs the user property `q` with a subscription")
        if session not in outbox.members:
            outbox.members.append(session)
        session.groups[text] = outbox
        session.options.setdefault(text, option)
        outbox.pump()

    async def _outbox(self, tenant: Tenant, id: str, text: str) -> Outbox:
        queue = await self._register(tenant, id)
        outbox = self._outboxes.get((tenant.number, id))
        if outbox is None or outbox.queue is not queue:
            outbox = self._outboxes[tenant.number, id] = Outbox(self._home, tenant, queue, text)
        return outbox

    def restore(self, session: Session, text: str) -> Outbox | None:
        """A session that lasted has its place in a group again; None if the group is gone."""
        found = asked(text)
        id = group_subscriber(found.group, found.filter)
        queue = session.tenant.subscribers.get(id)
        if queue is None:
            return None
        key = (session.tenant.number, id)
        outbox = self._outboxes.get(key) or Outbox(self._home, session.tenant, queue, text)
        self._outboxes[key] = outbox
        outbox.members.append(session)
        session.groups[text] = outbox
        if found.kind == "topic":
            most = max(member.options[text].qos for member in outbox.members if text in member.options)
            self._live_of(session.tenant).put(found.filter, outbox, Option(most))
        return outbox

    async def leave(self, session: Session, text: str) -> None:
        """Let a session share something no longer; the group ends with its last member."""
        outbox = session.groups.pop(text, None)
        if outbox is None:
            return
        outbox.let_go(session)
        assert isinstance(outbox, Outbox)
        if outbox.members:
            return
        found = asked(text)
        id = group_subscriber(found.group, found.filter)
        self._outboxes.pop((session.tenant.number, id), None)
        outbox.close()
        if found.kind == "topic":
            self._live_of(session.tenant).remove(found.filter, outbox)
        if outbox.queue.gone:
            return
        with suppress(StateError):  # somebody else unregistered it
            await self._home.door.answer(lambda done: self._home.broker.start_unregister(session.tenant, id, done))

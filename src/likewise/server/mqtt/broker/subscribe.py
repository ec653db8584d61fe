"""Serve SUBSCRIBE and UNSUBSCRIBE: topics, semantic subscriptions, and shared ones of both.

A session needs a queue, and is registered as a subscriber, as soon as something it asks for is acknowledged or goes by
meaning. Plain topics with QoS 0 need nothing but the trie.
"""

from __future__ import annotations

import asyncio
from typing import cast

import msgspec
import structlog

from likewise.broker.log.entries import Command, SubscribeTopicCommand, UnsubscribeTopicCommand
from likewise.broker.log.mqtt.sessions import FilterOptions
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MQTT_FILTERS_PER_TURN
from likewise.errors import InputError, LikewiseError, LimitExceeded, NotAllowed, RateExceeded, UnknownId
from likewise.language import parse
from likewise.model import Subscription
from likewise.server.mqtt.broker.acknowledgements import Acknowledge
from likewise.server.mqtt.broker.announcements import may_read_sensing
from likewise.server.mqtt.broker.connection import MqttConnection
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.fan_out import FanOut
from likewise.server.mqtt.broker.delivery.groups import SharedGroups
from likewise.server.mqtt.broker.delivery.outbox import DeliveryOutbox
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.delivery.topic_filters import (
    ANSWERS,
    MATCHES,
    SEMANTIC_PREFIX,
    SUBSCRIPTIONS,
    TopicFilter,
    parse_topic_filter,
    session_filter,
)
from likewise.server.mqtt.broker.retained_messages import RetainedSender
from likewise.server.mqtt.broker.sessions import save_session
from likewise.server.mqtt.codec import (
    FilterRequest,
    Properties,
    Publish,
    Reason,
    SharedPublish,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
)

_log = structlog.get_logger("likewise.mqtt")
_ENCODE = msgspec.json.Encoder().encode


class SubscriptionService:
    """Serves the filters of sessions."""

    def __init__(self, home: ListenerContext, fan_out: FanOut, groups: SharedGroups) -> None:
        self._home = home
        self._groups = groups
        self._retained = RetainedSender(home, fan_out)

    # -- asking ---------------------------------------------------------------------------------

    def subscribe(self, connection: MqttConnection, packet: Subscribe) -> None:
        """Serve what a client asks for; what comes after it waits."""
        connection.suspend()
        self._home.spawn(self._subscribe_all(connection, packet))

    async def _subscribe_all(self, connection: MqttConnection, packet: Subscribe) -> None:
        session = connection.session
        assert session is not None
        words = ""
        known = {wish.filter for wish in packet.requests if wish.filter in session.options}
        answers: list[tuple[int, str]] = []
        for first in range(0, len(packet.requests), MQTT_FILTERS_PER_TURN):
            part = packet.requests[first : first + MQTT_FILTERS_PER_TURN]
            work = [self._subscribe(connection, session, wish, packet.properties) for wish in part]
            # One of them without a further turn of the loop: what others publish next comes after it in the log.
            answers += [await work[0]] if len(packet.requests) == 1 else await asyncio.gather(*work)
        session.refresh_options()
        reasons = []
        for reason, text in answers:
            reasons.append(reason)
            words = words or text
        if session.number and any(reason < Reason.UNSPECIFIED_ERROR for reason in reasons):
            await save_session(self._home.gateway, session)
        connection.send_packet(Suback(packet.packet_id, tuple(reasons), connection.reason_properties(words)))
        filters = [
            wish.filter
            for wish, reason in zip(packet.requests, reasons, strict=True)
            if reason < Reason.UNSPECIFIED_ERROR
            and (wish.retain_handling == 0 or (wish.retain_handling == 1 and wish.filter not in known))
        ]
        await self._retained.send(connection, session, filters)

    async def _subscribe(
        self, connection: MqttConnection, session: Session, wish: FilterRequest, properties: Properties
    ) -> tuple[int, str]:
        """Serve one filter: the QoS granted, or why not, also in words."""
        before = session.options.get(wish.filter)
        try:
            topic_filter = parse_topic_filter(wish.filter)
            access = connection.access
            assert access is not None
            if topic_filter.group or not may_read_sensing(access, wish.filter):
                access.require("subscribe")
                if not session.groups and not access.owns(session.client):
                    access.require_subscriber(session.client)
            most = self._home.config.subscriptions
            if wish.filter not in session.options and len(session.options) >= most:
                raise LimitExceeded("filters of a session", allowed=most)
            user = dict(properties.user)
            option = FilterOptions(
                wish.qos,
                wish.no_local,
                wish.retain_as_published,
                properties.subscription_identifiers[:1],
                user.get("explain", "") not in ("", "0", "false"),
                topic_filter.text or (user.get("q", "") if topic_filter.kind == "named" else ""),
            )
            session.options[wish.filter] = option  # before anything comes of it
            if topic_filter.group:
                await self._groups.join(session, wish.filter, topic_filter, option)
            elif topic_filter.kind == "topic":
                await self._subscribe_topic(session, wish, option, before)
            elif topic_filter.kind != "private":
                await self._subscribe_semantic(session, topic_filter, option, before)
            self._route(session, wish.filter, topic_filter, option)
            return wish.qos, ""
        except LikewiseError as error:
            self._restore_option(session, wish.filter, before)
            return _refusal_reason(error), str(error)
        except Exception as mistake:
            self._restore_option(session, wish.filter, before)
            _log.exception("mqtt_subscribe_failed", filter=wish.filter[:200])
            return Reason.UNSPECIFIED_ERROR, f"{type(mistake).__name__}: {mistake}"

    def _restore_option(self, session: Session, text: str, before: FilterOptions | None) -> None:
        """Restore the option of a filter that was refused."""
        session.options.pop(text, None)
        if before is not None:
            session.options[text] = before

    def _route(self, session: Session, text: str, topic_filter: TopicFilter, option: FilterOptions) -> None:
        """Route new messages of a filter to the session."""
        if topic_filter.kind == "topic" and not topic_filter.group:
            self._home.live_of(session.tenant).put(text, session, option)

    async def _subscribe_topic(
        self, session: Session, wish: FilterRequest, option: FilterOptions, before: FilterOptions | None
    ) -> None:
        if option.qos:
            retained = wish.retain_handling == 0 or (wish.retain_handling == 1 and before is None)
            command = SubscribeTopicCommand(session.subscriber, wish.filter, option.qos, option.no_local, retained)
            if session.outbox is None or session.outbox.queue.unregistered:
                await self.queue_of(session, command)  # in one step: what others publish from now on comes
            else:
                await self._command(session.tenant, command)
        elif before is not None and before.qos:
            await self._command(session.tenant, UnsubscribeTopicCommand(session.subscriber, wish.filter))

    async def _subscribe_semantic(
        self, session: Session, topic_filter: TopicFilter, option: FilterOptions, before: FilterOptions | None
    ) -> None:
        if not option.own:
            raise InputError(
                f"{topic_filter.filter[:80]!r} needs the user property `q` with a subscription, such as {{no2 > 40}}"
            )
        subscription = parse(option.own, id=topic_filter.id)
        await self.queue_of(session)
        if before is None or before.own != option.own:
            await self.store_subscription(session.tenant, session.subscriber, subscription)

    async def store_subscription(self, tenant: Tenant, subscriber: str, subscription: Subscription) -> None:
        """Hold a subscription by meaning, in place of one with the same id."""
        broker = self._home.broker
        await self._home.gateway.wait_committed(broker.start_subscribe, tenant, subscriber, [subscription], True)

    async def queue_of(self, session: Session, *also: Command) -> DeliveryOutbox:
        """Return a session's queue; a new one is registered together with other commands."""
        if session.outbox is None or session.outbox.queue.unregistered:
            queue = await self._home.register(session.tenant, session.subscriber, *also)
            if session.outbox is None or session.outbox.queue is not queue:
                session.outbox = outbox = DeliveryOutbox(self._home, session.tenant, queue)
                outbox.members.append(session)
                if also:
                    outbox.pump()  # nobody was there to be woken when they were carried out
        return cast("DeliveryOutbox", session.outbox)

    async def _command(self, tenant: Tenant, command: Command) -> object:
        return await self._home.gateway.wait_committed(self._home.broker.command, tenant, command)

    # -- asking no longer -----------------------------------------------------------------------

    def unsubscribe(self, connection: MqttConnection, packet: Unsubscribe) -> None:
        """End what a client asks for no longer; what comes after it waits."""
        connection.suspend()
        self._home.spawn(self._unsubscribe_all(connection, packet))

    async def _unsubscribe_all(self, connection: MqttConnection, packet: Unsubscribe) -> None:
        session = connection.session
        assert session is not None
        reasons = []
        for number, text in enumerate(packet.filters, 1):
            reasons.append(await self._unsubscribe(session, text))
            if number % MQTT_FILTERS_PER_TURN == 0:
                await asyncio.sleep(0)
        session.refresh_options()
        if session.number:
            await save_session(self._home.gateway, session)
        connection.send_packet(Unsuback(packet.packet_id, tuple(reasons)))
        connection.continue_packets()

    async def _unsubscribe(self, session: Session, text: str) -> int:
        option = session.options.get(text)
        if option is None:
            return Reason.NO_SUBSCRIPTION_EXISTED
        try:
            topic_filter = parse_topic_filter(text)
            tenant, broker = session.tenant, self._home.broker
            if topic_filter.group:
                await self._groups.leave(session, text)
            elif topic_filter.kind == "topic":
                self._home.live_of(tenant).remove(text, session)
                if option.qos:
                    await self._command(tenant, UnsubscribeTopicCommand(session.subscriber, text))
            elif topic_filter.kind != "private":
                await self._home.gateway.wait_committed(
                    broker.start_unsubscribe, tenant, session.subscriber, topic_filter.id
                )
        except UnknownId:
            pass  # its subscriber was unregistered by another way
        except LikewiseError as error:
            _log.warning("mqtt_unsubscribe_failed", filter=text[:200], error=str(error))
            return Reason.UNSPECIFIED_ERROR
        session.options.pop(text, None)
        return Reason.SUCCESS

    # -- by a message ---------------------------------------------------------------------------

    def publish_subscription(self, connection: MqttConnection, packet: Publish, acknowledge: Acknowledge) -> None:
        """Store the subscription published to `$likewise/subscriptions/NAME`; an empty text removes it."""
        connection.suspend()
        self._home.spawn(self._publish_subscription(connection, packet, acknowledge))

    async def _publish_subscription(
        self, connection: MqttConnection, packet: Publish, acknowledge: Acknowledge
    ) -> None:
        session, access = connection.session, connection.access
        assert session is not None
        assert access is not None
        name = packet.topic.removeprefix(SEMANTIC_PREFIX + SUBSCRIPTIONS)
        text = session_filter(f"{MATCHES}{name}")
        answer: dict[str, object] = {"name": name, "accepted": True}
        try:
            access.require("subscribe")
            access.require_subscriber(session.client)
            if not name:
                raise InputError(f"a name is missing: publish to {SEMANTIC_PREFIX}{SUBSCRIPTIONS}NAME")
            if packet.payload.strip():
                most = self._home.config.subscriptions
                if text not in session.options and len(session.options) >= most:
                    raise LimitExceeded("filters of a session", allowed=most)
                body = packet.payload.decode(errors="replace")
                subscription = parse(body, id=f"{MATCHES}{name}")
                await self.queue_of(session)
                before, session.options[text] = session.options.get(text), FilterOptions(packet.qos, own=body)
                try:
                    await self.store_subscription(session.tenant, session.subscriber, subscription)
                except LikewiseError:
                    self._restore_option(session, text, before)
                    raise
            elif (await self._remove_named(session, text)) is False:
                raise UnknownId(name)
            if session.number:
                await save_session(self._home.gateway, session)
        except LikewiseError as error:
            answer |= {"accepted": False, "code": error.code, "problem": str(error)}
        made = SharedPublish(f"{SEMANTIC_PREFIX}{ANSWERS}{name}", _ENCODE(answer), version=connection.version)
        connection.send(made.encode_for(0))
        if packet.qos:
            acknowledge(connection, packet)
        connection.continue_packets()

    async def _remove_named(self, session: Session, text: str) -> bool:
        option = session.options.get(text)
        if option is None or not option.own:
            return False
        tenant, id = session.tenant, MATCHES + text.removeprefix(SEMANTIC_PREFIX + SUBSCRIPTIONS)
        await self._home.gateway.wait_committed(self._home.broker.start_unsubscribe, tenant, session.subscriber, id)
        del session.options[text]
        return True


def _refusal_reason(error: LikewiseError) -> int:
    match error:
        case NotAllowed():
            return Reason.NOT_AUTHORIZED
        case LimitExceeded() | RateExceeded():
            return Reason.QUOTA_EXCEEDED
        case InputError():
            return Reason.TOPIC_FILTER_INVALID
        case _:
            return Reason.IMPLEMENTATION_SPECIFIC_ERROR

"""Who is let in: the password is a token, which decides the tenant and which client ids it may have."""

from __future__ import annotations

import uuid
from typing import Final, NamedTuple

from likewise.broker.log.entries import check_id
from likewise.broker.tenants.access import Access
from likewise.errors import InvalidEvent, LikewiseError, NotAuthenticated
from likewise.model.time import SECOND, duration
from likewise.server.gateway import Door
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.delivery.topic_filters import OWN, SHARED
from likewise.server.mqtt.codec import MQTT_5, Connect, Reason

MAX_CLIENT_ID: Final = 1_024  # bytes; it becomes part of a subscriber's id and of every event


class NotLetIn(Exception):
    """A client is refused, for a reason."""

    def __init__(self, reason: Reason, words: str) -> None:
        self.reason = reason
        super().__init__(words)


class LetIn(NamedTuple):
    """Who comes: what they may do, and under which client id."""

    access: Access
    token: str | None
    client: str
    assigned: bool


def admit(door: Door, packet: Connect) -> LetIn:
    """Who a CONNECT says it comes from; refused where that is not so."""
    if packet.properties.authentication_method is not None:
        raise NotLetIn(Reason.BAD_AUTHENTICATION_METHOD, "only a token as the password is known here")
    token = None if packet.password is None else packet.password.decode(errors="replace")
    try:
        access = door.keeper.admit(token)
    except NotAuthenticated as error:
        reason = Reason.NOT_AUTHORIZED if token is None else Reason.BAD_USER_NAME_OR_PASSWORD
        raise NotLetIn(reason, f"{error}; over MQTT the token is the password") from None
    if packet.username and packet.username != access.tenant:
        words = f"the user name is the token's tenant ({access.tenant!r}), or is left out"
        raise NotLetIn(Reason.BAD_USER_NAME_OR_PASSWORD, words)
    publishes = access.free("publish") or bool(access.bound("publish"))
    subscribes = access.free("subscribe") or bool(access.bound("subscribe"))
    if not publishes and not subscribes:
        raise NotLetIn(Reason.NOT_AUTHORIZED, "this needs a token with the scope 'publish' or 'subscribe'")
    _check_will(packet, access)
    return LetIn(access, token, *_client(packet, access, publishes, subscribes))


def _check_will(packet: Connect, access: Access) -> None:
    will = packet.will
    if will is None:
        return
    if will.topic.startswith((OWN, SHARED, "$SYS/")):
        raise NotLetIn(Reason.TOPIC_NAME_INVALID, f"a will cannot be published to {will.topic[:80]!r}")
    try:
        access.require("publish")
    except LikewiseError as error:
        raise NotLetIn(Reason.NOT_AUTHORIZED, f"a will is published: {error}") from None


def _client(packet: Connect, access: Access, publishes: bool, subscribes: bool) -> tuple[str, bool]:
    """The client id; one is given to who has none."""
    own = access.bound("subscribe")
    if not packet.client_id:
        if packet.version != MQTT_5 and not packet.clean_start:
            raise NotLetIn(Reason.CLIENT_IDENTIFIER_NOT_VALID, "a session that is kept needs a client id")
        if not access.free("subscribe") and len(own) == 1:
            return own[0], True
        return f"auto-{uuid.uuid4().hex}", True
    try:
        check_id(packet.client_id)
    except InvalidEvent as error:
        raise NotLetIn(Reason.CLIENT_IDENTIFIER_NOT_VALID, str(error).replace("the id", "the client id", 1)) from None
    if len(packet.client_id.encode()) > MAX_CLIENT_ID:
        raise NotLetIn(Reason.CLIENT_IDENTIFIER_NOT_VALID, f"a client id has at most {MAX_CLIENT_ID:,} bytes")
    if subscribes and not access.owns(packet.client_id):
        words = f"this token is for the client ids {', '.join(own)}"
        raise NotLetIn(Reason.CLIENT_IDENTIFIER_NOT_VALID, words)
    return packet.client_id, False


def may_have(access: Access, session: Session) -> bool:
    """Whether who comes may go on with a session: who may subscribe under its name, or whose own it is."""
    subscribes = access.free("subscribe") or bool(access.bound("subscribe"))
    return access.owns(session.client) if subscribes else session.owner == access.name


def expiry_of(packet: Connect, longest: str) -> int:
    """For how many seconds a session outlives its connection, as the client asks for it and is granted."""
    if packet.version == MQTT_5:
        asked = packet.properties.session_expiry or 0
    else:
        asked = 0 if packet.clean_start else 2**32 - 1
    return min(asked, duration(longest) // SECOND)

"""Authenticate clients: the password is a token, which decides the tenant and the allowed client ids.

Failed logins: answered later and later for one address, and logged now and then.

A token cannot be guessed, so a delay protects no secret: it keeps a client that tries again at once, for ever, from
taking the loop and filling the log. It delays refusals alone. A good token is let in at once, whatever its address did
before: behind one address there may be a whole town.

Connections that have not logged in: how many, and how many bytes of them, in total and of one address.

Nobody is known yet who could be held to account, so there are few bytes and little time. When there are too many, the
oldest is closed, not the newest refused: who means well has logged in within milliseconds, and who holds connections
open to keep others out loses them.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from typing import Final, NamedTuple

from likewise.backoff import backoff_s
from likewise.broker.log.entries import check_id
from likewise.broker.tenants.access import Access
from likewise.defaults import (
    LOGIN_ADDRESSES,
    LOGIN_DELAY_SECONDS,
    LOGIN_FORGET_SECONDS,
    LOGIN_FREE,
    LOGIN_LOG_SECONDS,
    PENDING_SHARE,
)
from likewise.errors import InvalidEvent, LikewiseError, NotAuthenticated
from likewise.model.time import SECOND, duration
from likewise.server.connection_limits import ConnectionLimits
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker.connection import MqttConnection
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.delivery.topic_filters import SEMANTIC_PREFIX, SHARED_PREFIX
from likewise.server.mqtt.codec import MQTT_5, Connect, Reason
from likewise.server.receive_buffers import PartialPackets


class PendingConnections:
    """Bounds them. For the event loop's thread.

    Args:
        allowed: connections in total; one address may have the fourth part.
        allowed_bytes: bytes buffered in total; one address may have the fourth part.
        limits: what an address is counted by; it may close one of these connections to make room for any other.
    """

    def __init__(self, allowed: int, allowed_bytes: int, limits: ConnectionLimits) -> None:
        self.allowed = allowed
        self.evicted = 0
        self._limits, self._key_of = limits, limits.key_of
        self.packets: PartialPackets[MqttConnection] = PartialPackets(
            allowed_bytes,
            max(1, allowed_bytes // PENDING_SHARE),
            lambda connection: limits.key_of(connection.address),
            self._evict,
        )
        self._all: dict[MqttConnection, None] = {}  # oldest first
        self._by: dict[str, dict[MqttConnection, None]] = {}  # the same connections by address

    def __len__(self) -> int:
        return len(self._all)

    @property
    def bytes(self) -> int:
        """Return how many bytes of incomplete packets are buffered."""
        return self.packets.total

    def add(self, connection: MqttConnection) -> None:
        """Count a new connection; the oldest one goes if there are too many."""
        self._all[connection] = None
        self._limits.wait(connection)
        key = self._key_of(connection.address)
        if key is not None:
            of_address = self._by.setdefault(key, {})
            of_address[connection] = None
            if len(of_address) > max(1, self.allowed // PENDING_SHARE):
                self._evict(next(iter(of_address)))
        if len(self._all) > self.allowed:
            self._evict(next(iter(self._all)))
        self.note(connection, 0)

    def note(self, connection: MqttConnection, size: int) -> None:
        """Count what a connection takes; the oldest one that takes anything goes if it is too much."""
        if connection in self._all:
            self.packets.note(connection, connection.fixed_bytes + size)

    def remove(self, connection: MqttConnection) -> None:
        """Remove a connection that has logged in or ended."""
        if connection not in self._all:
            return
        del self._all[connection]
        self.packets.note(connection, 0)
        self._limits.use(connection)
        key = self._key_of(connection.address)
        if key is not None:
            of_address = self._by[key]
            of_address.pop(connection, None)
            if not of_address:
                del self._by[key]

    def _evict(self, connection: MqttConnection) -> None:
        self.evicted += 1
        self.remove(connection)
        connection.abort()


class _Failures(NamedTuple):
    """The failed logins of one address: how many, when the last was, when one was logged."""

    failed: int
    newest: float
    logged: float


_NONE: Final = _Failures(0, float("-inf"), float("-inf"))


class LoginThrottle:
    """Remembers failed logins of a bounded number of addresses. Times are seconds of the loop's clock.

    >>> logins = LoginThrottle()
    >>> [logins.add("10.0.0.7", float(n)) for n in range(8)]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 2.0]
    >>> logins.add("10.0.0.7", 1_000.0), logins.add("10.0.0.8", 7.0)
    (0.0, 0.0)
    """

    def __init__(self) -> None:
        self._by: OrderedDict[str, _Failures] = OrderedDict()
        self._logged = float("-inf")
        self._suppressed = 0

    def __len__(self) -> int:
        return len(self._by)

    def add(self, address: str, now: float) -> float:
        """Count a failed login; return for how many seconds its answer is to be delayed."""
        count, newest, logged = self._by.pop(address, _NONE)
        count = 1 if now - newest > LOGIN_FORGET_SECONDS else count + 1
        self._by[address] = _Failures(count, now, logged)
        while len(self._by) > LOGIN_ADDRESSES:
            self._by.popitem(last=False)
        return 0.0 if count <= LOGIN_FREE else backoff_s(count - LOGIN_FREE, *LOGIN_DELAY_SECONDS)

    def suppressed(self, address: str, now: float) -> int | None:
        """Return how many log lines were left out before this one; None if this one is left out, too.

        >>> logins = LoginThrottle()
        >>> _ = logins.add("a", 0.0), logins.add("b", 0.1)
        >>> logins.suppressed("a", 0.0), logins.suppressed("b", 0.1), logins.suppressed("a", 2.0)
        (0, None, None)
        >>> logins.suppressed("b", 2.0)
        2
        """
        known = self._by.get(address)
        due = known is None or now - known.logged >= LOGIN_LOG_SECONDS
        if not due or now - self._logged < 1.0:
            self._suppressed += 1
            return None
        if known is not None:
            self._by[address] = known._replace(logged=now)
        self._logged = now
        left_out, self._suppressed = self._suppressed, 0
        return left_out


MAX_CLIENT_ID: Final = 1_024  # bytes; it becomes part of a subscriber's id and of every event


class LoginRefused(Exception):
    """A client is refused, for a reason."""

    def __init__(self, reason: Reason, words: str) -> None:
        self.reason = reason
        super().__init__(words)


class Login(NamedTuple):
    """An accepted login: the access and the client id."""

    access: Access
    token: str | None
    client: str
    assigned: bool


def authenticate_client(gateway: Gateway, packet: Connect) -> Login:
    """Authenticate the client of a CONNECT. Raises `LoginRefused`."""
    if packet.properties.authentication_method is not None:
        raise LoginRefused(Reason.BAD_AUTHENTICATION_METHOD, "only a token as the password is known here")
    token = None if packet.password is None else packet.password.decode(errors="replace")
    try:
        access = gateway.authenticator.admit(token)
    except NotAuthenticated as error:
        reason = Reason.NOT_AUTHORIZED if token is None else Reason.BAD_USER_NAME_OR_PASSWORD
        raise LoginRefused(reason, f"{error}; over MQTT the token is the password") from None
    if packet.username and packet.username != access.tenant:
        words = f"the user name is the token's tenant ({access.tenant!r}), or is left out"
        raise LoginRefused(Reason.BAD_USER_NAME_OR_PASSWORD, words)
    publishes = access.free("publish") or bool(access.bound("publish"))
    subscribes = access.free("subscribe") or bool(access.bound("subscribe"))
    if not publishes and not subscribes:
        raise LoginRefused(Reason.NOT_AUTHORIZED, "this needs a token with the scope 'publish' or 'subscribe'")
    _check_will(packet, access)
    return Login(access, token, *_client_id(packet, access, publishes, subscribes))


def _check_will(packet: Connect, access: Access) -> None:
    will = packet.will
    if will is None:
        return
    if will.topic.startswith((SEMANTIC_PREFIX, SHARED_PREFIX, "$SYS/")):
        raise LoginRefused(Reason.TOPIC_NAME_INVALID, f"a will cannot be published to {will.topic[:80]!r}")
    try:
        access.require("publish")
    except LikewiseError as error:
        raise LoginRefused(Reason.NOT_AUTHORIZED, f"a will is published: {error}") from None


def _client_id(packet: Connect, access: Access, publishes: bool, subscribes: bool) -> tuple[str, bool]:
    """Return the client id; assign one where it is missing."""
    bound_names = access.bound("subscribe")
    if not packet.client_id:
        if packet.version != MQTT_5 and not packet.clean_start:
            raise LoginRefused(Reason.CLIENT_IDENTIFIER_NOT_VALID, "a session that is kept needs a client id")
        if not access.free("subscribe") and len(bound_names) == 1:
            return bound_names[0], True
        return f"auto-{uuid.uuid4().hex}", True
    try:
        check_id(packet.client_id)
    except InvalidEvent as error:
        raise LoginRefused(
            Reason.CLIENT_IDENTIFIER_NOT_VALID, str(error).replace("the id", "the client id", 1)
        ) from None
    if len(packet.client_id.encode()) > MAX_CLIENT_ID:
        raise LoginRefused(Reason.CLIENT_IDENTIFIER_NOT_VALID, f"a client id has at most {MAX_CLIENT_ID:,} bytes")
    if subscribes and not access.owns(packet.client_id):
        words = f"this token is for the client ids {', '.join(bound_names)}"
        raise LoginRefused(Reason.CLIENT_IDENTIFIER_NOT_VALID, words)
    return packet.client_id, False


def may_resume(access: Access, session: Session) -> bool:
    """Return whether a client may resume a session: it may subscribe under its name, or owns it."""
    subscribes = access.free("subscribe") or bool(access.bound("subscribe"))
    return access.owns(session.client) if subscribes else session.owner == access.name


def session_expiry(packet: Connect, longest: str) -> int:
    """Return the session expiry in seconds: as requested, at most as configured."""
    if packet.version == MQTT_5:
        requested = packet.properties.session_expiry or 0
    else:
        requested = 0 if packet.clean_start else 2**32 - 1
    return min(requested, duration(longest) // SECOND)

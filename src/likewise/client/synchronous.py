"""Clients for plain programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import httpx
import msgspec
import stamina
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

from likewise.client.messages import (
    LINES,
    BrokerRefused,
    ClientDelivery,
    Publishable,
    Receipt,
    acknowledgement,
    checked,
    event_lines,
    event_path,
    headers_of,
    may_retry,
    path_of,
    raise_problem,
    read_delivery,
    read_receipts,
    stream_address,
    subscription_path,
)
from likewise.defaults import HOST, PORT
from likewise.errors import LikewiseError
from likewise.formats.json_subscriptions import subscription_to_json
from likewise.model import Subscription

ADDRESS: Final = f"http://{HOST}:{PORT}"
REFUSED: Final = (1008, 4000, 4400)  # close codes after which connecting again would not help


class _Connection:
    """Requests that are sent again when the connection broke."""

    def __init__(self, address: str, token: str | None, patience: float) -> None:
        self.address = address.rstrip("/")
        self._token = token
        self._patience = patience
        self._http = httpx.Client(base_url=self.address, headers=headers_of(token), timeout=60)

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """A request's answer; problems are raised."""
        for attempt in stamina.retry_context(on=may_retry, attempts=None, timeout=self._patience, wait_max=5.0):
            with attempt:
                return raise_problem(self._http.request(method, path, content=body, headers=headers))
        raise AssertionError("stamina ends with an error or an answer")

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Publisher(_Connection):
    """Publishes events; each call returns when they are on the broker's disk.

    `source` is given to events that have none. `patience` is how many seconds a broken connection is tried again.
    """

    def __init__(
        self, address: str = ADDRESS, *, token: str | None = None, source: str | None = None, patience: float = 30.0
    ) -> None:
        super().__init__(address, token, patience)
        self._source = source

    def publish(self, event: Publishable) -> Receipt:
        """Publish one event."""
        return self.publish_all([event])[0]

    def publish_all(self, events: Iterable[Publishable]) -> tuple[Receipt, ...]:
        """Publish several events, all or none."""
        body = event_lines(events, self._source)
        return read_receipts(self.request("POST", "/v1/events", body, LINES)) if body else ()

    def withdraw(self, id: str) -> None:
        """Take an event back."""
        self.request("DELETE", event_path(id, self._source))


class Subscriber(_Connection):
    """A registered subscriber: iterate over it to get deliveries as they come.

    A delivery is given once, also across broken connections; `cursor` is the last one given. Keep it and pass it
    on to go on there in another process. Acknowledge what is dealt with: the broker keeps the rest.
    """

    def __init__(
        self,
        id: str,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        cursor: int = 0,
        policy: str | None = None,
        limit: int | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(address, token, patience)
        self.id = id
        self.cursor = cursor
        self._acknowledged = cursor
        self._socket: ClientConnection | None = None
        wanted = {name: value for name, value in (("policy", policy), ("limit", limit)) if value is not None}
        self.request("PUT", path_of(id), msgspec.json.encode(wanted))

    def subscribe(self, subscription: Subscription | str, id: str | None = None) -> str:
        """Subscribe, in place of what has the same id; the id."""
        made = checked(subscription, id)
        kind = {"content-type": "application/json"}
        self.request("PUT", subscription_path(self.id, made.id), subscription_to_json(made), kind)
        return made.id

    def unsubscribe(self, id: str) -> None:
        """End a subscription."""
        self.request("DELETE", subscription_path(self.id, id))

    def unregister(self) -> None:
        """Let the broker forget this subscriber, its subscriptions and what waits for it."""
        self.request("DELETE", path_of(self.id))

    def pending(self, limit: int = 100) -> tuple[ClientDelivery, ...]:
        """What waits after the cursor, without a stream; the cursor stays."""
        answer = self.request("GET", path_of(self.id, f"/deliveries?after={self.cursor}&limit={limit}"))
        found = msgspec.json.decode(answer.content, type=dict[str, msgspec.Raw])
        listed = msgspec.json.decode(found["deliveries"], type=list[msgspec.Raw])
        return tuple(read_delivery(bytes(each)) for each in listed)

    def __iter__(self) -> Iterator[ClientDelivery]:
        while True:
            socket = self._connect()
            try:
                for said in socket:
                    delivery = read_delivery(said)
                    if delivery.sequence > self.cursor:
                        self.cursor = delivery.sequence
                        yield delivery
            except ConnectionClosed:
                pass
            if socket.close_code in REFUSED:
                raise BrokerRefused(socket.close_code, {"detail": socket.close_reason})
            if self._socket is None:
                return  # closed by us

    def _connect(self) -> ClientConnection:
        headers = headers_of(self._token)
        for attempt in stamina.retry_context(
            on=(OSError, InvalidHandshake, TimeoutError), attempts=None, timeout=self._patience, wait_max=5.0
        ):
            with attempt:
                address = stream_address(self.address, self.id, self._acknowledged)
                # Entered, since newer versions want that; left by `close`, which may come from another method.
                self._socket = connect(address, additional_headers=headers, max_size=None).__enter__()
        if self._socket is None:
            raise LikewiseError("no connection was made")
        return self._socket

    def acknowledge(self, delivery: ClientDelivery | int) -> None:
        """Everything up to this delivery is dealt with; sent on the stream if it is open."""
        number = delivery if isinstance(delivery, int) else delivery.sequence
        self._acknowledged = max(self._acknowledged, number)
        if self._socket is not None:
            try:
                self._socket.send(acknowledgement(number))
                return
            except ConnectionClosed:
                pass  # the next connection says it
        else:
            body = msgspec.json.encode({"sequence": number})
            self.request("POST", path_of(self.id, "/acknowledgements"), body)

    def close(self) -> None:
        """Close the stream and the connection; what was not acknowledged comes again."""
        if self._socket is not None:
            socket, self._socket = self._socket, None
            with suppress(ConnectionClosed):  # the broker may be gone
                socket.close()
        super().close()

"""The asyncio client: connection, publisher, subscriber, the catalogue of sources, and targets.

`synchronous.py` is generated from this file by `python -m tools.make_sync_client`. Change this file, then run that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import msgspec
import stamina
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from likewise.api.edge_frames import UplinkRequest, UplinkStatus
from likewise.api.events import Receipt
from likewise.api.queries import BacktestResult
from likewise.api.sinks import RetryReceipt, TargetDetails
from likewise.api.sources import (
    AnnouncementReceipt,
    AttributeSummary,
    CorrectionDetails,
    ReviewQuestion,
    SensingCommand,
    SourceDemandDetails,
    SourceDetails,
    SourcesPage,
    UncertainAttribute,
)
from likewise.api.subscribers import QueuePolicy
from likewise.client import sources as catalogue
from likewise.client.endpoint import ADDRESS, Endpoint, may_connect_again, may_request_again, open_socket_async
from likewise.client.listening import ListeningTask, start_listening_async
from likewise.client.messages import (
    BACKTEST,
    DEFAULT_QUEUE,
    JSON,
    LINES,
    BrokerRefused,
    ClientDelivery,
    Publishable,
    acknowledgement,
    acknowledgement_body,
    backtest_request,
    checked_subscription,
    event_lines,
    event_path,
    pending_path,
    queue_settings,
    raise_problem,
    read_backtest,
    read_pending,
    read_receipts,
    replay_path,
    subscriber_path,
    subscription_path,
)
from likewise.client.publish_stream import AsyncPublishStream
from likewise.client.sources import SSSOM, ApiRequest, source_path
from likewise.client.stream_cursor import StreamCursor
from likewise.client.targets import TargetSpec, default_target_id, parse_target, target_path
from likewise.defaults import STORED_EVENTS
from likewise.formats.json.subscriptions import subscription_to_json
from likewise.model import Subscription
from likewise.model.announcements.announcement import Announcement

T = TypeVar("T")


class AsyncBrokerConnection:
    """A connection that opens when it is first needed, and sends a request again when the connection broke."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._http: httpx.AsyncClient | None = None

    @property
    def address(self) -> str:
        """The address of the broker."""
        return self._endpoint.address

    async def connect(self, patience: float | None = None) -> Self:
        """Check that the broker answers. Every call connects by itself, so this is optional.

        Args:
            patience: the seconds to keep trying; the client's own by default, 0 tries once.

        Raises:
            Unavailable: no broker answers at the address.
        """
        await self._establish(patience)
        return self

    async def disconnect(self) -> None:
        """Close the connection; the next call opens another."""
        await self._close_connection()

    async def _close_connection(self) -> None:
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()

    async def reconnect(self, address: str | None = None, patience: float | None = None) -> Self:
        """Connect again, to another address of the same broker if one is given.

        If nobody answers, the connection stays as it was.
        """
        before = self._endpoint
        await self._close_connection()
        self._endpoint = before.at(address) if address is not None else before
        try:
            await self._establish(patience)
        except BaseException:
            await self._close_connection()
            self._endpoint = before
            raise
        return self

    async def _establish(self, retry_timeout: float | None) -> None:
        await self._send("GET", "/healthz", retry_timeout=retry_timeout)

    async def connect_to_broker(self, upstream: str, token: str | None = None) -> UplinkStatus:
        """Connect the broker of this connection, one at the edge, to another broker above (source C, Table 2).

        Args:
            upstream: the address of the broker above; further ones, after commas, stand in for it.
            token: what the edge shows there; what it showed before by default.
        """
        body = msgspec.json.encode(UplinkRequest(upstream, token))
        return msgspec.json.decode((await self.request("PUT", "/v1/uplink", body)).content, type=UplinkStatus)

    async def disconnect_from_broker(self) -> UplinkStatus:
        """Disconnect the broker of this connection, one at the edge, from the one above."""
        return msgspec.json.decode((await self.request("DELETE", "/v1/uplink")).content, type=UplinkStatus)

    async def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Send a request and return its response.

        Raises:
            BrokerRefused: the broker answered with a problem.
            Unavailable: the broker did not answer.
        """
        return await self._send(method, path, body, headers)

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        retry_timeout: float | None = None,
    ) -> httpx.Response:
        if self._http is None:
            self._http = httpx.AsyncClient(**self._endpoint.http_options())
        try:
            async for attempt in stamina.retry_context(
                on=may_request_again, **self._endpoint.retry_options(retry_timeout)
            ):
                with attempt:
                    return raise_problem(await self._http.request(method, path, content=body, headers=headers))
        except httpx.TransportError as error:
            raise self._endpoint.to_unavailable(error) from error
        raise AssertionError("stamina ends with an error or a response")

    async def close(self) -> None:
        """Do the same as `disconnect`."""
        await self.disconnect()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


class AsyncPublisher(AsyncBrokerConnection):
    """Publishes events; each call returns when they are on the broker's disk.

    Args:
        address: the broker's address.
        token: the bearer token, where the broker asks for one.
        source: the source of events that name none.
        ca: a file with the certificate of the authority that signed the broker's, or that certificate itself.
        patience: the seconds for which a broken connection is tried again.
    """

    def __init__(
        self,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        source: str | None = None,
        ca: str | Path | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(Endpoint(address, token, patience, ca))
        self._source = source

    async def publish(self, event: Publishable) -> Receipt:
        """Publish one event."""
        (receipt,) = await self.publish_all([event])
        return receipt

    async def publish_all(self, events: Iterable[Publishable]) -> tuple[Receipt, ...]:
        """Publish several events, all or none."""
        body = event_lines(events, self._source)
        return read_receipts(await self.request("POST", "/v1/events", body, LINES)) if body else ()

    def stream(self) -> AsyncPublishStream:
        """Return a connection for many events, which sends without waiting for each to be on disk."""
        return AsyncPublishStream(self._endpoint, self._source)

    @property
    def sources(self) -> AsyncSources:
        """The broker's catalogue of sources."""
        return AsyncSources(self)

    async def unpublish(self, id: str) -> None:
        """Withdraw an event: no delivery contains it any more, and it leaves the windows."""
        await self.request("DELETE", event_path(id, self._source))


class AsyncSubscriber(AsyncBrokerConnection):
    """A registered subscriber: iterate over it to receive deliveries as they come, or pass it a listener.

    It registers with its first call, or with `connect`. A delivery is given once, also across broken connections and
    `reconnect`. Acknowledge what is dealt with: the broker stores the rest, also while the subscriber is disconnected.

    Args:
        id: the subscriber's name.
        address: the broker's address.
        token: the bearer token, where the broker asks for one.
        cursor: the sequence number to continue after, such as the `cursor` of an earlier process.
        policy: what the broker does when the queue is full; as the broker is configured by default.
        limit: the number of deliveries the queue may hold; as the broker is configured by default.
        because: whether each delivery says which readings matched.
        ca: a file with the certificate of the authority that signed the broker's, or that certificate itself.
        patience: the seconds for which a broken connection is tried again.
    """

    def __init__(
        self,
        id: str,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        cursor: int = 0,
        policy: QueuePolicy | None = None,
        limit: int | None = None,
        because: bool = False,
        ca: str | Path | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(Endpoint(address, token, patience, ca))
        self._because = because
        self._queue = queue_settings(policy, limit)
        self._position = StreamCursor(id, cursor)
        self._socket: ClientConnection | None = None
        self._registered = False
        self._ended = False

    @property
    def id(self) -> str:
        """The subscriber's name."""
        return self._position.id

    @property
    def cursor(self) -> int:
        """The sequence number of the last delivery given."""
        return self._position.cursor

    @property
    def stopped(self) -> bool:
        """Return whether the stream was ended from here."""
        return self._ended

    def start_over(self) -> None:
        """Forget the cursor, as at a broker that has started without its store."""
        self._position.cursor = self._position.acknowledged = 0
        self._registered = False

    async def _establish(self, retry_timeout: float | None) -> None:
        if not await self._is_registered(retry_timeout):
            await self._send("PUT", subscriber_path(self.id), self._queue, retry_timeout=retry_timeout)
        self._registered = True

    async def _is_registered(self, retry_timeout: float | None) -> bool:
        """Return whether the broker has this subscriber, with the queue it asks for.

        Registering again would be appended to the log, behind everything that is not matched yet.
        """
        if self._queue != DEFAULT_QUEUE:
            return False
        try:
            await self._send("GET", subscriber_path(self.id), retry_timeout=retry_timeout)
        except BrokerRefused as refused:
            if refused.status != 404:
                raise
            return False
        return True

    async def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Send a request and return its response; register first, if that was not done yet."""
        if not self._registered:
            await self._establish(None)
        return await self._send(method, path, body, headers)

    @property
    def targets(self) -> AsyncSubscriberTargets:
        """The targets that matches are sent to."""
        return AsyncSubscriberTargets(self)

    async def subscribe(
        self, subscription: Subscription | str, id: str | None = None, *, to: TargetSpec | None = None
    ) -> str:
        """Subscribe, or replace the subscription with the same id.

        Args:
            subscription: the subscription, as text or as a value.
            id: its id; one made from its text by default.
            to: a target for its matches: an address, or settings. It is set before the subscription, so that it
                receives the first matches, too. `targets.set` returns its secret.

        Returns:
            The id.
        """
        made = checked_subscription(subscription, id)
        if to is not None:
            await self.targets.set(made.id, to)
        await self.request("PUT", subscription_path(self.id, made.id), subscription_to_json(made), JSON)
        return made.id

    async def unsubscribe(self, id: str) -> None:
        """End a subscription."""
        await self.request("DELETE", subscription_path(self.id, id))

    async def backtest(
        self, subscription: Subscription | str, *, events: int = STORED_EVENTS, shown: int = 100
    ) -> BacktestResult:
        """Try a subscription on stored events, without subscribing.

        Args:
            subscription: what to try, as text or as a value.
            events: the number of newest stored events to try it on.
            shown: the number of matches to list, the last ones.

        Returns:
            What would have been sent, with cause, key and time, and counts by cause.
        """
        response = await self.request("POST", BACKTEST, backtest_request(subscription, events, shown), JSON)
        return read_backtest(response.content)

    async def unregister(self) -> None:
        """Remove this subscriber from the broker, with its subscriptions and its queue."""
        await self.request("DELETE", subscriber_path(self.id))
        self._registered = False

    async def pending(self, limit: int = 100) -> tuple[ClientDelivery, ...]:
        """Return the deliveries after the cursor, without a stream; the cursor stays."""
        response = await self.request("GET", pending_path(self.id, self.cursor, limit, self._because))
        return read_pending(response.content)[0]

    async def replay(self, after: int = 0) -> AsyncIterator[ClientDelivery]:
        """Yield what this subscriber was sent after a sequence number, as far as the broker stores its events.

        Acknowledged deliveries are among it. Neither the cursor nor what is acknowledged changes.
        """
        while True:
            response = await self.request("GET", replay_path(self.id, after))
            deliveries, following = read_pending(response.content)
            for delivery in deliveries:
                yield delivery
            if following == after:
                return
            after = following

    def listen(self, listener: Callable[[ClientDelivery], object], *, acknowledge: bool = True) -> ListeningTask:
        """Call `listener` for each delivery, in a task of its own.

        Args:
            listener: what is called. An error of it ends the listening; that delivery is not acknowledged and comes
                again.
            acknowledge: whether a delivery that the listener returned from is acknowledged.
        """
        return start_listening_async(self, listener, acknowledge)

    async def __aiter__(self) -> AsyncIterator[ClientDelivery]:
        self._ended = False
        if not self._registered:
            await self._establish(None)
        while not self._ended:
            socket = await self._open_stream()
            if socket is None:
                return
            try:
                async for message in socket:
                    for delivery in self._position.take(message):
                        yield delivery
                        if self.stopped:  # the rest of the message is not acknowledged, and comes again
                            return
            except ConnectionClosed:
                pass
            if not self._ended:
                self._position.raise_if_refused(socket.close_code, socket.close_reason)

    async def _open_stream(self) -> ClientConnection | None:
        """Open the stream of deliveries; return None if it was stopped while it was being opened."""
        options = self._endpoint.stream_options(self.id, self._position.acknowledged, self._because)

        def again(error: Exception) -> bool:
            return not self._ended and may_connect_again(error)

        try:
            async for attempt in stamina.retry_context(on=again, **self._endpoint.retry_options()):
                with attempt:
                    self._socket = await open_socket_async(options)
        except (OSError, WebSocketException) as error:
            if self._ended:
                return None
            raise self._endpoint.to_unavailable(error) from error
        if self._ended:
            await self.stop_stream()
            return None
        return self._socket

    async def acknowledge(self, delivery: ClientDelivery | int) -> None:
        """Acknowledge everything up to this delivery, on the stream if it is open."""
        number = self._position.acknowledge(delivery)
        if self._socket is not None and not self._ended:
            with suppress(ConnectionClosed):  # the next connection starts at the acknowledged number
                await self._socket.send(acknowledgement(number))
        else:
            await self.request("POST", subscriber_path(self.id, "/acknowledgements"), acknowledgement_body(number))

    async def stop_stream(self) -> None:
        """End the iteration that is under way, if any; the subscriber stays registered and connected."""
        self._ended = True
        if self._socket is not None:
            with suppress(ConnectionClosed):  # the broker may be down
                await self._socket.close()

    async def disconnect(self) -> None:
        """Close the stream and the connection; what was not acknowledged stays queued, and comes again."""
        await self.stop_stream()
        self._socket = None
        await super().disconnect()

    async def reconnect(self, address: str | None = None, patience: float | None = None) -> Self:
        """Connect again and register; at another address of the same broker, or of a copy of its store, if given.

        The cursor stays. An iteration or a listener that is under way continues there, after the last delivery given.
        If nobody answers, nothing changes.
        """
        await super().reconnect(address, patience)
        if self._socket is not None and not self._ended:
            with suppress(ConnectionClosed):
                await self._socket.close()
        return self


class AsyncSources:
    """The catalogue of sources of a broker.

    async with AsyncPublisher(source="sensor-17") as publisher:
        await publisher.sources.announce({"source": "sensor-17", "attributes": [{"name": "temp1", "unit": "degC"}]})
        await publisher.sources.correct("temp1", "supply air temperature", source="sensor-17")
    """

    def __init__(self, connection: AsyncBrokerConnection) -> None:
        self._connection = connection

    async def _send(self, request: ApiRequest[T]) -> T:
        return request.read(await self._connection.request(request.method, request.path, request.body, request.headers))

    async def announce(self, announcement: Announcement | Mapping[str, Any]) -> AnnouncementReceipt:
        """Announce what a source can produce, or renew the lease of an announcement."""
        return await self._send(catalogue.announce_request(announcement))

    async def revoke(self, source: str) -> None:
        """Revoke an announcement."""
        await self._send(ApiRequest("DELETE", source_path(source, "announcement"), None))

    async def list(self, containing: str = "", after: str = "", limit: int = 100) -> SourcesPage:
        """Return a page of sources by name.

        Args:
            containing: a text that the names contain.
            after: the last name of the page before.
            limit: the number of sources.
        """
        return await self._send(catalogue.list_request(containing, after, limit))

    async def show(self, source: str) -> SourceDetails:
        """Return everything that is known about a source."""
        return await self._send(ApiRequest("GET", source_path(source), SourceDetails))

    async def vocabulary(self, containing: str = "", limit: int = 1_000) -> tuple[AttributeSummary, ...]:
        """Return the names of attributes that the stream uses."""
        return await self._send(catalogue.vocabulary_request(containing, limit))

    async def questions(self, limit: int = 10) -> tuple[ReviewQuestion, ...]:
        """Return the attributes whose confirmation would change most deliveries."""
        return await self._send(catalogue.questions_request(limit))

    async def review(self, limit: int = 100) -> tuple[UncertainAttribute, ...]:
        """Return the attributes that a normaliser is not certain of, with the best guesses."""
        return await self._send(catalogue.review_request(limit))

    async def correct(
        self,
        attribute: str,
        means: str = "",
        *,
        unit: str = "",
        source: str = "",
        model: str = "",
        denies: Sequence[str] = (),
    ) -> CorrectionDetails:
        """State what an attribute means, for one source, for one model, or for all.

        Args:
            attribute: the attribute as events name it.
            means: what it is.
            unit: the unit of its readings, where events state none.
            source: the only source it is stated of.
            model: the only model it is stated of.
            denies: what it is not.
        """
        return await self._send(catalogue.correct_request(attribute, means, unit, source, model, denies))

    async def corrections(self) -> tuple[CorrectionDetails, ...]:
        """Return every correction that is in effect."""
        return await self._send(ApiRequest("GET", "/v1/corrections", tuple[CorrectionDetails, ...]))

    async def take_back(self, number: int) -> None:
        """Remove a correction."""
        await self._send(ApiRequest("DELETE", f"/v1/corrections/{number}", None))

    async def export_corrections(self) -> str:
        """Return every correction, as an SSSOM table."""
        return await self._send(ApiRequest("GET", "/v1/corrections", str, headers={"accept": SSSOM}))

    async def import_corrections(self, table: str) -> int:
        """Make the corrections of an SSSOM table, all or none; return their number."""
        imported = await self._send(catalogue.import_request(table))
        return imported.corrections

    async def keep(self, source: str, kept: bool = True) -> None:
        """Pin a source, so that it stays active without demand, or unpin it."""
        await self._send(catalogue.keep_request(source, kept))

    async def sense(self, source: str, after: int = 0, wait: float = 0.0) -> SensingCommand:
        """Return the sensing command of a source.

        Args:
            source: the source.
            after: the version to wait past.
            wait: the seconds to wait for a version above `after`.
        """
        return await self._send(catalogue.sense_request(source, after, wait))

    async def demand(self, source: str) -> SourceDemandDetails:
        """Return the demand for an announced source, as exact filters on its own names."""
        return await self._send(ApiRequest("GET", source_path(source, "demand"), SourceDemandDetails))


class AsyncSubscriberTargets:
    """The targets that matches of a subscriber's subscriptions are sent to.

    async with AsyncSubscriber("ann") as inbox:
        made = await inbox.targets.set("bad air", WebhookSettings("https://example.org/matches", because=True))
        print(made.secret)  # the only time it is shown
    """

    def __init__(self, subscriber: AsyncSubscriber) -> None:
        self._subscriber = subscriber

    async def set(self, subscription: str, to: TargetSpec, id: str | None = None) -> TargetDetails:
        """Create or replace a target.

        Args:
            subscription: the subscription whose matches it receives.
            to: its settings, or an address.
            id: its id; its kind by default: `webhook`, `mqtt` or `email`.

        Returns:
            The target. Its `secret` is present only here.
        """
        target = parse_target(to)
        path = target_path(self._subscriber.id, subscription, id or default_target_id(target))
        response = await self._subscriber.request("PUT", path, msgspec.json.encode(target), JSON)
        return msgspec.json.decode(response.content, type=TargetDetails)

    async def change(self, subscription: str, id: str, **settings: Any) -> TargetDetails:
        """Change some settings of a target; the others stay."""
        path = target_path(self._subscriber.id, subscription, id)
        response = await self._subscriber.request("PATCH", path, msgspec.json.encode(settings), JSON)
        return msgspec.json.decode(response.content, type=TargetDetails)

    async def list(self, subscription: str | None = None) -> tuple[TargetDetails, ...]:
        """Return the targets of a subscription, or of all, each with its state."""
        id = self._subscriber.id
        path = "/v1/targets" if subscription is None else target_path(id, subscription)
        response = await self._subscriber.request("GET", path)
        targets = msgspec.json.decode(response.content, type=tuple[TargetDetails, ...])
        return tuple(each for each in targets if each.subscriber == id)

    async def remove(self, subscription: str, id: str) -> None:
        """Remove a target, its queue, and its dead letters."""
        await self._subscriber.request("DELETE", target_path(self._subscriber.id, subscription, id))

    async def retry(self, subscription: str, id: str) -> int:
        """Retry the dead letters of a target; return their number."""
        path = target_path(self._subscriber.id, subscription, id, "retry")
        response = await self._subscriber.request("POST", path)
        return msgspec.json.decode(response.content, type=RetryReceipt).letters

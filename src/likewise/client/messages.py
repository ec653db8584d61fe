"""Paths, request bodies and responses of the broker, for both kinds of client."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

import httpx
import msgspec

from likewise import errors
from likewise.api.deliveries import (
    DeliveryAck,
    DeliveryDocument,
    DeliveryPage,
    MatchReason,
    SelectedValues,
    SubscriptionScore,
)
from likewise.api.events import PublishReceipts, Receipt
from likewise.api.queries import BacktestResult
from likewise.api.subscribers import QueuePolicy, QueueRequest
from likewise.formats.json.events import event_from_document, event_from_mapping, event_to_json
from likewise.formats.json.subscriptions import with_default_id
from likewise.language import parse, subscription_text
from likewise.model import Event, Subscription
from likewise.model.alerts.notification import AlertNotification

LINES: Final = {"content-type": "application/x-ndjson"}
JSON: Final = {"content-type": "application/json"}
Publishable = Event | Mapping[str, Any]


class ClientDelivery(msgspec.Struct, frozen=True):
    """One event that matched subscriptions of this subscriber.

    `sequence` is what is acknowledged, `cause` why it was sent. `because` is there where it was requested, `alert` what
    an alert states beside its event, `selected` the values that subscriptions with `select` name.
    """

    sequence: int
    cause: str
    subscriptions: tuple[SubscriptionScore, ...]
    event: Event
    because: tuple[MatchReason, ...] = ()
    alert: AlertNotification | None = None
    selected: tuple[SelectedValues, ...] = ()


BACKTEST: Final = "/v1/backtest"
_BACKTEST: Final = msgspec.json.Decoder(BacktestResult)
_DELIVERY: Final = msgspec.json.Decoder(DeliveryDocument)
_DELIVERIES: Final = msgspec.json.Decoder(tuple[DeliveryDocument, ...])
_PENDING: Final = msgspec.json.Decoder(DeliveryPage)


def read_deliveries(data: bytes | str) -> tuple[ClientDelivery, ...]:
    """Decode the deliveries of a message: an array of them, or one.

    >>> [each.sequence for each in read_deliveries("[]")]
    []
    """
    first = data.lstrip()[:1]
    if first not in ("[", b"["):
        return (read_delivery(data),)
    try:
        return tuple(map(_to_client_delivery, _DELIVERIES.decode(data)))
    except msgspec.MsgspecError as error:
        raise errors.FormatError(f"the broker sent something that holds no deliveries: {error}") from None


def read_delivery(data: bytes | str) -> ClientDelivery:
    """Decode a delivery.

    >>> text = '{"v":1,"sequence":7,"cause":"arrival","subscriptions":[],"event":{"v":1,"payload":{"no2":45}}}'
    >>> read_delivery(text).event.tuples[0].value
    45
    """
    try:
        document = _DELIVERY.decode(data)
    except msgspec.MsgspecError as error:
        raise errors.FormatError(f"the broker sent something that is no delivery: {error}") from None
    return _to_client_delivery(document)


def _to_client_delivery(document: DeliveryDocument) -> ClientDelivery:
    return ClientDelivery(
        document.sequence,
        document.cause,
        document.subscriptions,
        event_from_document(document.event),
        document.because,
        document.alert,
        document.selected,
    )


def event_lines(events: Iterable[Publishable], source: str | None) -> bytes:
    """Encode events as JSON lines; those that name no source get `source`.

    Each gets an id here, so that sending them again after a broken connection publishes nothing twice.

    >>> event_lines([{"no2": 45}], "/roof").startswith(b'{"v":1,"tuples":[{"attribute":"no2","value":45}],"id":"')
    True
    """
    return b"\n".join([event_line(event, source)[1] for event in events])


def event_line(event: Publishable, source: str | None) -> tuple[str, bytes]:
    """Return the id and the JSON of an event; an event without an id gets one.

    A mapping is the payload of the event, or its envelope.

    >>> event_line({"v": 1, "payload": {"no2": 45}, "id": "e1"}, None)[0]
    'e1'
    >>> event_line({"v": 1, "id": "e1"}, None)[1][:32]
    b'{"v":1,"tuples":[{"attribute":"v'
    """
    made = event if isinstance(event, Event) else event_from_mapping(event)
    changes: dict[str, Any] = {}
    if made.id is None:
        changes["id"] = f"{random.SystemRandom().getrandbits(128):032x}"
    if made.source is None and source is not None:
        changes["source"] = source
    if changes:
        made = msgspec.structs.replace(made, **changes)
    return made.id or "", event_to_json(made)


def read_receipts(response: httpx.Response) -> tuple[Receipt, ...]:
    """Decode the receipts of a response."""
    return msgspec.json.decode(response.content, type=PublishReceipts).events


def backtest_request(subscription: Subscription | str, events: int, shown: int) -> bytes:
    """Encode the body of a backtest; text is checked here first."""
    text = subscription_text(parse(subscription) if isinstance(subscription, str) else subscription)
    return msgspec.json.encode({"text": text, "events": events, "shown": shown})


def read_backtest(content: bytes) -> BacktestResult:
    """Decode the answer of a backtest."""
    try:
        return _BACKTEST.decode(content)
    except msgspec.MsgspecError as error:
        raise errors.FormatError(f"the broker sent something that is no backtest: {error}") from None


def checked_subscription(subscription: Subscription | str, id: str | None) -> Subscription:
    """Return a subscription under an id, parsed here if it is text, so that an error is raised before a request."""
    made = parse(subscription) if isinstance(subscription, str) else subscription
    return msgspec.structs.replace(made, id=id) if id is not None else with_default_id(made)


class BrokerRefused(errors.LikewiseError):
    """The broker refused a request.

    Args:
        status: the status of the response, or the close code of a stream.
        problem: the problem details of the response.
    """

    code = "refused"

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.problem = problem
        super().__init__(str(problem.get("detail") or f"the broker answered with status {status}"))


def raise_problem(response: httpx.Response) -> httpx.Response:
    """Return the response, or raise the problem that it states."""
    if response.is_success:
        return response
    try:
        problem = msgspec.json.decode(response.content, type=dict[str, Any])
    except msgspec.MsgspecError:
        problem = {}
    retry_after = response.headers.get("retry-after", "")
    if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 9:  # else it is a date, or nonsense
        problem.setdefault("retry_after", int(retry_after))
    raise BrokerRefused(response.status_code, problem)


def authorization_headers(token: str | None) -> dict[str, str]:
    """Return the headers with a bearer token."""
    return {"authorization": f"Bearer {token}"} if token else {}


def subscriber_path(subscriber: str, rest: str = "") -> str:
    """Return the path of a subscriber.

    >>> subscriber_path("ann/b", "/deliveries")
    '/v1/subscribers/ann%2Fb/deliveries'
    """
    return f"/v1/subscribers/{quote(subscriber, safe='')}{rest}"


DEFAULT_QUEUE: Final = b"{}"  # the settings of a queue that stays as it is, or becomes as the broker is configured


def queue_settings(policy: QueuePolicy | None, limit: int | None) -> bytes:
    """Encode the settings of a queue; what is None stays, or is as the broker is configured.

    >>> queue_settings("block", None)
    b'{"policy":"block"}'
    """
    return msgspec.json.encode(QueueRequest(policy, limit))


def pending_path(subscriber: str, after: int, limit: int, because: bool = False) -> str:
    """Return the path of queued deliveries.

    >>> pending_path("ann", 7, 100, because=True)
    '/v1/subscribers/ann/deliveries?sequence=7&limit=100&because=true'
    """
    return subscriber_path(
        subscriber, f"/deliveries?sequence={after}&limit={limit}{'&because=true' if because else ''}"
    )


def replay_path(subscriber: str, after: int) -> str:
    """Return the path of deliveries to replay.

    >>> replay_path("ann", 7)
    '/v1/subscribers/ann/deliveries?sequence=7&limit=1000&replay=true'
    """
    return subscriber_path(subscriber, f"/deliveries?sequence={after}&limit=1000&replay=true")


def read_pending(content: bytes) -> tuple[tuple[ClientDelivery, ...], int]:
    """Decode queued deliveries, and the sequence number to continue after.

    >>> read_pending(b'{"deliveries": [], "sequence": 7}')
    ((), 7)
    """
    try:
        page = _PENDING.decode(content)
    except msgspec.MsgspecError as error:
        raise errors.FormatError(f"the broker sent something that is no list of deliveries: {error}") from None
    return tuple(map(_to_client_delivery, page.deliveries)), page.number


def acknowledgement_body(number: int) -> bytes:
    """Encode the request that acknowledges everything up to a sequence number."""
    return msgspec.json.encode(DeliveryAck(number))


def acknowledgement(number: int) -> str:
    """Return the message that acknowledges everything up to a sequence number on a stream.

    >>> acknowledgement(7)
    '{"sequence":7}'
    """
    return acknowledgement_body(number).decode()


def subscription_path(subscriber: str, id: str) -> str:
    """Return the path of a subscription."""
    return subscriber_path(subscriber, f"/subscriptions/{quote(id, safe='')}")


def event_path(id: str, source: str | None) -> str:
    """Return the path of an event.

    >>> event_path("e 1", "/roof")
    '/v1/events/e%201?source=%2Froof'
    """
    return f"/v1/events/{quote(id, safe='')}" + (f"?source={quote(source, safe='')}" if source else "")


def stream_address(address: str, subscriber: str, cursor: int, because: bool = False) -> str:
    """Return the URL of a stream of deliveries, several in a message where several are queued.

    >>> stream_address("http://127.0.0.1:8787", "ann", 7)
    'ws://127.0.0.1:8787/v1/subscribers/ann/stream?sequence=7&together=true'
    """
    query = f"sequence={cursor}&together=true{'&because=true' if because else ''}"
    return socket_address(address, subscriber_path(subscriber, "/stream"), query)


def socket_address(address: str, path: str, query: str = "") -> str:
    """Return the URL of a WebSocket of a broker.

    >>> socket_address("https://roof/b/", "/v1/events/stream")
    'wss://roof/b/v1/events/stream'
    """
    parts = urlsplit(address)
    scheme = "wss" if parts.scheme == "https" else "ws"
    return urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") + path, query, ""))

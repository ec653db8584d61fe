"""Publish to and subscribe at a broker: `Publisher`, `Subscriber`, and the same for asyncio.

    with Publisher("http://127.0.0.1:8787") as out:
        out.publish({"no2": 45, "city": "Zagreb"})

    with Publisher("http://127.0.0.1:8787") as out, out.stream() as stream:
        for reading in readings:
            stream.publish(reading)

    with Subscriber("ann", "http://127.0.0.1:8787") as inbox:
        inbox.subscribe("{no2 > 40}")
        for delivery in inbox:
            print(delivery.event, delivery.subscriptions)
            inbox.acknowledge(delivery)

    with Subscriber("ann", "http://127.0.0.1:8787") as inbox, inbox.listen(print):
        input("Enter ends it")

`asynchronous` has the asyncio client; `synchronous` is generated from it. `connect` checks that a broker answers,
`disconnect` closes the connection while the queue stays, `reconnect` opens it again, also at another address of the
same broker, and continues after the last delivery given.

Events and subscriptions are checked before anything is sent. A broken connection is opened again, with growing pauses
(backoff); a stream continues after the last delivery it gave, so none comes twice.
"""

from likewise.api.deliveries import MatchReason, SubscriptionScore
from likewise.api.events import Receipt
from likewise.api.sinks import EmailSettings, MqttTargetSettings, TargetDetails, WebhookSettings
from likewise.client.asynchronous import AsyncPublisher, AsyncSubscriber
from likewise.client.listening import Listening
from likewise.client.messages import BrokerRefused, ClientDelivery
from likewise.client.publish_stream import AsyncPublishStream, PublishStream
from likewise.client.synchronous import Publisher, Subscriber

__all__ = [
    "AsyncPublishStream",
    "AsyncPublisher",
    "AsyncSubscriber",
    "BrokerRefused",
    "ClientDelivery",
    "EmailSettings",
    "Listening",
    "MatchReason",
    "MqttTargetSettings",
    "PublishStream",
    "Publisher",
    "Receipt",
    "Subscriber",
    "SubscriptionScore",
    "TargetDetails",
    "WebhookSettings",
]

# Names of release 0.1, still importable.
_RENAMED = {
    "Because": MatchReason,
    "Email": EmailSettings,
    "Met": SubscriptionScore,
    "MqttTopic": MqttTargetSettings,
    "TargetShown": TargetDetails,
    "Webhook": WebhookSettings,
}


def __getattr__(name: str) -> type:
    try:
        return _RENAMED[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

"""What is sent of a match: the delivery, the event alone, a CloudEvent, or what a template makes of it."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

import msgspec

from likewise.api.deliveries import Because
from likewise.api.sinks import TargetWanted
from likewise.broker.queries.match_reasons import append_reasons
from likewise.broker.sinks.retry_queue import Outgoing
from likewise.server.sinks.messages import words_of
from likewise.server.sinks.target import Parcel
from likewise.server.sinks.templates import fill, values_of

JSON: Final = "application/json"
CLOUDEVENTS: Final = "application/cloudevents+json"
TYPE: Final = "likewise.match"
TEXT: Final = "text/plain; charset=utf-8"


def pack_parcel(
    match: Outgoing, wanted: TargetWanted, because: tuple[Because, ...], tenant: str, subscriber: str
) -> Parcel:
    """A match as a target wants it."""
    bare = Parcel(match, b"", "", because)
    said = append_reasons(match.delivery, because) if wanted.because else match.delivery
    match wanted.form:
        case "event":
            return bare._replace(body=match.event, media_type=JSON)
        case "json":
            return bare._replace(body=said, media_type=JSON)
        case "cloudevents":
            return bare._replace(body=cloud_event(match, said, tenant, subscriber), media_type=CLOUDEVENTS)
        case "text":
            return bare._replace(body=words_of(bare).text.encode(), media_type=TEXT)
        case "template":
            body, media_type = fill(wanted.template, values_of(bare))
            return bare._replace(body=body, media_type=media_type)


def cloud_event(match: Outgoing, delivery: bytes, tenant: str, subscriber: str) -> bytes:
    """A match as a structured CloudEvent 1.0: the delivery is its data, the subscription its subject.

    >>> match = Outgoing("msg_1", 7, "arrival", "warm", 3, 1.0, 1, b'{"v":1,"id":"e1","time":0}', b'{"v":1}')
    >>> cloud_event(match, match.delivery, "default", "ann")
    b'{"specversion":"1.0","id":"msg_1","source":"/likewise/default/ann","type":"likewise.match","subject":"warm",...
    """
    event: dict[str, Any] = msgspec.json.decode(match.event)
    source = f"/likewise/{quote(tenant, safe='')}/{quote(subscriber, safe='')}"
    said: dict[str, object] = {
        "specversion": "1.0",
        "id": match.id,
        "source": source,
        "type": TYPE,
        "subject": match.subscription,
        "datacontenttype": JSON,
    }
    if isinstance(event.get("time"), str):
        said["time"] = event["time"]
    said["data"] = msgspec.Raw(delivery)
    return msgspec.json.encode(said)

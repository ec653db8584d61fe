"""What crosses a process is typed once, and old names are still read."""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec
import pytest

from likewise.api.deliveries import DeliveryAck, DeliveryPage
from likewise.api.events import PublishReceipts
from likewise.api.subscriptions import SubscriptionDetails
from likewise.client.messages import read_delivery, read_pending
from likewise.errors import FormatError

SOURCE = Path(__file__).resolve().parents[2] / "src" / "likewise"
# What is no message: a delivery as a program gets it, what the dashboard keeps for itself, a rule of a topic map, and
# what a bridge counts.
OWN = {"Address", "BridgeState", "ClientDelivery", "PrometheusPage", "Rule", "Understood"}
OWN |= {
    "EventFilter",
    "MapView",
    "PageAddress",
    "ParsedText",
    "PlaceCondition",
    "ReadingCondition",
    "SourceMarker",
    "SubscriptionForm",
}  # the dashboard's form, filters and map
# What a normaliser counts; an adviser's answer, and the interface of its server, which is somebody else's.
OWN |= {"NormalizerState", "Advice", "_Choice", "_Completion", "_Message"}


def structs(folder: str) -> set[str]:
    found = set()
    for path in (SOURCE / folder).rglob("*.py"):
        if path.parent.name in ("codec", "sparkplug"):  # packets of MQTT, Sparkplug: the other side is somebody else's
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any("Struct" in ast.unparse(base) for base in node.bases):
                found.add(node.name)
    return found


@pytest.mark.parametrize("folder", ["server", "client", "dashboard"])
def test_whoever_speaks_over_a_wire_defines_no_message(folder: str) -> None:
    """Messages stand in `api`, where the other side finds the same type."""
    assert structs(folder) <= OWN


@pytest.mark.parametrize("said", ['{"sequence": 7}', '{"acknowledge": 7}'])
def test_an_acknowledgement_is_read_under_both_names(said: str) -> None:
    """Streams were told `acknowledge` before."""
    assert msgspec.json.decode(said, type=DeliveryAck).number == 7


@pytest.mark.parametrize("said", ["{}", '{"sequence": 7, "acknowledge": 7}', '{"sequence": "7"}', '{"sequnce": 7}'])
def test_an_acknowledgement_says_one_number(said: str) -> None:
    """None, two, or another field is refused."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(said, type=DeliveryAck)


@pytest.mark.parametrize("name", ["sequence", "next"])
def test_pages_of_deliveries_are_read_from_older_brokers(name: str) -> None:
    """Brokers said `next` before."""
    assert read_pending(b'{"deliveries": [], "%s": 7}' % name.encode()) == ((), 7)


def test_what_is_written_has_one_name() -> None:
    """Only the new names are written."""
    assert msgspec.json.encode(DeliveryAck(7)) == b'{"sequence":7}'
    assert msgspec.json.encode(DeliveryPage((), 7)) == b'{"deliveries":[],"sequence":7}'
    assert "expires" in SubscriptionDetails.__struct_fields__


def test_an_older_client_reads_a_newer_brokers_answers() -> None:
    """Fields it does not know are passed over."""
    said = (
        b'{"v":1,"sequence":7,"cause":"arrival","later":"new","subscriptions":[{"id":"a","score":1,"also":2}],'
        b'"event":{"v":1,"payload":{"no2":45}}}'
    )
    assert read_delivery(said).subscriptions[0].id == "a"
    answer = msgspec.json.decode(b'{"events":[{"id":"e","position":1,"more":[]}],"took":3}', type=PublishReceipts)
    assert answer.events[0].position == 1


@pytest.mark.parametrize("said", [b"", b"[]", b'{"deliveries": []}', b'{"deliveries": [{}], "sequence": 1}'])
def test_an_answer_that_is_none_is_an_error_of_the_tree(said: bytes) -> None:
    """A broker that sends something else is told of in words."""
    with pytest.raises(FormatError, match="no list of deliveries"):
        read_pending(said)

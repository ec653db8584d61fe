"""`mqtt5` and paho read what we write, and write what we read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likewise.server.mqtt.codec import MQTT_5, Connect, Decoder, encode
from likewise.server.mqtt.codec.fields import LARGEST_NUMBER
from likewise.server.mqtt.codec.packet_types import NAMES, PUBLISH, PacketType
from likewise.server.mqtt.codec.property_bytes import encode_properties, read_properties
from tests.server.mqtt.codec import oracles
from tests.server.mqtt.codec.packets import connects, from_client, from_server, properties


@given(connects(MQTT_5) | from_client(MQTT_5) | from_server(MQTT_5))
def test_mqtt5_reads_the_same_in_what_we_write(packet: Any) -> None:
    """Every kind of packet, with all its properties; what it writes of it again, we read as the same."""
    theirs = oracles.read_by_mqtt5(encode(packet))
    assert theirs is not None
    assert oracles.agrees(packet, theirs)
    decoder = Decoder(None if isinstance(packet, Connect) else MQTT_5)
    server = type(packet).__name__ in ("Connack", "Suback", "Unsuback", "Pingresp", "Publish")
    if server:
        decoder = Decoder(MQTT_5, of_server=True)
    [again] = decoder.feed(theirs.write())
    assert oracles.agrees(again, theirs)


@pytest.mark.parametrize(
    "kind", [each for each in range(16) if each not in (PacketType.PINGREQ, PacketType.PINGRESP)], ids=NAMES.__getitem__
)
@given(st.data())
def test_paho_reads_the_properties_that_we_write_and_we_read_its(kind: int, data: st.DataObject) -> None:
    """Of every packet that has properties."""
    said = data.draw(properties(kind, MQTT_5, True))
    assume("\ufeff" not in str(msgspec.to_builtins(said)))  # paho refuses it, the standard does not (1.5.4-3)
    assume((said.maximum_packet_size or 0) <= LARGEST_NUMBER)  # paho allows no more
    written = encode_properties(said, kind)
    read = oracles.read_by_paho(written, kind)
    for name, value in read.items():
        assert (tuple(value) if isinstance(value, list) else value) == getattr(said, name)
    packed = oracles.packed_by_paho(said, kind)
    assert read_properties(packed, 0, len(packed), kind) == (said, len(packed))
    assert (len(packed) == 1) == (not read)
    assert kind != PUBLISH or len(packed) == len(written)

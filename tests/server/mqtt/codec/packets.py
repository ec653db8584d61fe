"""Every packet that can be, for hypothesis; `received_by_server` are those that clients send."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    NO_PROPERTIES,
    Auth,
    Connack,
    Connect,
    Disconnect,
    FilterRequest,
    Packet,
    Pingreq,
    Pingresp,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
    Will,
    reason_of_return_code,
)
from likewise.server.mqtt.codec.packet_types import PacketType
from likewise.server.mqtt.codec.property_bytes import PROPERTIES
from likewise.server.mqtt.codec.reasons import REASONS

texts = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)
topics = st.text(st.characters(exclude_characters="\0+#", codec="utf-8"), min_size=1, max_size=40)
filters = st.lists(st.sampled_from(("a", "bé", "", "+", "$x")), min_size=1, max_size=4).map("/".join).map(
    lambda made: made or "#"
) | st.sampled_from(("#", "a/#", "+/+/#", "$share/g/a/+", "$share/g/#", "$likewise/hot", "$likewise/q/%7Ba%7D"))
payloads = st.binary(max_size=300)
packet_ids = st.integers(1, 65_535)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "subscription_identifiers": st.integers(1, 268_435_455),
    "user": st.tuples(texts, texts),
    "response_topic": topics,
    "receive_maximum": st.integers(1, 65_535),
    "maximum_packet_size": st.integers(1, 2**32 - 1),
    "topic_alias_maximum": st.integers(0, 65_535),
    "server_keep_alive": st.integers(0, 65_535),
    "message_expiry": st.integers(0, 2**32 - 1),
    "session_expiry": st.integers(0, 2**32 - 1),
    "will_delay": st.integers(0, 2**32 - 1),
    "correlation_data": payloads,
    "authentication_data": payloads,
}
_TEXTS = {
    "content_type",
    "assigned_client_id",
    "authentication_method",
    "response_information",
    "server_reference",
    "reason_string",
}


@st.composite
def properties(draw: st.DrawFn, packet: int, version: int, server: bool) -> Properties:
    """Properties that a packet may have; an alias of a topic is tried on its own."""
    if version == MQTT_3_1_1:
        return NO_PROPERTIES
    found: dict[str, Any] = {}
    for each in PROPERTIES:
        if packet not in each.packets or each.name == "topic_alias" or not draw(st.booleans()):
            continue
        if each.name == "subscription_identifiers" and packet == PacketType.PUBLISH and not server:
            continue
        value = _VALUES.get(each.name, texts if each.name in _TEXTS else st.integers(0, 1))
        most = 1 if each.name == "subscription_identifiers" and packet == PacketType.SUBSCRIBE else 3
        found[each.name] = draw(st.lists(value, min_size=1, max_size=most).map(tuple) if each.several else value)
    if "authentication_method" not in found:
        found.pop("authentication_data", None)
    return Properties(**found) if found else NO_PROPERTIES


@st.composite
def wills(draw: st.DrawFn, version: int) -> Will:
    said = draw(properties(PacketType.WILL, version, False))
    return Will(draw(topics), draw(payloads), draw(st.integers(0, 2)), draw(st.booleans()), said)


@st.composite
def connects(draw: st.DrawFn, version: int) -> Connect:
    username = draw(st.none() | texts)
    password = draw(st.none() | payloads) if version == MQTT_5 or username is not None else None
    return Connect(
        draw(texts),
        version,
        draw(st.booleans()),
        draw(st.integers(0, 65_535)),
        username,
        password,
        draw(st.none() | wills(version)),
        draw(properties(PacketType.CONNECT, version, False)),
    )


@st.composite
def publishes(draw: st.DrawFn, version: int, server: bool = False) -> Publish:
    qos = draw(st.integers(0, 2))
    return Publish(
        draw(topics),
        draw(payloads),
        qos,
        draw(st.booleans()),
        qos > 0 and draw(st.booleans()),
        draw(packet_ids) if qos else 0,
        draw(properties(PacketType.PUBLISH, version, server)),
    )


@st.composite
def subscribes(draw: st.DrawFn, version: int) -> Subscribe:
    wishes = []
    for asked in draw(st.lists(filters, min_size=1, max_size=4)):
        if version == MQTT_3_1_1:
            wishes.append(FilterRequest(asked, draw(st.integers(0, 2))))
        else:
            local = not asked.startswith("$share/") and draw(st.booleans())
            options = draw(st.tuples(st.booleans(), st.integers(0, 2)))
            wishes.append(FilterRequest(asked, draw(st.integers(0, 2)), local, *options))
    return Subscribe(draw(packet_ids), tuple(wishes), draw(properties(PacketType.SUBSCRIBE, version, False)))


def _reason(kind: int, version: int) -> st.SearchStrategy[int]:
    return st.sampled_from(sorted(REASONS[kind])) if version == MQTT_5 else st.just(0)


def from_both(version: int, server: bool) -> st.SearchStrategy[Packet]:
    """What both sides may send."""

    def said(kind: int) -> st.SearchStrategy[Properties]:
        return properties(kind, version, server)

    kinds: list[st.SearchStrategy[Packet]] = [publishes(version, server)]
    for made, kind in (
        (Puback, PacketType.PUBACK),
        (Pubrec, PacketType.PUBREC),
        (Pubrel, PacketType.PUBREL),
        (Pubcomp, PacketType.PUBCOMP),
    ):
        kinds.append(st.builds(made, packet_ids, _reason(kind, version), said(kind)))
    kinds.append(st.builds(Disconnect, _reason(PacketType.DISCONNECT, version), said(PacketType.DISCONNECT)))
    if version == MQTT_5:
        kinds.append(st.builds(Auth, _reason(PacketType.AUTH, version), said(PacketType.AUTH)))
    return st.one_of(kinds)


def from_client(version: int) -> st.SearchStrategy[Packet]:
    """What a client may send after its PacketType.CONNECT."""
    unsubscribing = st.builds(
        Unsubscribe,
        packet_ids,
        st.lists(filters, min_size=1, max_size=4).map(tuple),
        properties(PacketType.UNSUBSCRIBE, version, False),
    )
    return from_both(version, False) | subscribes(version) | unsubscribing | st.just(Pingreq())


def from_server(version: int) -> st.SearchStrategy[Packet]:
    """What a server may send."""
    old = [reason_of_return_code(code) for code in range(6)]
    reasons = _reason(PacketType.CONNACK, version) if version == MQTT_5 else st.sampled_from(old)
    granted = sorted(REASONS[PacketType.SUBACK]) if version == MQTT_5 else [0, 1, 2, 0x80]
    some = st.lists(st.sampled_from(granted), min_size=1, max_size=4).map(tuple)
    gone = (
        st.lists(_reason(PacketType.UNSUBACK, version), min_size=1, max_size=4).map(tuple)
        if version == MQTT_5
        else st.just(())
    )
    return st.one_of(
        from_both(version, True),
        st.builds(Connack, st.booleans(), reasons, properties(PacketType.CONNACK, version, True)),
        st.builds(Suback, packet_ids, some, properties(PacketType.SUBACK, version, True)),
        st.builds(Unsuback, packet_ids, gone, properties(PacketType.UNSUBACK, version, True)),
        st.just(Pingresp()),
    )

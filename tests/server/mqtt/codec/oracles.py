"""What `mqtt5` and paho read and write, in the terms of our packets; they are asked only what they can answer."""

from __future__ import annotations

from typing import Any, Final

import mqtt5
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties as PahoProperties

from likewise.server.mqtt.codec import (
    Auth,
    Connack,
    Connect,
    Disconnect,
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
)

_NAMES: Final = {  # a property of ours, as mqtt5 names it
    "payload_format": "payload_format_indicator",
    "message_expiry": "message_expiry_interval",
    "content_type": "content_type",
    "response_topic": "response_topic",
    "correlation_data": "correlation_data",
    "session_expiry": "session_expiry_interval",
    "assigned_client_id": "assigned_client_id",
    "server_keep_alive": "server_keep_alive",
    "authentication_method": "authentication_method",
    "authentication_data": "authentication_data",
    "request_problem_information": "request_problem_info",
    "will_delay": "will_delay_interval",
    "request_response_information": "request_response_info",
    "response_information": "response_info",
    "server_reference": "server_reference",
    "reason_string": "reason_str",
    "receive_maximum": "receive_max",
    "topic_alias_maximum": "topic_alias_max",
    "maximum_qos": "max_qos",
    "retain_available": "retain_available",
    "user": "user_properties",
    "maximum_packet_size": "max_packet_size",
    "wildcards_available": "wildcard_subscription_available",
    "shared_available": "shared_subscription_available",
    "subscription_identifiers_available": "subscription_id_available",
}
_PAHO: Final = {  # and as paho does
    "payload_format": "PayloadFormatIndicator",
    "message_expiry": "MessageExpiryInterval",
    "content_type": "ContentType",
    "response_topic": "ResponseTopic",
    "correlation_data": "CorrelationData",
    "subscription_identifiers": "SubscriptionIdentifier",
    "session_expiry": "SessionExpiryInterval",
    "assigned_client_id": "AssignedClientIdentifier",
    "server_keep_alive": "ServerKeepAlive",
    "authentication_method": "AuthenticationMethod",
    "authentication_data": "AuthenticationData",
    "request_problem_information": "RequestProblemInformation",
    "will_delay": "WillDelayInterval",
    "request_response_information": "RequestResponseInformation",
    "response_information": "ResponseInformation",
    "server_reference": "ServerReference",
    "reason_string": "ReasonString",
    "receive_maximum": "ReceiveMaximum",
    "topic_alias_maximum": "TopicAliasMaximum",
    "topic_alias": "TopicAlias",
    "maximum_qos": "MaximumQoS",
    "retain_available": "RetainAvailable",
    "user": "UserProperty",
    "maximum_packet_size": "MaximumPacketSize",
    "wildcards_available": "WildcardSubscriptionAvailable",
    "shared_available": "SharedSubscriptionAvailable",
    "subscription_identifiers_available": "SubscriptionIdentifierAvailable",
}


def read_by_mqtt5(data: bytes) -> Any:
    """The first packet of MQTT 5 in bytes that are UTF-8 where they must be; None if it refuses them."""
    try:
        read, size = mqtt5.read(memoryview(data))
    except (ValueError, IndexError):
        return None
    return read if size == len(data) else None


def agrees(ours: Packet, theirs: Any) -> bool:
    """Whether a packet says the same by what both have; a property that is not said has a default there."""
    match ours:
        case Connect():
            said = [theirs.client_id, theirs.clean_start, theirs.keep_alive, theirs.username, theirs.password]
            will = theirs.will
            same = said == [ours.client_id, ours.clean_start, ours.keep_alive, ours.username, ours.password]
            if ours.will is None or will is None:
                return same and ours.will is will and _properties(ours.properties, theirs)
            known = [ours.will.topic, ours.will.payload, ours.will.qos, ours.will.retain]
            same = same and known == [will.topic, will.payload or b"", int(will.qos), will.retain]
            return same and _properties(ours.will.properties, will) and _properties(ours.properties, theirs)
        case Connack():
            same = (ours.session_present, ours.reason) == (theirs.session_present, int(theirs.reason_code))
        case Publish():
            said = [theirs.topic, theirs.payload, int(theirs.qos), theirs.retain, theirs.duplicate]
            same = said == [ours.topic, ours.payload, ours.qos, ours.retain, ours.dup]
            same = same and (theirs.packet_id or 0) == ours.packet_id
            same = same and tuple(theirs.subscription_ids) == ours.properties.subscription_identifiers
        case Puback() | Pubrec() | Pubrel() | Pubcomp():
            same = (ours.packet_id, ours.reason) == (theirs.packet_id, int(theirs.reason_code))
        case Subscribe():
            asked = [
                (each.pattern, each.max_qos, each.no_local, each.retain_as_published, each.retain_handling)
                for each in theirs.topic_filters
            ]
            wished = [
                (each.filter, each.qos, each.no_local, each.retain_as_published, each.retain_handling)
                for each in ours.requests
            ]
            same = (ours.packet_id, wished) == (theirs.packet_id, asked)
        case Unsubscribe():
            same = (ours.packet_id, list(ours.filters)) == (theirs.packet_id, list(theirs.patterns))
        case Suback() | Unsuback():
            same = (ours.packet_id, list(ours.reasons)) == (
                theirs.packet_id,
                [int(each) for each in theirs.reason_codes],
            )
        case Disconnect() | Auth():
            same = ours.reason == int(theirs.reason_code)
        case Pingreq() | Pingresp():
            return type(theirs).__name__ == f"{type(ours).__name__.replace('req', 'Req').replace('resp', 'Resp')}Packet"
    return same and _properties(ours.properties, theirs)


def _properties(ours: Properties, theirs: Any) -> bool:
    for name, known in _NAMES.items():
        value = getattr(ours, name)
        if value is None or value == () or not hasattr(theirs, known):
            continue
        said = getattr(theirs, known)
        if (tuple(said) if name == "user" else said) != value:
            return False
    return True


def _paho(packet: int) -> Any:
    made: Any = PahoProperties
    return made(packet or PacketTypes.WILLMESSAGE)


def packed_by_paho(properties: Properties, packet: int) -> bytes:
    """Properties as paho writes them."""
    made: Any = _paho(packet)
    for name, known in _PAHO.items():
        value = getattr(properties, name)
        if value is not None and value != ():
            setattr(made, known, list(value) if isinstance(value, tuple) else value)
    return bytes(made.pack())


def read_by_paho(data: bytes, packet: int) -> dict[str, Any]:
    """Properties as paho reads them, by our names."""
    made: Any = _paho(packet)
    made.unpack(data)
    return {name: getattr(made, known) for name, known in _PAHO.items() if hasattr(made, known)}

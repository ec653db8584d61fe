"""The packets of MQTT 3.1.1 and 5, to and from bytes; pure, without input and output.

`packets` are values (their numbers are `packet_types`), `properties` what 5 adds to them, `reasons` what answers say.
`decoder` finds packets in a stream of bytes, however it is cut; `decoder` and `encoder` know the form of
each packet, made of `fields`, `property_bytes` and `topics`. `many` encodes one message for many recipients.

>>> decoder = Decoder()
>>> list(decoder.feed(encode(Connect("roof")) + encode(Publish("home/roof", b"21.5", qos=1, packet_id=1))))[1].topic
'home/roof'
"""

from likewise.server.mqtt.codec.decoder import Decoder
from likewise.server.mqtt.codec.encoder import SharedPublish, encode
from likewise.server.mqtt.codec.fields import LARGEST_PACKET, truncate_text
from likewise.server.mqtt.codec.packets import (
    MQTT_3_1_1,
    MQTT_5,
    Acknowledgement,
    Auth,
    Connack,
    Connect,
    Disconnect,
    FilterRequest,
    Packet,
    Pingreq,
    Pingresp,
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
)
from likewise.server.mqtt.codec.properties import NO_PROPERTIES, Properties
from likewise.server.mqtt.codec.reasons import FAILED, Reason, reason_of_return_code, return_code

__all__ = [
    "FAILED",
    "LARGEST_PACKET",
    "MQTT_3_1_1",
    "MQTT_5",
    "NO_PROPERTIES",
    "Acknowledgement",
    "Auth",
    "Connack",
    "Connect",
    "Decoder",
    "Disconnect",
    "FilterRequest",
    "Packet",
    "Pingreq",
    "Pingresp",
    "Properties",
    "Puback",
    "Pubcomp",
    "Publish",
    "Pubrec",
    "Pubrel",
    "Reason",
    "SharedPublish",
    "Suback",
    "Subscribe",
    "Unsuback",
    "Unsubscribe",
    "Will",
    "encode",
    "reason_of_return_code",
    "return_code",
    "truncate_text",
]

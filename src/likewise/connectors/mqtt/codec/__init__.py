"""The packets of MQTT 3.1.1 and 5, to and from bytes; pure, without input and output.

`packets` are values (their numbers are `kinds`), `properties` what 5 adds to them, `reasons` what answers say.
`decoder` finds packets in a stream of bytes, however it is cut; `reading` and `writing` know each packet's form, made
of `fields`, `property_bytes` and `topics`. `many` encodes one message for many recipients.

>>> decoder = Decoder()
>>> list(decoder.feed(encode(Connect("roof")) + encode(Publish("home/roof", b"21.5", qos=1, packet_id=1))))[1].topic
'home/roof'
"""

from likewise.connectors.mqtt.codec.decoder import Decoder
from likewise.connectors.mqtt.codec.fields import LARGEST_PACKET, fitting
from likewise.connectors.mqtt.codec.many import PublishForMany
from likewise.connectors.mqtt.codec.packets import (
    MQTT_3_1_1,
    MQTT_5,
    Auth,
    Connack,
    Connect,
    Disconnect,
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
    Wish,
)
from likewise.connectors.mqtt.codec.properties import NO_PROPERTIES, Properties
from likewise.connectors.mqtt.codec.reasons import FAILED, Reason, reason_of_return_code, return_code
from likewise.connectors.mqtt.codec.writing import encode

__all__ = [
    "FAILED", "LARGEST_PACKET", "MQTT_3_1_1", "MQTT_5", "NO_PROPERTIES", "Auth", "Connack", "Connect", "Decoder",
    "Disconnect", "Packet", "Pingreq", "Pingresp", "Properties", "Puback", "Pubcomp", "Publish", "PublishForMany",
    "Pubrec", "Pubrel", "Reason", "Suback", "Subscribe", "Unsuback", "Unsubscribe", "Will", "Wish", "encode",
    "fitting", "reason_of_return_code", "return_code",
]  # fmt: skip

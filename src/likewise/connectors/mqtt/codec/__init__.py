"""The packets of MQTT 3.1.1 and 5, to and from bytes; pure, without input and output.

`packets` are values, `properties` what 5 adds to them, `reasons` what answers say.
"""

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

__all__ = [
    "FAILED", "MQTT_3_1_1", "MQTT_5", "NO_PROPERTIES", "Auth", "Connack", "Connect", "Disconnect", "Packet", "Pingreq",
    "Pingresp", "Properties", "Puback", "Pubcomp", "Publish", "Pubrec", "Pubrel", "Reason", "Suback", "Subscribe",
    "Unsuback", "Unsubscribe", "Will", "Wish", "reason_of_return_code", "return_code",
]  # fmt: skip

"""The names that sources of MQTT had before they were named by prefix: the topic's last level that a map names.

Up to version 8 of the store a source was the level that the map calls `device`, or the whole topic. Stores, tokens and
edges of that time use these names; nothing else does.
"""

from __future__ import annotations

from typing import Final

from likewise.defaults import MAX_TERM_LENGTH
from likewise.server.mqtt.topic_maps import ResolvedTopic, Rule, TopicMap

_BEFORE: Final = TopicMap(
    Rule(topic)
    for topic in (
        "application/+/device/{device}/event/+",
        "shellies/{device}/#",
        "{device}/events/rpc",
        "{device}/status/+",
        "tele/{device}/+",
        "stat/{device}/+",
        "v3/+/devices/{device}/+",
        "zigbee2mqtt/{device}/availability",
        "zigbee2mqtt/{device}",
        "zigbee2mqtt/+/{device}",
    )
)


def former_names(topic: str, resolved: ResolvedTopic) -> set[str]:
    """Return the names that the source of a topic may have had, by the maps of before or by the user's own.

    >>> from likewise.server.mqtt.topic_maps import load_maps
    >>> topic = "zigbee2mqtt/kitchen/climate"
    >>> sorted(former_names(topic, load_maps().find(topic)))
    ['climate', 'zigbee2mqtt/kitchen/climate']
    """
    names = {topic[:MAX_TERM_LENGTH]}
    for levels in (_BEFORE.find(topic).levels, resolved.levels):
        if device := levels.get("device"):
            names.add(device.rpartition("/")[2][:MAX_TERM_LENGTH])
    return names

"""MQTT (docs/guides/mqtt.md): the listener for devices, and the bridge to the user's broker.

- `broker` is the listener; `codec` encodes and decodes packets.
- `topic_maps` gives the levels of a topic their meaning (presets in `maps`), `payloads` decodes messages into events,
  `discovery` applies what other systems announce about devices, `sparkplug` reads Sparkplug B.
- `client` is the one MQTT client; `bridge`, `publisher` and `subscriber` use it.
"""

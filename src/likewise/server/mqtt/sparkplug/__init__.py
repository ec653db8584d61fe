"""Sparkplug B over MQTT (docs/guides/mqtt.md): what nodes of plants and their devices publish becomes events.

`wire` reads the fields of Protobuf's encoding with every length checked, `payload` what Sparkplug's messages mean by
them (`sparkplug_b.proto` is the same for people), `births` remembers the names, units and types that a BIRTH
announces, `decoder` makes events of messages with it. No library is needed (docs/decisions/012-sparkplug-by-hand.md).
"""

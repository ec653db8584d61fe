"""MQTT (docs/guides/mqtt.md): topics and payloads of devices, and the bridge to a broker that exists.

`topic_maps` says what the levels of a topic mean, with presets in `maps`; `payloads` makes events of messages,
`discovery` remembers what Home Assistant's discovery says of state topics, `announced_sources` what others announce of
devices, and `sparkplug` reads what plants publish. `client` is the little that is asked of a
client library, `bridge` publishes what a broker of the user's passes on and acknowledges it when it is on disk;
`sense_request` passes on to it what sources are told.
`outgoing` is the way out, with what each acknowledgement says; `publisher` sends events and devices' messages by it.
`codec` is what MQTT's packets are in bytes; `subscriber` receives messages with it.
"""

"""The MQTT listener, for devices that connect to the broker itself over MQTT 3.1.1 and 5 (docs/guides/mqtt.md).

- `listener` opens sockets, accepts connections and connects the other parts.
- `connection` decodes and queues packets of one client; `authentication` checks its login; `send_buffers` bounds what
  it does not read.
- `publish` stores messages as events (`message_events`), `acknowledgements` acknowledges them when they are on disk.
- `subscribe` serves filters, `retained_messages` sends what is retained, `announcements` takes what sources announce.
- `sessions` outlive connections; `wills` are published when one breaks. `delivery` sends messages.
"""

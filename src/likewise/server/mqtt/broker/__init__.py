"""Devices connect to the broker itself, over MQTT 3.1.1 and 5 (docs/guides/mqtt.md).

`sockets` opens sockets and makes the `listener`, which holds everything together; `transport` is TCP and TLS. A
`connection` is whoever sends bytes, however they come; `authentication` says who is let in. `publish` stores its
messages, which `message_events` (or, many at once, `message_batches`) makes events of, and `acknowledgements`
acknowledges them when they are on disk. `subscribe` serves its filters, `client_acks` takes its acknowledgements,
`announcements` holds what devices say about themselves. `sessions` outlive connections, with the help of
`persistent_sessions`; `wills` are published when one breaks. What is sent, and to whom, is in the room `delivery`.
"""

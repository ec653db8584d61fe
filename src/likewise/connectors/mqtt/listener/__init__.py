"""Devices connect to the broker itself, over MQTT 3.1.1 and 5 (docs/guides/mqtt.md).

`serving` opens sockets and makes the `listener`, which holds everything together; `transport` is TCP and TLS. A
`connection` is whoever sends bytes, however they come; `connecting` says who is let in. `publishing` stores
its messages, which `reading` (or, many at once, `plain_messages`) makes events of, and `answers` acknowledges them when
they are on disk. `subscribing` serves its filters, `receiving` takes its acknowledgements, `announcing` holds what
devices say about themselves. `sessions` outlive connections, with the help of `keeping`; `wills` are published when one
breaks. What is sent, and to whom, is in the room `sending`.
"""

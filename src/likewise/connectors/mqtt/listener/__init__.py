"""Devices connect to the broker itself, over MQTT 3.1.1 and 5 (docs/guides/mqtt.md).

`serving` opens sockets and makes the `listener`, which holds everything together; `transport` is TCP and TLS. A
`connection` is whoever sends bytes, however they come; `connecting` says who is let in. `publishing` makes events of
its messages and acknowledges them when they are on disk, `subscribing` serves its filters, `receiving` takes its
acknowledgements, `announcing` holds what devices say about themselves. `sessions` outlive connections, with the help of
`keeping`; `wills` are published when one breaks. What is sent, and to whom, is in the room `sending`.
"""

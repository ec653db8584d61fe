"""What connects to the broker (docs/broker.md).

`door` says who may do what, `bodies` reads what they send, `stream` is a subscriber's stream, `loop_bridge` carries
answers from the broker's threads, `tls` looks at certificates. Rooms: `http` with WebSocket and server-sent events.
"""

"""What connects to the broker (docs/broker.md).

`gateway` says who may do what, and `ingest` publishes, whatever brought it: neither knows a protocol or a framework.
`media_types` is the registry of what may be published, `subscription_bodies` reads subscriptions. `streaming` is a
subscriber's stream, `loop_bridge` carries answers from the broker's threads, `executors` are the threads that
connectors use, `tls` looks at certificates. Rooms:
`http` with WebSocket and server-sent events, `mqtt` with topic maps and the bridge, `sinks` where
matches go out by themselves.
"""

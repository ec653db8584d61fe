"""Servers and connectors in front of the broker (docs/broker.md).

- `gateway` authenticates and limits rates, `ingest` publishes; neither depends on a protocol or a framework.
- `media_types` is the registry of payload formats; `subscription_bodies` and `announcements` decode the others.
- `streaming` pushes deliveries, `loop_bridge` carries results to the event loop, `executors` has the thread pools.
- `http` has HTTP, WebSocket and server-sent events, `mqtt` the listener and the bridge, `sinks` the targets.
"""

"""What connects to the broker: HTTP, WebSocket and server-sent events (docs/broker.md)."""

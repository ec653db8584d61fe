"""The broker: a durable log, matching that follows it, and queues that survive restarts (docs/broker.md)."""

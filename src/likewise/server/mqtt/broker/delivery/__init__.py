"""Delivery to clients: sessions, queues, and the fan-out of messages.

A `session` has what its client asked for, with filters that `topic_filters` takes apart. `outbox` sends it what waits
in its queue; `in_flight` brings to disk what is on its way; `groups` share a queue. `fan_out` sends what nobody
acknowledges. `rendering` says how messages look, `counters` say how it fares. `context` is what all of them share; its
routers find the receivers of a topic.
"""

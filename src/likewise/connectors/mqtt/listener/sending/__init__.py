"""What is sent to clients, and who gets it.

A `session` has what its client asked for, with filters that `names` takes apart. `outbox` sends it what waits in its
queue; `in_flight` brings to disk what is on its way; `groups` share a queue. `fan_out` sends what nobody acknowledges,
found by `live_topics`. `rendering` says how messages look, `counters` say how it fares, `home` what all of them share.
"""

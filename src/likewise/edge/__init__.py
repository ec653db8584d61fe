"""A broker at the edge: what makes a broker in profile `small` one that dials another (docs/guides/edge.md).

`demand` is what the broker above asks for, looked up in a `filter_index`, and `vocabulary_sync` what it has to be told
so that it can; `local_evaluation` decides relaxed subscriptions by scores that it sent, and `decision_log` says so in
the log; `outbox` follows the log and keeps what goes up, within `bounds`; `upstream_subscriptions` are the
subscriptions of local subscribers as they are told above; `delivery_receiver` stores what comes down; `connection` is
one connection, `uplink` the whole of it, and `app` puts it beside a broker; `memory_tuning` keeps it small.
"""

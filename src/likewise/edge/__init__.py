"""A broker at the edge: what makes a broker in profile `small` one that dials another (docs/guides/edge.md).

`demand` is what the broker above asks for, looked up in a `filter_index`, and `words` what it has to be told so that it
can; `deciding` decides relaxed subscriptions by scores that it sent, and `decisions` says so in the log; `outbox`
follows the log and keeps what goes up, within `bounds`; `own` are the subscriptions of local subscribers as they are
told above; `receiving` stores what comes down; `line` is one connection, `uplink` the whole of it, and `running` puts
it beside a broker; `sparing` keeps it small.
"""

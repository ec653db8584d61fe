"""The edge broker: a broker in profile `small` that connects to a hub (docs/guides/edge.md).

- `uplink` keeps the connection to the hub; `app` attaches it to a broker.
- `outbox` follows the log and stores what goes up, within `bounds`. `demand` is what the hub needs,
  and evaluates relaxed subscriptions locally by scores that the hub sent.
- `upstream_subscriptions` tracks which subscriptions the hub knows; the `uplink` stores the deliveries that it sends.
- `memory_tuning` keeps the process small.
"""

"""The tables of edges: `connections` at the hub, `outbox` and `uplink` at the edge, `hops` at
both.

The hub writes how far an edge's events have come in the commit of these events, and an edge writes how far the hub's
deliveries have come in theirs; so what is sent again after a break is known, and skipped.
"""

"""Matching in processes of its own: who holds which subscriptions, what they are asked, and how they come and go.

`messages` is what crosses a socket, `shard` what a share of a tenant's subscriptions answers, wherever it stands;
`processes` is what holds shares elsewhere, `pool` all of them, with a `standby` one; `sharded_matcher` is a tenant's
matcher whose subscriptions stand in shares. `scaling_policy` decides when there are too few or too many of them,
`migration` splits and merges, `hierarchy` puts them behind proxies. `warm_up` and `drain` do a little at a time what
events would wait for.
"""

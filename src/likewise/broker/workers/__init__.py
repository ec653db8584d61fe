"""Matching in processes of its own: who holds which subscriptions, what they are asked, and how they come and go.

`messages` is what crosses a socket, `share` what a share of a tenant's subscriptions answers, wherever it stands;
`serving` is the process that holds shares, `process` the coordinator's end of one, `crew` all of them; `spread` is a
tenant's matcher whose subscriptions stand in shares. `elastic` decides when there are too few or too many of them,
`moving` splits and merges, `hierarchy` puts them behind proxies.
"""

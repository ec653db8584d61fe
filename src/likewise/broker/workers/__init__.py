"""Matching in processes of its own: who holds which subscriptions, what they are asked, and how they come and go.

`messages` is what crosses a socket, `share` what a share of a tenant's subscriptions answers, wherever it stands;
`processes` is what holds shares elsewhere, `crew` all of them, with a `spare` one; `spread` is a tenant's matcher whose
subscriptions stand in shares. `elastic` decides when there are too few or too many of them, `moving` splits and merges,
`hierarchy` puts them behind proxies. `furnishing` and `leaving` do a little at a time what events would wait for.
"""

"""Edges as the broker above serves them.

`identities` says what their subscribers and subscriptions are called here; `demands` keeps what each is asked for;
`ingest` stores what they send; `connections` knows who is connected, and what each last said; `pages` is what they are
given.
"""

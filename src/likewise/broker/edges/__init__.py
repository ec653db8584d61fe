"""Brokers at the edge as the broker above serves them.

`names` says what their subscribers and subscriptions are called here; `demands` keeps what each is asked for;
`taking` stores what they send; `lines` knows who is connected, and what each last said; `pages` is what they are given.
"""

"""Tenants: a `tenant` with its subscribers' `queues`, subscriptions, `sink_queues`, `quotas`, and its
`rate_limit`.

Its matchers know subscriptions and events by their numbers in the log (`numbered_matcher`).
"""

"""A `tenant` with its subscribers' `queues`, its subscriptions, and the `rates` it may publish at.

Its matchers know subscriptions and events by their numbers in the log (`numbered_matcher`).
"""

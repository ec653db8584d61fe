"""Alerts as values: the alert clauses of a subscription, notifications, and the state of a key."""

"""Explanations: the `dialog` of a delivery, an event against all subscriptions, and the evidence behind a score."""

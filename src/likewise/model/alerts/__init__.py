"""Alerts as values: the clauses that make a subscription one, and what it says."""

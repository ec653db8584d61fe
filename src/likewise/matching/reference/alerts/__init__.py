"""Semantics of alerts as pure functions: transitions, the state of one key, a digest, outages of sources."""

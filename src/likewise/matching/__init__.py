"""Matching: one file an engine, and `naive`, the oracle of them all."""

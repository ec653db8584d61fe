"""Evaluation: what measures and engines achieve on published data."""

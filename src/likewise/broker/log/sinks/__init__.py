"""Targets on disk: `rows` keeps where a subscription's matches go, and up to where they were accepted there."""

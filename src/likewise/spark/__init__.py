"""Likewise for who writes PySpark: `match` finds in a DataFrame the events that subscriptions ask for."""

from likewise.spark.match import match, matches

__all__ = ["match", "matches"]

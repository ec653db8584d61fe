"""Targets as the broker holds them, whatever they speak: set, fed, settled, and their dead letters.

`targets` is what everything that sends goes through; `waiting` reads what waits. Who sends is above, among the
connectors.
"""

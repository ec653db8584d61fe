"""Targets as the broker holds them, whatever they speak: set, fed, settled, and their dead letters.

`targets` is what everything that sends goes through; `waiting` reads what waits; `reasons` says why an event met a
subscription (`because`). Who sends is above: the connectors' own room of targets.
"""

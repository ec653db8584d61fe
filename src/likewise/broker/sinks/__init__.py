"""Targets as the broker holds them, whatever they speak: set, fed, settled, and their dead letters.

`registry` is what everything that sends goes through; `retry_queue` reads what waits. Who sends is above, among the
server.
"""

"""Targets of any protocol as the broker holds them: settings, pending matches, cursors and dead letters.

`registry` is what everything that sends goes through; `retry_queue` reads what waits. Who sends is above, among the
server.
"""

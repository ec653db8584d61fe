"""Lateness: an event that came too long after its own time does not count in windows and alerts.

Stream processors call the bound a watermark. Here it is the time that matching has reached, less `lateness`.
"""

from __future__ import annotations


def is_late(time: int | None, now: int, lateness: int) -> bool:
    """Return whether an event is late; one without a time of its own never is.

    Args:
        time: The event's own time, in µs.
        now: Time that matching has reached, or the arrival of the event.
        lateness: How far (µs) an event may lie behind and still count.

    >>> is_late(90, 100, 10), is_late(89, 100, 10), is_late(None, 100, 0)
    (False, True, False)
    """
    return time is not None and time < now - lateness

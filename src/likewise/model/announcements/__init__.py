"""Announcements of sources: the attributes that a source can produce. A bad one is refused with a reason.

`announcement_event` makes the event of it, so that one can subscribe to announcements by meaning.
"""

"""What a source says that it can produce, before it does: `announcement` is the value, refused with words if it is bad.

`announcement_event` makes the event of it, so that one can subscribe to announcements by meaning.
"""

"""The store read backwards: `reading` finds events by source and time, counts them, and finds what they led to."""

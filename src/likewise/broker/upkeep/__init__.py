"""What keeps a broker going: `recovery` at the start, `housekeeping` in between, `saved_windows`, `sweeping` of what
is over.
"""

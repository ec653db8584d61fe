"""What keeps a broker going: `recovery` at the start, `housekeeping` in between, whose `chores` are tried again if they
fail, `saved_windows`, `sweeping` of what is over, `copies` in case the machine is lost.
"""

"""What keeps a broker going: `recovery` at the start, `housekeeping` in between, whose `scheduler` are tried again if
they fail, `window_snapshots`, `retention` of what is over, `backups` in case the machine is lost.
"""

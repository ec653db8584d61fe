"""Maintenance: `recovery` at the start, `housekeeping` in between, whose tasks in `scheduler` are retried if
they fail, `window_snapshots`, `retention` of what is over, `backups` in case the machine is lost.
"""

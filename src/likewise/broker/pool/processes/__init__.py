"""A worker as a process: `serving` is what runs in it, `process` the coordinator's end of it.

`watchdog` sees whether one that owes an answer is still at it, `folders` says where sockets and saved shares are.
"""

"""The command line: one module a command, each loaded when it is called.

`main` lists the commands. Rooms: `terminal` (what commands share), `evaluate` (`likewise eval`) and `demo`.
"""

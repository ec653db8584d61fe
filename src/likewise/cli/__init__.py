"""The command line: one module a command, each loaded when it is called.

`main` lists the commands; those of another distribution are found by entry points (`likewise.commands`). Rooms:
`terminal` (what commands share), and `demo`.
"""

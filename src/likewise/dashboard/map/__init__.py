"""A map of where events come from, drawn without any other server; tiles below it only from an address one configures.

`rendering` finds where an event says it is, `projection` brings places to the plane, `rendering` makes the picture,
`panel` shows it.
"""

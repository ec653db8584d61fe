"""A map of where events come from, drawn without any other server; tiles below it only from an address one configures.

`panel` reads the position of each source from its newest event, projects it to the plane and draws the picture.
"""

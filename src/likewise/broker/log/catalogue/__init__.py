"""The tables of the catalogue.

`records` stores announcements, corrections, pins and routes; `naming` how sources are named.
"""

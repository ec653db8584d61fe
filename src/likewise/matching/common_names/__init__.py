"""Readings under common names and in common units: the translator of every device's words (docs/guides/normalize.md).

`table` is the file of common names that people edit; `normaliser` gives each reading of an event its common name, value
and unit, or says why it is not certain.
"""

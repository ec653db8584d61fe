"""Vocabularies that others wrote, read as concepts: SKOS and OWL (`ontologies`), SSSOM (`mappings`), and the public
ones that ship with the inventory (`brick`, `qudt`, `column_aliases`). `names` keeps what they call
things, to compare words by.
"""

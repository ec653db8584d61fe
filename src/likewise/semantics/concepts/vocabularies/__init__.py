"""Public vocabularies read as concepts: SKOS and OWL (`ontologies`), SSSOM (`mappings`), Brick, QUDT and lists of
names.
"""

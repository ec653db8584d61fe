"""Statements about RDF events, by WordNet and explicit semantic analysis: the `engine`.

`statements` choose among ways of comparing.
"""

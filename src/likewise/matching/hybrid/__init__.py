"""Statements about RDF events, by WordNet and explicit semantic analysis: the `engine`."""

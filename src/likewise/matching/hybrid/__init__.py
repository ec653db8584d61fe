"""Statements about RDF events (`statements`), by WordNet and explicit semantic analysis."""

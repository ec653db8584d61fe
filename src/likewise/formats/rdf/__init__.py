"""RDF: the `reader` makes events, `terms` are canonical text, `safety` protects the parser."""

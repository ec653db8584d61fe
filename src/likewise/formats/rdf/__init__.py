"""RDF: the `reader` makes events, `terms` are compared as canonical text, `safety` keeps a parser from harm."""

"""The hybrid matcher's `experiment` on RDF events (`dated_events`, `freebase`), and its `plot`."""

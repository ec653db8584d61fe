"""Read RDF files into events on Spark: the whole of `likewise ingest`."""

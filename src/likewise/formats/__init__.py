"""Formats that last: JSON, the Arrow EventBatch, CloudEvents, SenML and RDF (docs/formats.md).

`likewise.formats.json` has everything of the model as JSON; `batch` the columnar form shared with
Spark and between processes; `cloudevents`, `senml` and `rdf` turn what others publish into events.
"""

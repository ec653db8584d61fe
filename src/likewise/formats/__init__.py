"""Published formats: JSON, the Arrow EventBatch, CloudEvents, SenML and RDF (docs/formats.md).

`json` has everything of the model as JSON, read by `strict_json`, with its `version`; `arrow` is the columnar form
shared with Spark and between processes; `cloudevents`, `senml` and `rdf` turn what others publish into events, with
`payload` for what they carry.
"""

"""Forms of payloads beside plain JSON: what a message's bytes are, and how they become events.

`deserialiser` says which and finds the reader; `documents` reads CloudEvents, SenML and RDF; `avro` and `protobuf` read
what a schema describes, from a file or from a schema `registry` by the number in front of each message. Whatever was
read is an object, or an `Event`, and goes the way that JSON goes.
"""

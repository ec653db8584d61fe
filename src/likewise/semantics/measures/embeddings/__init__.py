"""Embeddings of a model that the user supplies: the `measure` and the `encoders`."""

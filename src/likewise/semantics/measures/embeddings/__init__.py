"""Embeddings of a model that the user supplies: the `measure` and its encoders."""

"""Vectors of a model the user supplies: the `measure`, its `encoders`, and `bert` in NumPy."""

"""Attribute names compared word by word: the `measure`, its `parser` and its vocabulary (`quantities`)."""

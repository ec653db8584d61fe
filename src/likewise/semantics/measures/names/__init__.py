"""Names of readings compared word by word: the `measure`, its `parser`, and the `quantities` engineers know."""

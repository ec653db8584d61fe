"""Names of readings compared word by word: the `measure`, its `parser`, the
`arrays` its `kernels` take for each side, and the `quantities` engineers know."""

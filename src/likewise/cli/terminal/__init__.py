"""What commands share: `options`, `output` with exit codes, `reading` of files, `rendering` for people.

`matchers` makes the matcher that options describe, `lazy` loads a command when it is called.
"""

"""What commands share: `options`, `output` with exit codes, `reading` of files, `rendering` for people.

`contexts` are brokers by name, `patience` what is said while one does not answer, `event_lines` the events of a file;
`compiling` readies the kernels before a broker listens, `lazy` loads a command when it is called.
"""

"""What commands share: `options`, `output` with exit codes, `reading` of files, `rendering` for people.

`contexts` are brokers by name, `reconnect_notice` what is said while one does not answer, `event_input` the events of a
file, by line or as RDF; `compiling` readies the kernels before a broker listens and says why a first match takes long,
`lazy` loads a command when it is called.
"""

"""What commands share: `options`, `output` with exit codes, `reading` of files, `rendering` for people.

`contexts` are brokers by name, `patience` what is said while one does not answer, `given_events` the events of a file,
by line or as RDF; `compiling` readies the kernels before a broker listens and says why a first match takes long, `lazy`
loads a command when it is called.
"""

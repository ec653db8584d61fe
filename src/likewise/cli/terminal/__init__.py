"""Shared by the commands: options, input, output, and what runs beside a command.

`options` declares options once, `contexts` has brokers by name. `text_input` and `event_input` read events and
subscriptions. `output` has exit codes and JSON, `rendering` text for people, `reconnect_notice` the notice while a
broker does not answer. `compiling` compiles kernels before a broker listens, `broker_process` has its signals and
garbage collection, `lazy` loads a command when it is called.
"""

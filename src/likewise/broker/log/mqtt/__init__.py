"""The tables of MQTT: messages, retained messages, sessions, and packets in flight.

`messages` keeps what a device published beside its event, `retained` which message of a topic newcomers get, `received`
the packet ids of QoS 2 that are not released, `topics` who subscribed to which topics with an acknowledgement,
`sessions` what outlives a connection, `in_flight` the packets that nobody has acknowledged yet.
"""

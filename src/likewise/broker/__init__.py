"""The broker: a durable log, matching that follows it, and queues that survive restarts (docs/broker.md).

`broker` is the door: publish, subscribe, deliver, acknowledge. `config` is what an operator chooses, `admin` what looks
after a store, `locks` who waits for whom, `clock` what time it is, `retention_policy` by what time stored things are
over. The rooms: `log` (the log and its tables), `tenants` (who is there and what they hold), `dispatch` (from an entry
of the log to a delivery on disk), `maintenance` (recovery, saved windows, forgetting), `queries` (questions that change
nothing), `sinks` (where matches go out by themselves) and `telemetry` (metrics, logs, the trace of an event).
"""

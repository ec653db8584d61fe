"""The broker: a durable log, matching that follows it, and queues that survive restarts (docs/broker.md).

`broker` is the door: publish, subscribe, deliver, acknowledge. `config` is what an operator chooses, `admin` what
looks after a store, `locks` who waits for whom, `timekeeper` what time it is, `retention` by what time stored things
are over. The rooms: `store` (the log and its tables), `tenants` (who is there and what they hold), `delivering` (from
an entry of the log to a delivery on disk), `upkeep` (recovery, saved windows, forgetting), `asking` (questions that
change nothing), `targets` (where matches go out by themselves) and `reporting` (metrics, logs, the trace of an event).
"""

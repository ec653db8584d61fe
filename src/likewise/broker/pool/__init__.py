"""The worker pool: matching in several processes, which split, merge and fail over.

A tenant's subscriptions are divided into shards (`shard`). `sharded_matcher` sends operations to them and merges the
replies; `batch_job` does so for a batch of events. `process` is the coordinator's end of a worker process, `worker` and
`shard_server` run inside it, and both speak `protocol`. `pool` knows which shard is on which worker, `failover`
restarts dead workers, `standby` keeps one warmed up. `autoscaling` decides about splits and merges, `topology` and
`migration` carry them out.
"""

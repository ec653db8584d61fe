"""Alerts: what lasts, is silent, is said once, seldom, or all together.

`engine` finds through `condition_index` which alerts an event moves, `alert_registry` and `alert_groups` hold them and
who follows which key, `key_state` is what is known of one key, `pending_digest` what only waits in a digest. `silence`
knows whose silence counts, `engine` takes events back, `saved_state` writes everything to disk. It equals
`plain.alerts`, told by `naive.alerts`.
"""

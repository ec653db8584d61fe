"""Alerts: what lasts, is silent, is said once, seldom, or all together.

`engine` finds through `condition_index` which alerts an event moves, `held_alerts` and `members` hold them and who
follows which key, `key_state` is what is known of one key, `unsaid` what only waits in a digest. `silence` knows whose
silence counts, `withdrawing` takes events back, `saved` writes everything to disk. It equals `plain.alerts`, told by
`naive.alerts`.
"""

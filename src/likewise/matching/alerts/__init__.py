"""Alerts: what lasts, is silent, is said once, seldom, or all together.

`engine` finds through `condition_index` which alerts an event moves, `members` holds them and who follows which key,
`key_state` is what is known of one key, `saved` writes it to disk. It equals `plain.alerts`, told by `naive.alerts`.
"""

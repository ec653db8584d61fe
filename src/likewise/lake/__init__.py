"""What streams read and leave behind, for whoever streams: the pipeline on Spark and, beside it, a broker.

`change_log` is the log of changes to subscriptions, with versions and numbers that are never used twice; `held_set` is
what it holds at one version. Files appear whole or not at all, and one of several writers makes each (`once`).
"""

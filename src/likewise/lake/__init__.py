"""The lake and the change log that streams read and write, on Spark or in the broker.

`change_log` is the log of changes to subscriptions, with versions and numbers that are never used twice;
`subscription_snapshot` is what it holds at one version. The lake itself is five tables, `matches`, `events`,
`view`, `said` and `subscriptions`, in Parquet `parts` that count once they are committed: by a file of
`plain_commits` or by the log of Delta Lake (`delta_commits`). `maintenance` puts small parts together and takes old
days out. Files appear whole or not at all, one of several writers makes each (`atomic_create`), and each says the
version of its format (`versioned`). All of it lies in a folder or in an object store (`storage`). `view` turns the
tuples of events into columns, `view` what `select` names.
"""

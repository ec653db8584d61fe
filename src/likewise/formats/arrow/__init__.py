"""`EventBatch`, the batch format shared with Spark and between processes: `event_batch`, `schema`, `columns`,
`decoder`.
"""

"""`likewise demo`: `scripted` with its `scenes`, and the `city` with a broker and the dashboard."""

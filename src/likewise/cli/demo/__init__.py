"""`likewise demo`: the `scripted` scenes, and the `city` with a broker and the dashboard."""
